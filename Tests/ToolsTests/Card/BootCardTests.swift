import Base
import JSON
import System
import Testing
import YAML

@testable import Tools

/// The files of a card.
@Suite struct BootCardTests {
    private static let key =
        "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDMEabc=\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----\n"

    static func template() throws -> CardTemplate {
        let archive = try CardArchive(url: "https://apt.example/debian", key: Array(key.utf8))
        var template = CardTemplate(archive: archive, instance: "1700000000")
        template.members = ["host": "broker.lan", "rooms": ["encryptionKeyFile": "/etc/ibeacon-gateway/site-key"]]
        template.files = [BootCard.File(name: "site-key", text: Secret("the site's key\n"))]
        return template
    }

    private static let kitchen = CardTemplate.Entry(room: "Kitchen", login: ("kitchen", Secret("pass 'word'\"")))

    private func card(
        _ entry: CardTemplate.Entry = kitchen, _ change: (inout CardTemplate) throws -> Void = { _ in }
    ) throws -> BootCard {
        var template = try Self.template()
        try change(&template)
        return try template.card(for: entry)
    }

    private func text(_ name: String, of card: BootCard) throws -> String {
        try #require(card.contents.first { $0.name == name }).text.revealed
    }

    /// The files that `user-data` writes, by their paths.
    private func written(_ card: BootCard) throws -> [String: (mode: String, text: String)] {
        let root = try #require(try YAMLReader.read(Array(text("user-data", of: card).utf8)))
        let list = root.mapping?.first { $0.key == "write_files" }?.value.sequence ?? []
        return Dictionary(
            list.map { file in
                let members = Dictionary((file.mapping ?? []).map { ($0.key, $0.value.text ?? "") }) { first, _ in first
                }
                return (members["path"] ?? "", (members["permissions"] ?? "", members["content"] ?? ""))
            }
        ) { first, _ in first }
    }

    @Test func `A person is told which secrets the cards hold, and of none that they do not hold`() throws {
        let withKey = try card()
        #expect(withKey.secrets == [.login, .siteKey])
        #expect(
            CardWriter.remark(on: [withKey]).hasPrefix(
                "They hold secrets (the login at the broker, the site's key) until"))
        let wireless = try card { $0.wiFi = try CardWiFi(name: "Home", password: Secret("wifi-secret"), country: "DE") }
        #expect(CardWriter.remark(on: [withKey, wireless]).contains("the Wi-Fi's password"))
        let plain = try card(CardTemplate.Entry(room: "Hall")) { ($0.members, $0.files) = (["host": "broker.lan"], []) }
        #expect(plain.secrets.isEmpty)
        #expect(CardWriter.remark(on: [plain]).hasPrefix("They hold the configuration until"))
    }

    @Test func `The configuration, the site's key and the login are files that only their owner may read`() throws {
        let files = try written(card())
        let secrets = files.filter { $0.key.hasPrefix("/etc/ibeacon-gateway/") }
        #expect(secrets.keys.sorted() == ["config.json", "password", "site-key"].map { "/etc/ibeacon-gateway/\($0)" })
        #expect(secrets.values.allSatisfy { $0.mode == "0600" })
        #expect(files["/etc/ibeacon-gateway/password"]?.text == "pass 'word'\"\n")
        #expect(files["/etc/ibeacon-gateway/site-key"]?.text == "the site's key\n")
        let settings = try JSONValue(
            parsing: Array((files["/etc/ibeacon-gateway/config.json"]?.text ?? "").utf8), dialect: .json5)
        #expect(settings["deviceId"] == "kitchen")
        #expect(settings["room"] == "Kitchen")
        #expect(settings["username"] == "kitchen")
        #expect(settings["passwordFile"] == "/etc/ibeacon-gateway/password")
        #expect(settings["password"] == nil)
    }

    @Test func `The package comes from the signed archive and from no other`() throws {
        let sources = try written(card())["/etc/apt/sources.list.d/ibeacon-gateway.sources"]?.text
        #expect(
            sources == """
                Types: deb
                URIs: https://apt.example/debian
                Suites: trixie
                Components: main
                Signed-By:
                 -----BEGIN PGP PUBLIC KEY BLOCK-----
                 .
                 mDMEabc=
                 =abcd
                 -----END PGP PUBLIC KEY BLOCK-----

                """)
    }

    @Test func `The key is taken from a file of sources, too`() throws {
        let archive = try CardArchive(url: "https://apt.example/debian", key: Array(Self.key.utf8))
        #expect(try CardArchive(url: "https://apt.example/debian", key: Array(archive.sources.utf8)) == archive)
    }

    @Test(arguments: [
        "ftp://a.example", "https://a.example/ x", "https://jane:secret@a.example", "a.example", "https://a\n.example",
    ])
    func `What is no address of an archive is refused, and not repeated`(url: String) throws {
        let failure = try #require(throws: Failure.self) { _ = try CardArchive(url: url, key: Array(Self.key.utf8)) }
        #expect(!failure.message.contains("secret"))
    }

    @Test(arguments: ["", "no key", "-----BEGIN PGP PRIVATE KEY BLOCK-----\nx\n-----END PGP PRIVATE KEY BLOCK-----\n"])
    func `What is no public key is refused`(key: String) {
        #expect(throws: Failure.self) { try CardArchive(url: "https://a.example", key: Array(key.utf8)) }
    }

    @Test func `There is no user but the one that is asked for, who has a key and no password`() throws {
        #expect(try text("user-data", of: card()).contains("\nusers: {}\n"))
        let user = try CardUser(name: "jane", keys: Array("ssh-ed25519 AAAA jane@home\n".utf8))
        let text = try text("user-data", of: card { $0.user = user })
        #expect(text.contains("  - name: \"jane\"\n    lock_passwd: true\n"))
        #expect(text.contains("ssh_authorized_keys: [\"ssh-ed25519 AAAA jane@home\"]"))
        #expect(text.contains("[\"systemctl\", \"--no-block\", \"enable\", \"--now\", \"ssh.service\"]"))
        #expect(try !self.text("user-data", of: card()).contains("ssh.service"))
    }

    @Test func `The question for a user that Raspberry Pi OS asks at the console is answered before it is asked`()
        throws
    {
        let user = try CardUser(name: "jane", keys: Array("ssh-ed25519 AAAA jane@home\n".utf8))
        for text in [try text("user-data", of: card()), try text("user-data", of: card { $0.user = user })] {
            let root = try #require(try YAMLReader.read(Array(text.utf8)))
            let commands = root.mapping?.first { $0.key == "bootcmd" }?.value.sequence ?? []
            let words = (commands.first?.sequence ?? []).compactMap(\.text)
            #expect(Array(words.prefix(2)) == ["sh", "-c"])
            #expect(words.last?.contains("systemctl --no-block mask --now userconfig.service") == true)
        }
    }

    @Test func `What takes the place of the files after the first boot holds no secret`() throws {
        let wiFi = try CardWiFi(name: "Home", password: Secret("over the air"), country: "DE")
        let files = try written(card { $0.wiFi = wiFi })
        let place = "/usr/local/lib/ibeacon-gateway-card"
        for name in ["user-data", "network-config"] {
            let text = try #require(files["\(place)/\(name)"]?.text)
            for secret in ["pass 'word'", "the site's key", "over the air"] { #expect(!text.contains(secret)) }
        }
        #expect(files["\(place)/user-data"]?.text.hasPrefix("#cloud-config\n") == true)
    }

    @Test func `The wireless network has its country, and a cable is used, too`() throws {
        let wiFi = try CardWiFi(name: "A \"net\": #", password: Secret("over the air"), country: "DE")
        #expect(
            try text("network-config", of: card { $0.wiFi = wiFi }) == #"""
                network:
                  version: 2
                  ethernets:
                    eth0:
                      dhcp4: true
                      optional: true
                  wifis:
                    wlan0:
                      dhcp4: true
                      optional: true
                      regulatory-domain: "DE"
                      access-points:
                        "A \"net\": #":
                          password: "over the air"

                """#)
        #expect(try card().contents.map(\.name) == ["user-data", "meta-data"])
    }

    static let networks: [(name: String, password: String, country: String, words: String)] = [
        ("", "over the air", "DE", "1 to 32 bytes"),
        (String(repeating: "n", count: 33), "over the air", "DE", "1 to 32 bytes"),
        ("Home", "short", "DE", "8 to 63"), ("Home", String(repeating: "z", count: 64), "DE", "8 to 63"),
        ("Home", "over the air", "de", "capital letters"), ("Home", "over the air", "DEU", "capital letters"),
    ]

    @Test(arguments: networks) func `A network that no radio could join is refused, without its password`(
        network: (name: String, password: String, country: String, words: String)
    ) throws {
        let failure = try #require(throws: Failure.self) {
            _ = try CardWiFi(name: network.name, password: Secret(network.password), country: network.country)
        }
        #expect(failure.message.contains(network.words))
        #expect(!failure.message.contains(network.password))
    }

    @Test func `The machine has the host name of its gateway, and is new to cloud-init at each card`() throws {
        #expect(
            try text("meta-data", of: card()) == """
                dsmode: "local"
                instance-id: "kitchen-1700000000"
                local-hostname: "kitchen"

                """)
    }

    static let names: [(name: String, host: String)] = [
        ("kitchen", "kitchen"), ("living-room", "living-room"), ("Hall 2", "hall-2"), ("wohnküche", "wohnk-che"),
        ("_x_", "x"),
        ("厨房", "gateway"), (String(repeating: "a", count: 64), String(repeating: "a", count: 60)),
    ]

    @Test(arguments: names) func `A host name has small letters, digits and single hyphens`(
        name: (name: String, host: String)
    ) {
        #expect(CardTemplate.hostName(of: name.name) == name.host)
    }

    @Test func `A broker of the card's own machine is refused`() throws {
        for host in ["localhost", "127.0.0.1", "::1"] {
            let failure = try #require(throws: Failure.self) { _ = try card { $0.members["host"] = .string(host) } }
            #expect(failure.message.contains("--host"))
        }
    }

    @Test func `A configuration with a mistake is refused before anything is written`() throws {
        let failure = try #require(throws: Failure.self) { _ = try card { $0.members["rooms"] = ["site": "no site"] } }
        #expect(failure.message.contains("rooms.site"))
        #expect(throws: Failure.self) { try card { $0.files = [] } }
    }

    // MARK: Tables

    private func cards(_ table: String) throws -> [BootCard] {
        try CardsCommand.cards(in: Array(table.utf8), named: "rooms.csv", try Self.template())
    }

    @Test func `A row gives name, room and login, and the rest is that of all`() throws {
        let cards = try cards("room,name,username,password\nHall,h1,u1,p1\nHall,,,p2\nBath,,,\n")
        #expect(cards.map(\.name) == ["h1", "hall", "bath"])
        #expect(
            cards.map { $0.files.map(\.name) } == [
                ["config.json", "site-key", "password"], ["config.json", "site-key", "password"],
                ["config.json", "site-key"],
            ])
        #expect(cards[1].files[0].text.revealed.contains("username: \"hall\""))
        #expect(cards[2].files[0].text.revealed.contains("username") == false)
    }

    static let mistakes: [(table: String, words: String)] = [
        ("name\nhall\n", "line 1: the first line names no column 'room'"),
        ("room,pasword\nHall,secret-1\n", "line 1: there is no column 'pasword'; did you mean 'password'?"),
        ("room\n", "line 1: no room follows"), ("room,name\nHall,hall\n,bath\n", "line 3: the room has no name"),
        ("room\nHall\nBath\nhall\n", "line 4: the gateway 'hall' has the host name of line 2, 'hall'"),
        ("room,name\nHall,a/b\n", "line 2: 'a/b' cannot be the name of a gateway"),
        ("room,username\nHall,jane\n", "line 2: the login 'jane' has no password"),
        (
            "room,username,password\nHall,jane,secret-1\nBath,jane,secret-2\n",
            "line 3: the login 'jane' is that of line 2"
        ),
        ("room,name\n厨房,\n浴室,\n", "line 3:"),
    ]

    @Test(arguments: mistakes) func `A mistake in a table is named with its line, and no secret with it`(
        mistake: (table: String, words: String)
    ) throws {
        let failure = try #require(throws: Failure.self) { _ = try cards(mistake.table) }
        #expect(failure.message.contains(mistake.words), "\(failure.message)")
        #expect(failure.message.hasPrefix("rooms.csv, line "))
        #expect(!failure.message.contains("secret-"))
    }
}
