import Base
import Configuration
import FoundationEssentials
import Testing

/// The boxes of JSON5 in the documents are configurations, or members of one.
@Suite struct DocumentedConfigurationTests {
    private static let documents = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/Docs"

    private static func boxes() throws -> [(file: String, text: String)] {
        let files = try FileManager.default.contentsOfDirectory(atPath: documents).filter { $0.hasSuffix(".md") }
        return try files.sorted().flatMap { file in
            let text = try String(contentsOfFile: "\(documents)/\(file)", encoding: .utf8)
            return text.split(separator: "\n```json5\n", omittingEmptySubsequences: false).dropFirst().map {
                (file, String($0.split(separator: "\n```", maxSplits: 1, omittingEmptySubsequences: false)[0]))
            }
        }
    }

    @Test func `Each box of a configuration in the documents is accepted without a warning`() throws {
        let boxes = try Self.boxes()
        #expect(boxes.count > 3)
        for (file, text) in boxes {
            let isWhole = text.split(separator: "\n").first { !$0.hasPrefix("//") }?.hasPrefix("{") == true
            let whole = isWhole ? text : "{username: 'jane', \(text)\n}"
            do {
                let files = ConfigurationFiles { path in
                    path.hasSuffix("/proxy-key") ? BluetoothProxyTests.key : Secret("in \(path)")
                }
                let configuration = try Configuration(parsing: whole.utf8, hostName: "pi", files: files)
                #expect(configuration.warnings.isEmpty, "\(file): \(configuration.warnings)\n\(text)")
            } catch {
                Issue.record("\(file): \(error)\n\(text)")
            }
        }
    }
}
