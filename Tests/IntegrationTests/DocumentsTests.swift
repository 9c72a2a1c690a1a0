import TestSupport
import Testing

/// What is written for people names everything that the program has.
@Suite struct DocumentsTests {
    private struct Command {
        let name: String
        /// Its own options, and those of every command.
        let options: [String]
        let global: [String]
    }

    /// The words at the start of the indented lines below a title of a help page.
    private static func entries(below title: String, in page: String) -> [String] {
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(of: Substring(title)) else { return [] }
        return lines[(start + 1)...].prefix { $0.hasPrefix("  ") }.compactMap {
            $0.split(separator: " ").first.map(String.init)
        }
    }

    private static func commands() throws -> [Command] {
        let program = try GatewayProcess.program
        let overview = try run(program, ["--help"])
        let global = entries(below: "Options, with every command:", in: overview)
        #expect(global.contains("--config"))
        return try entries(below: "Commands:", in: overview).map { name in
            let page = try run(program, [name, "--help"])
            return Command(name: name, options: entries(below: "Options:", in: page) + global, global: global)
        }
    }

    private static func document(_ path: String) throws -> String {
        try run("cat", ["\(GatewayProcess.fixtures)/../../\(path)"])
    }

    @Test func `The manual page names every command and every option`() throws {
        let page = try Self.document("Docs/man/ibeacon-gateway.8")
        func words(_ text: some StringProtocol) -> Set<String> {
            Set(String(text).split(whereSeparator: \.isWhitespace).map(String.init))
        }
        let global = words(page)
        let commands = try Self.commands()
        #expect(commands.count > 5)
        for command in commands {
            // `.Ss rooms` or `.Ss rooms ACTION`; several sections may belong to one command.
            let sections = page.split(separator: "\n.Ss ").dropFirst().filter {
                $0.hasPrefix("\(command.name)\n") || $0.hasPrefix("\(command.name) ")
            }.map { $0.split(separator: "\n.Sh ", maxSplits: 1)[0] }
            #expect(!sections.isEmpty, "Docs/man/ibeacon-gateway.8 has no section '.Ss \(command.name)'")
            let own = sections.reduce(into: Set<String>()) { $0.formUnion(words($1)) }
            // mdoc: `.It Fl -config Ar FILE`
            let missing = command.options.filter { option in
                let word = String(option.dropFirst())
                return !own.contains(word) && !(command.global.contains(option) && global.contains(word))
            }
            #expect(missing == [], "Docs/man/ibeacon-gateway.8 does not name these options of \(command.name)")
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `The completion scripts have every command and every option`(shell: String) throws {
        let script = try run(try GatewayProcess.program, ["completion", shell])
        for command in try Self.commands() {
            #expect(script.contains(command.name))
            for option in command.options {
                let written = shell == "fish" ? "-l \(option.dropFirst(2))" : option
                let isThere = script.contains(written)
                #expect(isThere, "\(command.name) \(option) is missing")
            }
        }
    }

    static let completions: [(line: [String], offered: [String], withheld: [String])] = [
        (["rooms", ""], ["run", "tags", "gateways"], ["list", "export"]),
        (["rooms", "tags", ""], ["list", "add", "remove", "export", "--rid"], ["run", "gateways"]),
        (["rooms", "gateways", "r"], ["remove"], ["run", "replay", "list"]),
        (["--config", "file", "rooms", "gateways", ""], ["list", "remove"], ["export"]),
        (["regions", ""], ["list", "add"], ["gateways"]), ([""], ["rooms", "run"], ["list"]),
    ]

    @Test(arguments: completions)
    func `bash offers the words that may come next`(
        _ row: (line: [String], offered: [String], withheld: [String])
    ) throws {
        let words = (["ibeacon-gateway"] + row.line).map { "'\($0)'" }.joined(separator: " ")
        let answer = try run(
            "bash",
            [
                "-c",
                "eval \"$('\(try GatewayProcess.program)' completion bash)\"; COMP_WORDS=(\(words)); "
                    + "COMP_CWORD=\(row.line.count); _ibeacon_gateway; printf '%s\\n' \"${COMPREPLY[@]}\"",
            ])
        let offered = Set(answer.split(separator: "\n").map(String.init))
        #expect(offered.isSuperset(of: row.offered), "\(answer)")
        #expect(offered.isDisjoint(with: row.withheld), "\(answer)")
    }

    @Test func `bash offers regions by name and key, interprets none of them, and offers the scanners`() throws {
        let directory = try TemporaryDirectory()
        let program = try GatewayProcess.program
        for name in ["Kitchen", "$(touch hacked) x"] {
            try run(
                program,
                [
                    "--state-dir", directory.path, "regions", "add", "\(name):\(GatewayFixture.uuid):1:7", "--rid",
                    "r-\(name.count)",
                ])
        }
        func offered(_ line: String, _ count: Int) throws -> [String] {
            try run(
                "bash",
                [
                    "-c",
                    "cd '\(directory.path)'; export STATE_DIRECTORY=$PWD; ibeacon-gateway() { '\(program)' \"$@\"; }; "
                        + "eval \"$('\(program)' completion bash)\"; COMP_WORDS=(ibeacon-gateway \(line)); "
                        + "COMP_CWORD=\(count); _ibeacon_gateway 2>/dev/null; printf '%s\\n' \"${COMPREPLY[@]}\"; ls",
                ]
            ).split(separator: "\n").map(String.init)
        }
        for (line, count) in [("regions show ''", 3), ("history --region ''", 3), ("status --explain ''", 3)] {
            let words = try offered(line, count)
            #expect(words.contains("Kitchen") && words.contains("r-7"), "\(words)")
            #expect(words.contains { $0.contains("touch") } && !words.contains("hacked"), "\(words)")
        }
        #expect(try offered("regions show K", 3).filter { $0.hasPrefix("r-") }.isEmpty)
        #expect(try offered("setup --scanner m", 3).contains("mgmt"))
    }
}
