import TestSupport
import Testing

/// The documents have the addresses of release.conf, and say plainly where there is none.
@Suite struct AddressesTests {
    private static let top = GatewayProcess.fixtures.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" }
    private static let documents = [
        "README.md", "Docs/quick-start.md", "Docs/man/ibeacon-gateway.8", "add-on/config.yaml",
        "add-on-rooms/config.yaml", "custom_components/ibeacon_rooms/manifest.json", "debian/control",
        "debian/changelog", "Sources/Apps/Tools/Card/CardArchive.swift", "release.conf",
    ]
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        let files = Self.documents.joined(separator: " ")
        _ = try run("sh", ["-c", "cd '\(Self.top)' && cp --parents -t '\(directory.path)' \(files)"])
    }

    /// Writes the documents for a release.conf; returns them together.
    private func renewed(_ conf: String) throws -> String {
        try directory.write(conf, to: "release.conf")
        _ = try run("\(Self.top)/Scripts/addresses", ["renew", "--top", directory.path])
        _ = try run("\(Self.top)/Scripts/addresses", ["--top", directory.path])
        return try text()
    }

    private func text() throws -> String {
        try Self.documents.dropLast().map { String(decoding: try directory.read($0), as: UTF8.self) }.joined()
    }

    @Test func `Addresses that are given stand in each document, and none says that there is no package`() throws {
        let text = try renewed(
            "repository = https://git.example/gateway\narchive = https://apt.example/debian\ncontact = ann@example.net\n"
        )
        for words in [
            "-fo /etc/apt/sources.list.d/ibeacon-gateway.sources https://apt.example/debian/$VERSION_CODENAME.sources",
            "[the releases](https://git.example/gateway/releases)", "url: \"https://git.example/gateway\"",
            "Homepage: https://git.example/gateway", "Maintainer: ibeacon-gateway developers <ann@example.net>",
            ".Lk https://git.example/gateway", "static let published: String? = \"https://apt.example/debian\"",
            "\"issue_tracker\": \"https://git.example/gateway/issues\"",
        ] {
            #expect(text.contains(words), "\(words)")
        }
        #expect(!text.contains("is published yet"))
    }

    @Test func `Without addresses the documents say that nothing is published, and how it is built`() throws {
        let before = try text()
        _ = try renewed("repository = https://git.example/gateway\narchive = https://apt.example/debian\ncontact =\n")
        let text = try renewed("repository =\narchive =\ncontact =\n")
        #expect(text == before)
        #expect(text.contains("No package is published yet. `Scripts/package"))
    }

    @Test(
        "What is no address is refused, with its line",
        arguments: [
            ("repository = git.example\narchive =\ncontact =\n", "line 1"),
            ("repository =\narchive = http://a.example\ncontact =\n", "line 2"),
            ("repository =\narchive = https://a.example/\ncontact =\n", "line 2"),
            ("repository =\narchive =\ncontact = nobody\n", "line 3"), ("repository =\narchive =\n", "lacks contact"),
            ("repository =\narchive =\narchive =\ncontact =\n", "line 3"), ("address = x\n", "line 1"),
            ("repository = https://a.example/$(id)'\narchive =\ncontact =\n", "line 1"),
        ])
    func refused(conf: String, words: String) throws {
        let before = try text()
        try directory.write(conf, to: "release.conf")
        let error = #expect(throws: (any Error).self) {
            _ = try run("\(Self.top)/Scripts/addresses", ["renew", "--top", directory.path])
        }
        #expect("\(String(describing: error))".contains(words))
        #expect(try text() == before)
    }
}
