import TestSupport
import Testing

/// What other programs rely on changes only on purpose, and what is promised only with a new major version.
@Suite struct InterfaceTests {
    private static let top = "\(GatewayProcess.fixtures)/../.."

    private func interface(_ words: [String] = []) throws -> String {
        try run("\(Self.top)/Scripts/interface", ["--program", try GatewayProcess.program] + words)
    }

    /// A folder with what Scripts/interface compares.
    private func documents() throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        let documents = ["interface", "man", "configuration.md"].map { "\(Self.top)/Docs/\($0)" }
        try run("cp", ["-r"] + documents + [directory.path])
        return directory
    }

    @Test
    func `The interfaces of the program are those of Docs/interface, and documents say of the settings what it says`()
        throws
    {
        _ = try interface()
    }

    /// An edit of a document by sed, and what is said of a check.
    static let edits: [(file: String, edit: String, check: String)] = [
        ("man/ibeacon-gateway.json.5", "s/^[.]Li 1883$/.Li 1884/", "+.Li 1883"),
        ("man/ibeacon-gateway.json.5", "/^[.]It Va leaveRSSI$/,/^[.]It Va mon/s/^A beacon/A tag/", "-A tag is gone"),
        ("man/ibeacon-gateway.json.5", "/^[.]Va adapter ,$/d", "+.Va adapter ,"),
        ("configuration.md", "s/^| `cmd` | live/| `cmd` | restart/", "+| `cmd` | live | live |"),
    ]

    @Test(arguments: edits)
    func `A document that says something else of a setting is an error, and is written anew`(
        edit: (file: String, edit: String, check: String)
    ) throws {
        let directory = try documents()
        let before = try directory.read(edit.file)
        try run("sed", ["-i", edit.edit, directory.file(edit.file)])
        let options = ["--docs", directory.path]
        let check = #expect(throws: SupportError.self) { try interface(options) }
        #expect("\(try #require(check))".contains(edit.check))
        #expect(try interface(["renew"] + options).contains("wrote"))
        #expect(try directory.read(edit.file) == before)
    }

    /// Each is a line of its own: the usage of a command, which another word makes longer, is none, nor is the file of a source.
    @Test func `A new word of a command and a new member of a message are no lost promise`() throws {
        let new = [
            "command-line": ["phones add NAME", "completion zsh", "rooms tags ACTION"],
            "site": ["ibeacon-rooms/<site>/heard/<gateway>: age", "ibeacon-rooms/<site>/learn: forget"],
        ]
        let directory = try documents()
        var before: [String: [UInt8]] = [:]
        for (file, lines) in new {
            before[file] = try directory.read("interface/\(file).txt")
            let text = String(decoding: try #require(before[file]), as: UTF8.self).split(separator: "\n")
            let others = text.filter { !lines.contains(String($0)) }.map { "\($0)\n" }
            #expect(others.count == text.count - lines.count)
            _ = try directory.write(others.joined(), to: "interface/\(file).txt")
        }
        let options = ["--docs", directory.path]
        let check = "\(try #require(#expect(throws: SupportError.self) { try interface(options) }))"
        for (file, lines) in new {
            for line in lines { #expect(check.contains("\(file): is new: \(line)"), "\(check)") }
        }
        #expect(!check.contains("is gone"), "\(check)")
        #expect(try interface(["renew"] + options).contains("wrote"))
        for (file, text) in before { #expect(try directory.read("interface/\(file).txt") == text) }
    }

    /// An edit of the promises by sed, the version of the program, and what is said of a check and of `renew`.
    static let changes: [(edit: String, version: String, check: String, renew: String)] = [
        ("$a zoom: gateway: .liveOnly", "1.9.0", "commands: is gone: zoom", "commands: is gone: zoom"),
        ("$a zoom: gateway: .liveOnly", "2.0.0", "commands: is gone: zoom", "wrote"),
        ("/^dump/d", "1.9.0", "commands: is new: dump", "wrote"),
        ("1s/1.0.0/0.9.0/", "1.0.0", "commands: is of version 0.9.0, and the program of 1.0.0", "wrote"),
        ("s/1.0.0/0.9.0/; $a zoom: gateway: .liveOnly", "0.9.1", "commands: is gone: zoom", "wrote"),
    ]

    @Test(arguments: changes)
    func `What is gone is an error, and is accepted only by a new major version or before the first`(
        change: (edit: String, version: String, check: String, renew: String)
    ) throws {
        let directory = try documents()
        let promises = directory.file("interface")
        try run("sh", ["-c", "sed -i '1s/.*/# version 1.0.0/' \(promises)/*.txt"])
        try run("sed", ["-i", change.edit, "\(promises)/commands.txt"])
        let options = ["--docs", directory.path, "--as-version", change.version]
        let check = #expect(throws: SupportError.self) { try interface(options) }
        #expect("\(try #require(check))".contains(change.check))
        if change.renew == "wrote" {
            #expect(try interface(["renew"] + options).contains("wrote"))
            _ = try interface(options)
        } else {
            let refusal = #expect(throws: SupportError.self) {
                try interface(["renew"] + options)
            }
            #expect("\(try #require(refusal))".contains(change.renew))
        }
    }
}
