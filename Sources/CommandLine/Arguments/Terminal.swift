import Glibc

/// Standard output and standard error.
enum Terminal {
    /// Writes a line to standard output.
    static func print(_ text: String) {
        write(Array((text + "\n").utf8), to: STDOUT_FILENO)
    }

    /// Writes a line to standard error.
    static func printError(_ text: String) {
        write(Array((text + "\n").utf8), to: STDERR_FILENO)
    }

    /// Whether a person sees standard output.
    static var isInteractive: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Columns, left-aligned, two blanks between them; control characters are shown, never sent.
    static func table(_ header: [String], _ rows: [[String]]) -> String {
        let cells = ([header] + rows).map { $0.map(printable) }
        let widths = header.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.map { row in
            let padded = zip(row, widths).map { text, width in text + String(repeating: " ", count: width - text.count)
            }
            let line = padded.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }

    /// Text from outside without what a terminal would obey.
    static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.properties.generalCategory.isHarmless ? $0 : "\u{FFFD}" }))
    }

    /// Text from outside with control characters as `\x1b`, so that nothing is lost. Line feeds and tabs stay.
    static func escapingControls(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isTerminalControl) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            if scalar.isTerminalControl {
                result += (scalar.value < 0x10 ? "\\x0" : "\\x") + String(scalar.value, radix: 16)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }

    static func write(_ bytes: [UInt8], to descriptor: CInt) {
        var offset = 0
        while offset < bytes.count {
            let written = bytes.withUnsafeBytes { buffer in
                Glibc.write(descriptor, buffer.baseAddress.map { $0 + offset }, bytes.count - offset)
            }
            if written < 0 {
                guard errno == EINTR else { return }
            } else {
                offset += written
            }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isTerminalControl: Bool {
        properties.generalCategory == .control && self != "\n" && self != "\t"
    }
}

extension Unicode.GeneralCategory {
    /// Not a control character, a direction mark or half a character.
    fileprivate var isHarmless: Bool {
        switch self {
        case .control, .format, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
