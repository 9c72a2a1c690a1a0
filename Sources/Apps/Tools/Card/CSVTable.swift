import Base

/// A table of comma-separated values (RFC 4180) whose first line names the columns.
///
/// What spreadsheets write is read: a byte order mark, any line end, and semicolons where the first line has no comma.
struct CSVTable {
    /// What is wrong, and in which line.
    struct Problem: Error, Equatable {
        /// The first line is 1.
        let line: Int
        let reason: String
    }

    struct Row: Equatable {
        /// Where the row begins; a quoted cell may hold line ends.
        let line: Int
        /// As many as there are columns, without the blanks around them.
        let cells: [String]
    }

    /// In small letters.
    let columns: [String]
    let rows: [Row]

    init(_ bytes: [UInt8]) throws(Problem) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let body = bytes.starts(with: mark) ? bytes[mark.count...] : bytes[...]
        guard let text = String(validating: body, as: UTF8.self) else {
            let line = 1 + body.prefix { $0 < 0x80 }.count { $0 == UInt8(ascii: "\n") }
            throw Problem(line: line, reason: "this is not UTF-8; save the table as 'CSV UTF-8'")
        }
        let firstLine = text.unicodeScalars.prefix { $0 != "\n" && $0 != "\r" }
        let separator: Unicode.Scalar = firstLine.contains(";") && !firstLine.contains(",") ? ";" : ","
        var reader = Reader(separator: separator)
        for scalar in text.unicodeScalars { try reader.take(scalar) }
        var rows = try reader.finish()
        guard !rows.isEmpty else { throw Problem(line: 1, reason: "the table is empty") }
        columns = rows.removeFirst().cells.map { $0.lowercased() }
        var known: Set<String> = []
        for name in columns where !known.insert(name).inserted {
            throw Problem(line: 1, reason: "the column '\(name)' is there twice")
        }
        for row in rows where row.cells.count != columns.count {
            let count = "\(row.cells.count) cells, and the first line names \(columns.count) columns"
            throw Problem(line: row.line, reason: "there are \(count)")
        }
        self.rows = rows
    }

    /// A cell; nil if there is no such column, or if the cell is empty.
    func cell(_ column: String, of row: Row) -> String? {
        guard let index = columns.firstIndex(of: column), !row.cells[index].isEmpty else { return nil }
        return row.cells[index]
    }
}

/// Splits the text, scalar by scalar.
private struct Reader {
    private enum State { case start, plain, quoted, quoteInQuoted }

    let separator: Unicode.Scalar
    private var state = State.start
    private var cell = String.UnicodeScalarView()
    private var cells: [String] = []
    private var rows: [CSVTable.Row] = []
    private var line = 1
    private var firstLine = 1
    private var endsWithReturn = false

    init(separator: Unicode.Scalar) { self.separator = separator }

    mutating func take(_ scalar: Unicode.Scalar) throws(CSVTable.Problem) {
        defer { endsWithReturn = scalar == "\r" }
        // The second half of CR LF.
        if scalar == "\n", endsWithReturn {
            if state == .quoted { cell.append(scalar) }
            return
        }
        let isLineEnd = scalar == "\n" || scalar == "\r"
        defer { if isLineEnd { line += 1 } }
        switch (state, scalar) {
        case (.quoted, "\""): state = .quoteInQuoted
        case (.quoted, _): cell.append(scalar)
        case (.quoteInQuoted, "\""):
            cell.append(scalar)
            state = .quoted
        case (_, separator): endCell()
        case (_, _) where isLineEnd: endRow()
        case (.start, "\""): state = .quoted
        case (.start, _), (.plain, _):
            cell.append(scalar)
            // Blanks before a quoted cell do not matter.
            if state == .start, !scalar.properties.isWhitespace { state = .plain }
        case (.quoteInQuoted, _):
            guard scalar.properties.isWhitespace else {
                throw CSVTable.Problem(line: line, reason: "something follows the closing quotation mark of a cell")
            }
        }
    }

    mutating func finish() throws(CSVTable.Problem) -> [CSVTable.Row] {
        guard state != .quoted else {
            throw CSVTable.Problem(line: firstLine, reason: "a quotation mark is not closed")
        }
        if !cells.isEmpty || !cell.isEmpty { endRow() }
        return rows
    }

    private mutating func endCell() {
        cells.append(String(String(cell)[...].trimmed))
        cell = String.UnicodeScalarView()
        state = .start
    }

    private mutating func endRow() {
        endCell()
        // A line without anything, such as the last one.
        if cells.contains(where: { !$0.isEmpty }) { rows.append(CSVTable.Row(line: firstLine, cells: cells)) }
        cells = []
        firstLine = line + 1
    }
}
