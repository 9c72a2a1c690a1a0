import Base
import Configuration
import JSON
import PageServer
import Shell
import System
import TestSupport
import Testing

@testable import Tools

/// "Add a gateway" on the pages: the command, and what its files would hold.
@Suite struct CardOfferTests {
    private let directory: TemporaryDirectory
    private static let secrets = ["login-secret", "site-secret", "own-secret", "wifi-secret", "api-secret"]
    private static let key =
        "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDMEabc=\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----\n"

    init() throws { directory = try TemporaryDirectory() }

    private func configuration(_ members: String) throws -> Configuration {
        try directory.write("{\(members)}", to: "config.json")
        return try Settings(readingFrom: directory.file("config.json"), stateDirectory: directory.file("state"))
            .configuration
    }

    private func answer(_ members: String, _ arguments: [String: String] = ["room": "Kitchen"]) throws -> PageAnswer {
        CardOffer.answer(
            try configuration(members), PageRequest(path: "/gateway.json") { arguments[$0] })
    }

    private func json(_ answer: PageAnswer) throws -> JSONValue {
        guard case .json(let json) = answer else { throw Failure(.software, "\(answer)") }
        return json
    }

    private func command(_ members: String, _ arguments: [String: String] = ["room": "Kitchen"]) throws -> String {
        try #require(try json(answer(members, arguments))["command"]?.string)
    }

    @Test func `Nothing secret is in the answer, although the service has it`() throws {
        try directory.write("login-secret\n", to: "login")
        try directory.write("CA\n", to: "ca.pem")
        let answer = try answer(
            """
            host: "broker.lan", port: 8883, tls: true, caFile: "ca.pem", username: "rooms", passwordFile: "login",
            encryptionKey: "own-secret", rooms: {site: "shop", encryptionKey: "site-secret"}
            """, ["room": "Kitchen", "wifi": "Home", "country": "DE"])
        let text = try json(answer).text
        #expect(!Self.secrets.contains { text.contains($0) })
        #expect(text.contains("(the password that you are asked for)") && text.contains("(the first line of site-key)"))
        #expect(text.contains("(the content of ca.crt)"))
        #expect(!text.contains("rooms\\\"") && text.contains("--username kitchen"))
    }

    static let commands: [(members: String, arguments: [String: String], command: String)] = [
        ("host: \"broker.lan\"", [:], "--site home --host broker.lan"),
        ("host: \"broker.lan\", rooms: {site: \"shop\"}", [:], "--site shop --host broker.lan"),
        ("host: \"broker.lan\", rooms: null", [:], "--host broker.lan"),
        ("host: \"broker.lan\", port: 1884", [:], "--site home --host broker.lan --port 1884"),
        ("host: \"broker.lan\", port: 8883, tls: true", [:], "--site home --host mqtts://broker.lan"),
        ("host: \"broker.lan\", port: 8884, tls: true", [:], "--site home --host mqtts://broker.lan --port 8884"),
        (
            "host: \"broker.lan\", port: 8883, tls: true, caFile: \"ca\"", [:],
            "--site home --ca-file ca.crt --host broker.lan"
        ),
        (
            "host: \"broker.lan\", username: \"jane\", password: \"login-secret\"", [:],
            "--site home --host broker.lan --username kitchen"
        ),
        (
            "host: \"broker.lan\", rooms: {encryptionKey: \"site-secret\"}", [:],
            "--site home --host broker.lan --site-key-file site-key"
        ),
        ("host: \"broker.lan\"", ["host": "192.0.2.7:1885"], "--site home --host 192.0.2.7:1885"),
        ("host: [\"localhost\", \"broker.lan\"]", [:], "--site home --host broker.lan"),
        ("host: \"localhost\"", ["here": "pi.lan"], "--site home --host pi.lan"),
        ("host: \"broker.lan\"", ["here": "pi.lan"], "--site home --host broker.lan"),
        (
            "host: \"broker.lan\"", ["wifi": "Jane's net", "country": "DE"],
            "--site home --host broker.lan --wifi 'Jane'\\''s net' --country DE"
        ),
        ("host: \"broker.lan\"", ["name": "k1"], "--name k1 --site home --host broker.lan"),
    ]

    @Test(arguments: commands) func `The command has what the service knows, and asks for what is secret`(
        row: (members: String, arguments: [String: String], command: String)
    ) throws {
        try directory.write("CA\n", to: "ca")
        let said = try command(row.members, row.arguments.merging(["room": "Kitchen"]) { given, _ in given })
        let folder = row.arguments["name"] ?? "kitchen"
        #expect(
            said
                == "ibeacon-gateway card --room Kitchen \(row.command) --archive URL --archive-key archive.asc \(folder)"
        )
    }

    @Test func `A name is one word for the shell, whatever is in it`() throws {
        let said = try command("host: \"broker.lan\"", ["room": "Jane's $(room); x"])
        #expect(said.hasPrefix("ibeacon-gateway card --room 'Jane'\\''s $(room); x' --site"))
    }

    static let refused: [(members: String, arguments: [String: String], words: String)] = [
        ("host: \"localhost\"", [:], "the broker is on this machine"),
        ("host: \"broker.lan\"", ["host": "ws://broker.lan"], "WebSockets"),
        ("mode: 3, url: \"https://example.org/pub\"", [:], "no MQTT broker"), ("port: 0", [:], "no MQTT broker"),
        ("host: \"broker.lan\"", ["name": "a/b"], "cannot be the name of a gateway"),
        ("host: \"broker.lan\"", ["wifi": "Home"], "--country"),
    ]

    @Test(arguments: refused) func `Where there is no such card, the reason is said`(
        row: (members: String, arguments: [String: String], words: String)
    ) throws {
        let answer = try answer(row.members, row.arguments.merging(["room": "Kitchen"]) { given, _ in given })
        guard case .refused(422, let reason) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(reason.contains(row.words), "\(reason)")
    }

    @Test func `Without a room nothing is made`() throws {
        #expect(
            try answer("host: \"broker.lan\"", ["room": " "])
                == .refused(status: 400, "say which room: /gateway.json?room=ROOM"))
    }

    /// The files that the page shows, with what the person has in the places of the secrets.
    private func shown(_ json: JSONValue) throws -> [String: String] {
        let pairs = try (json["files"]?.array ?? []).map { file in
            (try #require(file["name"]?.string), try #require(file["text"]?.string))
        }
        return Dictionary(pairs) { first, _ in first }
    }

    @Test func `What is shown is what the command writes, but for the secrets`() throws {
        try directory.write("CA\n", to: "ca.crt")
        try directory.write("site-secret\n", to: "site-key")
        try directory.write("login-secret\n", to: "login")
        try directory.write("wifi-secret\n", to: "wifi")
        try directory.write(Self.key, to: "archive.asc")
        let json = try json(
            answer(
                """
                host: "broker.lan", port: 8884, tls: true, caFile: "ca.crt", username: "jane", password: "login-secret",
                rooms: {site: "shop", encryptionKey: "site-secret"}
                """, ["room": "Kitchen", "wifi": "Home", "country": "DE"]))
        let text = try #require(json["command"]?.string)
        var words = text.split(separator: " ").map(String.init).dropFirst(2).dropLast().map { word in
            ["ca.crt", "site-key", "archive.asc"].contains(word) ? directory.file(word) : word
        }
        words = words.map { $0 == "URL" ? "https://apt.example" : $0 }
        words += ["--password-file", directory.file("login"), "--wifi-password-file", directory.file("wifi"), "DIR"]
        let arguments = try ArgumentReader.read(words, for: CardCommand.specification, after: Arguments())
        let template = try CardTemplate(arguments, now: 1_700_000_000)
        let entry = CardTemplate.Entry(room: "Kitchen", login: ("kitchen", Secret("login-secret")))
        let written = try template.card(for: entry).contents
        let pages = try shown(json)
        #expect(Set(pages.keys) == Set(written.map(\.name)))
        for (name, file) in written {
            var page = try #require(pages[name])
            let secret = name == "network-config" ? "wifi-secret" : "login-secret"
            for (place, text) in [
                ("(the password that you are asked for)", secret), ("(the first line of site-key)", "site-secret"),
                ("(the content of ca.crt)", "CA"), ("URIs: URL\n", "URIs: https://apt.example\n"),
                ("       (the key in archive.asc)\n", Self.armour), ("(the time)", "1700000000"),
            ] { page = page.replacing(place, with: text) }
            #expect(page == file.revealed, "\(name)")
        }
    }

    /// The key as it stands in the `.sources` file within `user-data`.
    private static let armour = key.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
        "       \($0.isEmpty ? "." : $0)\n"
    }.joined()
}
