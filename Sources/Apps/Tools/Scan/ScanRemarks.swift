import Beacon

/// What a person should read beside the table of a scan: why nothing listens, and what the scanner has said last.
/// A table that is drawn again each second would be written over it.
struct ScanRemarks {
    /// Largest number of lines, so that the table stays on the screen.
    private static let most = 4

    /// Why each adapter does not listen; nil while it listens.
    private var reasons: [Receiver: String?] = [:]
    /// The latest last, each once.
    private var said: [String] = []

    mutating func add(_ text: String) {
        said.removeAll { $0 == text }
        said.append(text)
        if said.count > Self.most { said.removeFirst() }
    }

    mutating func listening(_ isListening: Bool, of receiver: Receiver, because reason: String) {
        reasons.updateValue(isListening ? nil : reason, forKey: receiver)
    }

    /// A table with the remarks below it.
    func page(_ table: String) -> String {
        let listens = reasons.values.contains { $0 == nil }
        let adapters = reasons.sorted { $0.key.index < $1.key.index }.compactMap(\.value).map { "not listening: \($0)" }
        let lines = (listens || !adapters.isEmpty || !said.isEmpty ? [] : ["nothing listens yet"]) + adapters + said
        return lines.isEmpty ? table : table + "\n\n" + lines.joined(separator: "\n")
    }
}
