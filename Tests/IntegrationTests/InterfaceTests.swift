import TestSupport
import Testing

/// What other programs rely on changes only on purpose, and what is promised only with a new major version.
@Suite struct InterfaceTests {
    private static let top = "\(GatewayProcess.fixtures)/../.."

    private func interface(_ words: [String] = []) throws -> String {
        try run("\(Self.top)/Scripts/interface", ["--program", try GatewayProcess.program] + words)
    }

    @Test func `The interfaces of the program are those of Docs/interface`() throws {
        _ = try interface()
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
        let directory = try TemporaryDirectory()
        try run("cp", ["-r", "\(Self.top)/Docs/interface", directory.file("promises")])
        let promises = directory.file("promises")
        try run("sh", ["-c", "sed -i '1s/.*/# version 1.0.0/' \(promises)/*.txt"])
        try run("sed", ["-i", change.edit, "\(promises)/commands.txt"])
        let options = ["--files", promises, "--as-version", change.version]
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
