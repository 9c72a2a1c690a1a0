import TestSupport
import Testing

/// Where a command looks for configuration and state, and with which code it ends.
@Suite struct CommandLineTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        for (name, text) in [
            ("option", "{deviceId: \"option\"}"), ("variable", "{deviceId: \"variable\"}"), ("mistake", "{hots: 1}"),
            ("number", "5"),
        ] { try directory.write(text, to: name) }
    }

    private func run(_ words: [String], _ environment: [String] = []) throws -> (code: Int32, text: String) {
        let output = "output-\(UInt64.random(in: 0...UInt64.max))"
        let process = try ChildProcess(
            try GatewayProcess.program, words, output: directory.file(output), environment: environment)
        let code = process.wait()
        return (code, String(decoding: try directory.read(output), as: UTF8.self))
    }

    @Test func `The configuration is sought at --config, then at $IBEACON_GATEWAY_CONFIG`() throws {
        let variable = ["IBEACON_GATEWAY_CONFIG=\(directory.file("variable"))"]
        let show = ["--state-dir", directory.file("state"), "config", "show"]
        let shown = try [[], ["--config", directory.file("option")]].map { try run($0 + show, variable).text }
        #expect(shown[0].contains(#""deviceId":"variable""#), "\(shown)")
        #expect(shown[1].contains(#""deviceId":"option""#), "\(shown)")
    }

    @Test func `The state is sought at --state-dir, then at $STATE_DIRECTORY`() throws {
        let configuration = ["--config", directory.file("option")]
        let variable = ["STATE_DIRECTORY=\(directory.file("a"))"]
        for (name, place) in [("a", []), ("b", ["--state-dir", directory.file("b")])] as [(String, [String])] {
            let keys = "Keys \(name):CA271EAE-5FA8-4E80-8F08-2A302A95A959"
            let added = try run(configuration + place + ["regions", "add", keys], variable)
            #expect(added.code == 0, "\(added.text)")
            let listed = try run(configuration + ["--state-dir", directory.file(name), "regions", "list"]).text
            #expect(listed.contains("Keys \(name)"), "\(listed)")
        }
    }

    @Test(
        arguments: [
            (64, ["config", "chekc"]), (64, ["regions", "list", "x"]), (64, ["fly"]), (65, ["regions", "show", "x"]),
            (65, ["regions", "import", "number"]), (66, ["regions", "import", "missing"]), (66, ["replay", "missing"]),
            (66, ["--config", "missing", "config", "check"]), (69, ["status"]),
            (73, ["regions", "export", "missing/file"]), (78, ["--config", "mistake", "config", "check"]),
        ] as [(Int32, [String])])
    func `Exit codes are those of sysexits (contract)`(code: Int32, words: [String]) throws {
        let names = ["number", "missing", "missing/file", "mistake"]
        let named = words.map { names.contains($0) ? directory.file($0) : $0 }
        let ended = try run(["--state-dir", directory.file("state")] + named)
        #expect(ended.code == code, "\(ended.text)")
    }
}
