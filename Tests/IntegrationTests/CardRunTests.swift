import Glibc
import TestSupport
import Testing

/// `card` and `cards`, as a person calls them.
@Suite struct CardRunTests {
    private let directory: TemporaryDirectory
    private static let key =
        "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDMEabc=\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----\n"
    private static let secrets = ["login-secret", "site-secret", "wifi-secret"]

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write(Self.key, to: "archive.asc")
        try directory.write("login-secret\n", to: "login")
        try directory.write("site-secret\n", to: "site-key")
        try directory.write("wifi-secret\n", to: "wifi")
        let members = "host: \"broker.lan\", rooms: {site: \"home\", encryptionKeyFile: \"site-key\"}"
        try directory.write("{\(members)}", to: "site.json")
    }

    private var archive: [String] {
        ["--archive", "https://apt.example", "--archive-key", directory.file("archive.asc")]
    }

    private func call(_ words: [String]) throws -> (code: Int32, said: String) {
        let process = try ChildProcess(try GatewayProcess.program, words, output: directory.file("said"))
        let code = process.wait()
        return (code, String(decoding: try directory.read("said"), as: UTF8.self))
    }

    private func mode(_ name: String) -> mode_t {
        var information = stat()
        return stat(directory.file(name), &information) == 0 ? information.st_mode & 0o777 : 0
    }

    private func text(_ name: String) -> String { String(decoding: (try? directory.read(name)) ?? [], as: UTF8.self) }

    private func hasSecret(_ text: String) -> Bool { Self.secrets.contains { text.contains($0) } }

    @Test func `A card is a folder that only its owner may enter, and what is said of it holds no secret`() throws {
        let wiFi = ["--wifi", "Home", "--wifi-password-file", directory.file("wifi"), "--country", "DE"]
        let words = [
            "card", "--room", "Kitchen", "--config", directory.file("site.json"), "--password-file",
            directory.file("login"),
        ]
        let (code, said) = try call(words + wiFi + archive + [directory.file("kitchen")])
        #expect(code == 0, "\(said)")
        #expect(mode("kitchen") == 0o700)
        for name in ["user-data", "meta-data", "network-config"] { #expect(mode("kitchen/\(name)") == 0o600) }
        #expect(!hasSecret(said))
        #expect(said.contains("They hold secrets") && said.contains("until the first boot has moved them"))
        #expect(said.contains("Copy them onto the boot partition") && said.contains("Delete the folder"), "\(said)")
        for secret in ["login-secret", "site-secret"] { #expect(text("kitchen/user-data").contains(secret)) }
        #expect(text("kitchen/network-config").contains("wifi-secret"))
        // Not replaced without a word.
        let again = try call(words + wiFi + archive + [directory.file("kitchen")])
        #expect(again.code == 73)
        #expect(again.said.contains("--force"))
        #expect(try call(words + archive + ["--force", directory.file("kitchen")]).code == 0)
        #expect(text("kitchen/network-config").isEmpty)
    }

    @Test func `A boot partition is written to as it is`() throws {
        try run("mkdir", [directory.file("bootfs")])
        chmod(directory.file("bootfs"), 0o755)
        try directory.write("root=/dev/mmcblk0p2\n", to: "bootfs/cmdline.txt")
        try directory.write("# template\n", to: "bootfs/network-config")
        try directory.write("# template\n", to: "bootfs/user-data")
        let words = ["card", "--room", "Kitchen", "--host", "broker.lan"] + archive + [directory.file("bootfs")]
        let (code, said) = try call(words)
        #expect(code == 0)
        #expect(said.contains("That is the boot partition of a card") && said.contains("off the card.\n"), "\(said)")
        #expect(!said.contains("Copy them") && !said.contains("Delete the folder"), "\(said)")
        #expect(text("bootfs/user-data").contains("kitchen"))
        #expect(text("bootfs/network-config") == "# template\n")
    }

    @Test func `A password that is asked for and not given makes no card`() throws {
        let person = try TerminalConversation(
            try GatewayProcess.program,
            ["card", "--room", "Hall", "--host", "b.lan", "--username", "hall"] + archive + [directory.file("hall")])
        #expect(person.answer("Password at the broker", ""), "\(person.screen)")
        #expect(person.end() == 64)
        #expect(person.shown.contains("the answer to 'Password at the broker' is empty; no card was made"))
        #expect(mode("hall") == 0)
    }

    @Test func `A folder into which others may look is refused`() throws {
        try run("mkdir", [directory.file("open")])
        chmod(directory.file("open"), 0o755)
        let (code, said) = try call(["card", "--room", "Hall", "--host", "b.lan"] + archive + [directory.file("open")])
        #expect(code == 73)
        #expect(said.contains("others may look into"))
    }

    static let refused: [(words: [String], message: String)] = [
        (["card"], "name the folder"), (["card", "DIR"], "name the room"),
        (
            ["card", "--room", "Hall", "--host", "b.lan", "DIR"],
            "no archive of this program is published yet; give one: --archive URL"
        ),
        (["card", "--room", "Hall", "--archive", "https://a.example", "DIR"], "--archive-key FILE"),
        (["cards", "rooms.csv"], "name the table and the folder"),
    ]

    @Test(arguments: refused) func `What is missing is named`(refused: (words: [String], message: String)) throws {
        let (code, said) = try call(refused.words.map { $0 == "DIR" ? directory.file("none") : $0 })
        #expect(code == 64)
        #expect(said.contains(refused.message), "\(said)")
        #expect(mode("none") == 0)
    }

    @Test func `Fifty cards are equal but for name, room and login`() throws {
        var table = "room,name,password\n"
        for number in 1...50 { table += "Room \(number),gateway-\(number),login-secret-\(number)x\n" }
        try directory.write(table, to: "rooms.csv")
        let words = [
            "cards", directory.file("rooms.csv"), directory.file("cards"), "--config", directory.file("site.json"),
        ]
        let (code, said) = try call(words + archive)
        #expect(code == 0, "\(said)")
        #expect(!hasSecret(said))
        let names = (1...50).map { "gateway-\($0)" }
        #expect(said.contains("acl --config \(directory.file("site.json")) --gateways \(names.joined(separator: ","))"))
        #expect(mode("cards") == 0o700)
        var common: Set<String> = []
        for number in 1...50 {
            let own = text("cards/gateway-\(number)/user-data")
            #expect(own.contains("login-secret-\(number)x\n"))
            #expect(own.contains("room: \"Room \(number)\""))
            // The longest first: a name may be the beginning of another.
            var rest = own.replacing("login-secret-\(number)x", with: "P")
            rest = rest.replacing("Room \(number)\"", with: "R\"").replacing("gateway-\(number)\"", with: "G\"")
            common.insert(rest)
            #expect(mode("cards/gateway-\(number)") == 0o700)
        }
        #expect(common.count == 1)
    }
}
