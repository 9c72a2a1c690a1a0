import TestSupport
import Testing

/// Docs/owntracks.md says which test proves what.
@Suite struct OwnTracksDocumentTests {
    private struct Row {
        let sentence: String
        let proof: String

        /// What stands between asterisks.
        var names: [String] {
            let parts = proof.split(separator: "*", omittingEmptySubsequences: false)
            return parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
        }
    }

    /// The rows of the tables of section 9.
    private static func rows() throws -> [Row] {
        let text = try run("cat", ["\(GatewayProcess.fixtures)/../../Docs/owntracks.md"])
        let lines = text.split(separator: "\n").drop { !$0.hasPrefix("## 9.") }
        return lines.filter { $0.hasPrefix("| ") && !$0.hasPrefix("| what it says") }.map { line in
            // A bar inside a cell is written \|.
            let cells = line.split(separator: "\\|", omittingEmptySubsequences: false).joined(separator: "\u{1}")
                .split(separator: "|").map { $0.split(separator: "\u{1}", omittingEmptySubsequences: false) }
                .map { $0.joined(separator: "|") }
            return Row(sentence: cells[0], proof: cells.count > 1 ? cells[1] : "")
        }
    }

    @Test func `Every sentence has a test, or a reason why none can be`() throws {
        let rows = try Self.rows()
        #expect(rows.count > 80)
        for row in rows {
            let isAnswered = !row.names.isEmpty || row.proof.contains("cannot be:") || row.proof.contains("as on the")
            #expect(isAnswered, "\(row.sentence)")
        }
    }

    /// A test that stands for two sentences may hold while one of them is broken.
    @Test func `Every sentence has a test of its own`() throws {
        let rows = try Self.rows().filter { !$0.proof.contains("cannot be:") && !$0.proof.contains("as on the") }
        var uses: [String: Int] = [:]
        for row in rows { for name in Set(row.names) { uses[name, default: 0] += 1 } }
        for row in rows {
            #expect(row.names.contains { uses[$0] == 1 }, "\(row.sentence)")
        }
    }

    @Test func `Every test that the document names exists`() throws {
        let tests = try run("sh", ["-c", "cat '\(GatewayProcess.fixtures)'/../*Tests/*.swift"])
        for row in try Self.rows() {
            for name in row.names {
                let exists = tests.contains("\"\(name)\"") || tests.contains("`\(name)`")
                #expect(exists, "there is no test *\(name)*")
            }
        }
    }
}
