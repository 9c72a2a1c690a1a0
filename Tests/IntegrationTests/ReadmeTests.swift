import FoundationEssentials
import TestSupport
import Testing

/// README is short and true: what it shows is what the program prints.
@Suite struct ReadmeTests {
    private static let top = GatewayProcess.fixtures.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" }

    @Test func `README shows what replay prints`() throws {
        let readme = try Self.text(of: "README.md")
        let command = try #require(readme.firstRange(of: "swift run ibeacon-gateway "))
        let words = readme[command.upperBound...].prefix { $0 != "`" }.split { $0.isWhitespace || $0 == "\\" }
        let arguments = words.map { String($0.replacing("Tests/Fixtures", with: GatewayProcess.fixtures)) }
        let printed = try run(try GatewayProcess.program, ["--quiet"] + arguments)
        #expect(!printed.isEmpty)
        #expect(readme.contains(printed), "README does not show this:\n\(printed)")
    }

    @Test(arguments: [
        "README.md", "CONTRIBUTING.md", "Docs/architecture.md", "Docs/presence.md", "Benchmarks/README.md",
    ])
    func `Every file that a document names is there`(_ document: String) throws {
        let words = try Self.text(of: document).split { $0.isWhitespace || "`()[]<>\"#…*;:,".contains($0) }
        let folders = ["Sources/", "Tests/", "Scripts/", "Benchmarks/", "Docs/"]
        let names = words.filter { word in folders.contains { word.hasPrefix($0) } }
        #expect(!names.isEmpty)
        for name in names {
            let path = name.last == "." ? String(name.dropLast()) : String(name)
            #expect(FileManager.default.fileExists(atPath: "\(Self.top)/\(path)"), "\(document) names \(path)")
        }
    }

    @Test func `Every step of a transition has its function in the file that the architecture names`() throws {
        let rows = try Self.text(of: "Docs/architecture.md").split(separator: "\n").filter {
            $0.hasPrefix("| ") && $0.contains("`Sources/")
        }
        #expect(rows.count > 10)
        for row in rows {
            let cells = row.split(separator: "|").map { $0.filter { $0 != "`" } }.map { $0.split(separator: " ") }
            let path = try #require(cells.dropFirst().first?.first)
            let function = try #require(cells.last?.first)
            let code = try Self.text(of: String(path))
            let declarations = function == "init" ? ["init(", "init?("] : ["func \(function)("]
            #expect(declarations.contains(where: code.contains), "\(path) has no \(declarations)")
        }
    }

    @Test func `The rights of the rooms service in the documents are those that acl prints`() throws {
        let service = try GatewayProcess("rooms: {site: \"home\"}", port: 1883)
        let list = try run(try GatewayProcess.program, service.arguments + ["acl", "--service", "rooms"])
        #expect(list.hasPrefix("user jane\n"))
        #expect(try Self.text(of: "Docs/rooms-fleet.md").contains("```\n\(list)```\n"))
    }

    private static func text(of path: String) throws -> String {
        try String(contentsOfFile: "\(top)/\(path)", encoding: .utf8)
    }
}
