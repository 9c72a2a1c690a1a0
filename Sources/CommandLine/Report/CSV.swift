/// Comma-separated values.
enum CSV {
    /// Quotes a cell by RFC 4180, 2. A cell that a spreadsheet would read as a formula gets a leading apostrophe.
    /// Control characters, which a terminal would interpret, are written as `\x1b`; line feeds and tabs stay.
    static func quoted(_ text: String) -> String {
        let text = Terminal.escapingControls(text)
        let safe = text.first.map { "=+-@\t\r".contains($0) } == true ? "'" + text : text
        guard safe.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return safe }
        return "\"" + safe.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
