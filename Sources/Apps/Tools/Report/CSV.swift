import Base

/// Comma-separated values.
enum CSV {
    /// Quotes a cell by RFC 4180, 2. A cell that a spreadsheet would read as a formula gets a leading apostrophe.
    /// What a terminal would interpret is written as `\x1b` or `\u202e`; line feeds and tabs stay.
    static func quoted(_ text: String) -> String {
        let text = PrintableText.escaped(text)
        let safe = text.first.map { "=+-@\t\r".contains($0) } == true ? "'" + text : text
        guard safe.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return safe }
        return "\"" + safe.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
