import Base

/// A value of a cloud-init file, written as YAML that people can read. Members keep their order.
indirect enum CloudText {
    case text(String)
    case flag(Bool)
    case number(Int)
    case list([CloudText])
    case map([(name: String, value: CloudText)])

    /// The lines of the whole file, each with its line end.
    var yaml: String { lines.map { $0 + "\n" }.joined() }

    private var lines: [String] {
        switch self {
        case .map(let members) where !members.isEmpty:
            members.flatMap { member in Self.lines(after: "\(Self.key(member.name)):", member.value) }
        case .list(let elements) where !elements.isEmpty && !isFlow:
            elements.flatMap { element in
                let lines = element.lines
                guard element.scalar == nil, let first = lines.first else { return Self.lines(after: "-", element) }
                return ["- " + first] + lines.dropFirst().map(Self.indented)
            }
        default: [scalar ?? ""]
        }
    }

    private static func lines(after head: String, _ value: CloudText) -> [String] {
        if case .text(let text) = value, let block = block(of: text) { return ["\(head) |"] + block.map(indented) }
        if let scalar = value.scalar { return ["\(head) \(scalar)"] }
        return [head] + value.lines.map(indented)
    }

    private static func indented(_ line: String) -> String { line.isEmpty ? line : "  " + line }

    /// The value in one line; nil if it takes several.
    private var scalar: String? {
        switch self {
        case .text(let text): Self.quoted(text)
        case .flag(let flag): flag ? "true" : "false"
        case .number(let number): "\(number)"
        case .list(let elements): isFlow ? "[\(elements.compactMap(\.scalar).joined(separator: ", "))]" : nil
        case .map(let members): members.isEmpty ? "{}" : nil
        }
    }

    /// Whether a list stands in one line: a list of texts, such as the words of a command.
    private var isFlow: Bool {
        guard case .list(let elements) = self else { return false }
        return elements.allSatisfy { if case .text = $0 { true } else { false } }
    }

    private static func key(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "_")
                || byte == UInt8(ascii: "-")
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        return isPlain && name.first?.isLetter == true ? name : quoted(name)
    }

    /// The lines of a literal block; nil if the text is not certain to come back from one. That is a text of whole lines of
    /// printable ASCII, of which the first is not indented and the last is not empty.
    private static func block(of text: String) -> [String]? {
        guard text.utf8.last == UInt8(ascii: "\n"), let first = text.utf8.first, first > UInt8(ascii: " "),
            text.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == UInt8(ascii: "\n") })
        else { return nil }
        let lines = text.dropLast().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return lines.last?.isEmpty == true ? nil : lines
    }

    /// A text in quotation marks. YAML 1.1 admits fewer characters than JSON, and takes U+0085, U+2028 and U+2029 for line ends.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22, 0x5C: result += "\\\(scalar)"
            case 0x0A: result += "\\n"
            case 0x00..<0x20, 0x7F...0xA0, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF:
                result += "\\u" + hexadecimal(UInt64(scalar.value), digits: 4)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
