/// A node of a YAML document (YAML 1.2.2, 3.2.1), with its line.
package struct YAMLNode: Sendable {
    package enum Content: Sendable {
        /// The text of a scalar. A plain one stands without quotes, so that `true` is a boolean and not a text.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        /// In the order of the file. No key is there twice.
        case mapping([Member])
    }

    /// A key, which is a scalar, and its value.
    package struct Member: Sendable {
        package let key: String
        package let value: YAMLNode
    }

    package let content: Content
    /// The line in which it begins, from 1.
    package let line: Int

    package init(_ content: Content, line: Int) {
        self.content = content
        self.line = line
    }
}

/// The core schema (YAML 1.2.2, 10.3): what a plain scalar means. A reader asks for the type that it expects.
extension YAMLNode {
    /// `null`, `~` or nothing.
    package var isNull: Bool {
        if case .scalar(let text, isPlain: true) = content {
            ["", "~", "null", "Null", "NULL"].contains(text)
        } else {
            false
        }
    }

    /// The text of a scalar as it stands in the file, of a number also; nil for null.
    package var text: String? {
        if case .scalar(let text, _) = content, !isNull { text } else { nil }
    }

    package var boolean: Bool? {
        guard case .scalar(let text, isPlain: true) = content else { return nil }
        return switch text {
        case "true", "True", "TRUE": true
        case "false", "False", "FALSE": false
        default: nil
        }
    }

    /// Decimal, `0x…` or `0o…`.
    package var integer: Int64? {
        guard case .scalar(let text, isPlain: true) = content else { return nil }
        if text.hasPrefix("0x") { return Self.digits(text.dropFirst(2), radix: 16) }
        if text.hasPrefix("0o") { return Self.digits(text.dropFirst(2), radix: 8) }
        return Int64(text)
    }

    /// An initialiser of Swift's integers also reads a sign, which does not stand behind a prefix.
    private static func digits(_ text: Substring, radix: Int) -> Int64? {
        text.first?.isHexDigit == true ? Int64(text, radix: radix) : nil
    }

    package var sequence: [YAMLNode]? {
        if case .sequence(let elements) = content { elements } else { nil }
    }

    package var mapping: [Member]? {
        if case .mapping(let members) = content { members } else { nil }
    }
}
