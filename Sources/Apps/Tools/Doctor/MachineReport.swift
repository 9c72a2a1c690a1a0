import JSON

/// A report of `doctor --report`: named fields in a fixed order. A field has a value, or says why it has none.
indirect enum MachineReport {
    case known(JSONValue)
    /// Why there is no value.
    case unknown(String)
    case section([(name: String, MachineReport)])
    case list([MachineReport])

    /// A text that was read from the machine. The report takes only printable ASCII, and nothing that looks like an
    /// address or an identity.
    static func text(_ text: String?, otherwise reason: String) -> MachineReport {
        let shown = (text ?? "").unicodeScalars.filter { (0x20..<0x7f).contains($0.value) }.prefix(120)
        let line = String(String.UnicodeScalarView(shown))
        guard !line.isEmpty else { return .unknown(reason) }
        return isRevealing(line) ? .unknown("it looks like an address or an identity") : .known(.string(line))
    }

    static func number(_ number: Double?, otherwise reason: String) -> MachineReport {
        guard let number, number.isFinite else { return .unknown(reason) }
        return .known(.plain((number * 1000).rounded() / 1000))
    }

    /// Whether the text contains 12 hexadecimal digits in a row, with or without `:` or `-` between them (a device
    /// address, a UUID, a key), or four numbers with dots (an IP address).
    static func isRevealing(_ text: String) -> Bool {
        var digits = 0
        for character in text.utf8 {
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"):
                digits += 1
                if digits == 12 { return true }
            case UInt8(ascii: ":"), UInt8(ascii: "-"): break
            default: digits = 0
            }
        }
        return text.split(whereSeparator: { !$0.isNumber && $0 != "." }).contains { word in
            let parts = word.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count >= 4 && parts.allSatisfy { UInt8($0) != nil }
        }
    }

    /// JSON with a line for each field.
    var text: String { lines("") + "\n" }

    private func lines(_ indent: String) -> String {
        let deeper = indent + "    "
        switch self {
        case .known(let value): return value.text
        case .unknown(let reason): return (["unknown": .string(reason)] as JSONValue).text
        case .section(let fields):
            let lines = fields.map { "\(deeper)\(JSONValue.string($0.name).text): \($0.1.lines(deeper))" }
            return "{\n\(lines.joined(separator: ",\n"))\n\(indent)}"
        case .list(let elements):
            guard !elements.isEmpty else { return "[]" }
            return "[\n\(elements.map { deeper + $0.lines(deeper) }.joined(separator: ",\n"))\n\(indent)]"
        }
    }
}
