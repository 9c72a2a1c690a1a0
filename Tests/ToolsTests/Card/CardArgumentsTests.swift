import Base
import JSON
import System
import TestSupport
import Testing

@testable import Tools

/// What the options of `card` and `cards` become.
@Suite struct CardArgumentsTests {
    private let directory: TemporaryDirectory
    private static let key =
        "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDMEabc=\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----\n"

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write(Self.key, to: "archive.asc")
        try directory.write("the site's key\nmore\n", to: "site-key")
        try directory.write("over the air\n", to: "wifi")
        try directory.write("CA\n", to: "ca")
        try directory.write("ssh-ed25519 AAAA jane@home\n", to: "jane.pub")
        try directory.write("\n", to: "empty")
        try directory.write("{host: \"a.lan\", trackers: [{deviceId: \"a\"}]}", to: "trackers.json")
        try directory.write(
            "{host: \"a.lan\", deviceId: \"x\", room: \"Y\", adapter: \"hci1\", username: \"home\", passwordFile: \"wifi\"}",
            to: "site.json")
    }

    /// A word that begins with `@` names a file of the folder.
    private func template(_ words: [String]) throws -> CardTemplate {
        let archive = ["--archive", "https://apt.example", "--archive-key", "@archive.asc", "DIR"]
        let all = (words + archive).map { $0.hasPrefix("@") ? directory.file(String($0.dropFirst())) : $0 }
        return try CardTemplate(
            try ArgumentReader.read(all, for: CardCommand.specification, after: Arguments()), now: 7)
    }

    static let refused: [(words: [String], message: String)] = [
        ([], "--host HOST"), (["--host", "a.lan", "--port", "0"], "is not a port"),
        (["--host", "ws://a.lan"], "WebSockets"), (["--host", "a.lan", "--country", "DE"], "goes with --wifi"),
        (["--host", "a.lan", "--wifi-password-file", "@wifi"], "goes with --wifi"),
        (["--host", "a.lan", "--wifi", "Home", "--wifi-password-file", "@wifi"], "needs --country"),
        (["--host", "a.lan", "--user", "jane"], "needs --ssh-key"),
        (["--host", "a.lan", "--ssh-key", "@jane.pub"], "goes with --user"),
        (["--host", "a.lan", "--user", "root", "--ssh-key", "@jane.pub"], "not root"),
        (["--host", "a.lan", "--user", "jane", "--ssh-key", "@wifi"], "a public key"),
        (
            ["--host", "mqtt://a.lan", "--ca-file", "@ca"],
            "the address of the broker says without TLS, and --ca-file with it; write mqtts://"
        ),
        (["--host", "a.lan", "--timezone", "../etc"], "time zone"),
        (["--host", "a.lan", "--timezone", "/etc/passwd"], "time zone"),
        (["--host", "a.lan", "--site-key-file", "@empty"], "is empty"),
        (["--config", "@trackers.json"], "has trackers"),
    ]

    @Test(arguments: refused) func `What a card cannot have is refused with its name`(
        row: (words: [String], message: String)
    ) throws {
        let failure = try #require(throws: Failure.self) { _ = try template(row.words) }
        #expect(failure.message.contains(row.message), "\(failure.message)")
    }

    static let members: [(words: [String], members: JSONValue)] = [
        (["--host", "a.lan"], ["host": "a.lan", "port": 1883]),
        (["--host", "a.lan:1885"], ["host": "a.lan", "port": 1885]),
        (["--host", "a.lan", "--port", "1885"], ["host": "a.lan", "port": 1885]),
        (["--host", "mqtts://a.lan"], ["host": "a.lan", "port": 8883, "tls": true]),
        (
            ["--host", "a.lan", "--ca-file", "@ca"],
            ["host": "a.lan", "port": 8883, "tls": true, "caFile": "/etc/ibeacon-gateway/ca"]
        ),
        (
            ["--host", "a.lan", "--site", "shop", "--site-key-file", "@site-key"],
            [
                "host": "a.lan", "port": 1883,
                "rooms": ["site": "shop", "encryptionKeyFile": "/etc/ibeacon-gateway/site-key"],
            ]
        ),
        // What a machine has of its own does not come from the file of all.
        (
            ["--config", "@site.json"],
            ["host": "a.lan", "username": "home", "passwordFile": "/etc/ibeacon-gateway/password"]
        ),
    ]

    @Test(arguments: members) func `The options are members of the configuration, and their files are on the card`(
        row: (words: [String], members: JSONValue)
    ) throws {
        let template = try template(row.words)
        #expect(JSONValue.object(template.members) == row.members)
        let names = Set(template.files.map(\.name))
        #expect(names == Set(["ca", "site-key", "password"].filter { row.members.text.contains("/\($0)\"") }))
    }

    @Test func `Of a file with a secret the first line is taken`() throws {
        let template = try template(["--host", "a.lan", "--site-key-file", "@site-key"])
        #expect(template.files.map(\.text) == [Secret("the site's key\n")])
    }

    @Test func `The machine has the time zone that is named`() throws {
        let card = try template(["--host", "a.lan", "--timezone", "Europe/Berlin"]).card(
            for: CardTemplate.Entry(room: "Hall"))
        let text = try #require(card.contents.first { $0.name == "user-data" }).text.revealed
        #expect(text.contains("\ntimezone: \"Europe/Berlin\"\n"))
    }

    @Test func `No option takes a secret, only files that hold one`() {
        for options in [CardCommand.specification.options, CardsCommand.specification.options] {
            for option in options where option.name.contains("password") || option.name.contains("key") {
                #expect(option.argument == "FILE", "--\(option.name)")
            }
        }
    }

    @Test func `A card opens nothing to the network: no page, no proxy, and no service besides its own`() throws {
        let card = try template(["--host", "a.lan", "--site", "shop"]).card(for: CardTemplate.Entry(room: "Hall"))
        let settings = try #require(card.files.first { $0.name == "config.json" }).text.revealed
        for member in ["http", "listen", "bluetoothProxy", "remoteConfiguration"] {
            #expect(!settings.contains(member))
        }
        let text = try #require(card.contents.first { $0.name == "user-data" }).text.revealed
        let started = text.split(separator: "\n").filter { $0.contains("\"enable\"") }
        #expect(started == ["  - [\"systemctl\", \"--no-block\", \"enable\", \"--now\", \"\(FirstBoot.unit)\"]"])
    }
}
