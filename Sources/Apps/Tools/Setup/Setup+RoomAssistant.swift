import Base
import System
import YAML

extension Setup {
    /// Reads the file of `--from`, and says of each of its members what becomes of it.
    mutating func readRoomAssistant() throws(Failure) {
        guard let path = arguments.value("from") else { return }
        let bytes = try FileAccess.readNamed(path)
        let file = try mapError({ Failure(.badData, "\(path) cannot be translated: \($0); nothing was written") }) {
            () throws(YAMLError) in try RoomAssistantFile(bytes)
        }
        for verdict in RoomAssistantReport.Finding.Verdict.allCases {
            let findings = file.findings.filter { $0.verdict == verdict }
            guard !findings.isEmpty else { continue }
            dialogue.show(Self.heading(verdict))
            for finding in findings {
                dialogue.show(Terminal.printable("  line \(finding.line), \(finding.member): \(finding.text)"))
            }
        }
        origin = file
    }

    private static func heading(_ verdict: RoomAssistantReport.Finding.Verdict) -> String {
        switch verdict {
        case .translated: "Translated:"
        case .needless: "Not needed here:"
        case .lost: "NOT translated:"
        }
    }
}
