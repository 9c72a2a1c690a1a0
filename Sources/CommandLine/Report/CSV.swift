/// Comma-separated values.
enum CSV {
    /// RFC 4180, 2. A cell that a spreadsheet would take for a formula gets an apostrophe before it. Control characters,
    /// which a terminal would obey, are written as `\x1b`; line feeds and tabs stay.
    static func quoted(_ text: String) -> String {
        let text = Terminal.escapingControls(text)
        let safe = text.first.map { "=+-@\t\r".contains($0) } == true ? "'" + text : text
        guard safe.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return safe }
        return "\"" + safe.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
