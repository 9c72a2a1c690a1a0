import Testing

@testable import Tools

/// Tables as spreadsheets write them.
@Suite struct CSVTableTests {
    private func rows(_ text: String) throws -> [[String]] { try CSVTable(Array(text.utf8)).rows.map(\.cells) }

    private func problem(_ bytes: [UInt8]) throws -> CSVTable.Problem {
        try #require(throws: CSVTable.Problem.self) { _ = try CSVTable(bytes) }
    }

    static let tables: [(text: String, rows: [[String]])] = [
        ("room,name\nHall,h\n", [["Hall", "h"]]),
        ("room,name\r\nHall,h\r\nBath,b", [["Hall", "h"], ["Bath", "b"]]),
        ("room,name\rHall,h\r", [["Hall", "h"]]),
        ("\u{FEFF}room,name\nHall,h\n", [["Hall", "h"]]),
        ("room;name\nHall;h,i\n", [["Hall", "h,i"]]),
        ("room,name\n\"Hall, upper\",\"the \"\"h\"\"\"\n", [["Hall, upper", "the \"h\""]]),
        ("room,name\n \"Hall\" , h \n", [["Hall", "h"]]),
        ("room,name\n\"Ha\r\nll\",h\n", [["Ha\r\nll", "h"]]),
        ("room,name\nHall,\n", [["Hall", ""]]),
        ("room,name\nHall,\"\"\n", [["Hall", ""]]),
        ("room,name\n\nHall,h\n,\n\n", [["Hall", "h"]]),
        ("room,name\nWohnküche,w\n", [["Wohnküche", "w"]]),
    ]

    @Test(arguments: tables) func `A table is read in the forms that programs write`(
        table: (text: String, rows: [[String]])
    ) throws {
        #expect(try rows(table.text) == table.rows)
        #expect(try CSVTable(Array(table.text.utf8)).columns == ["room", "name"])
    }

    static let mistakes: [(text: String, line: Int, words: String)] = [
        ("", 1, "empty"), ("\n\n", 1, "empty"), ("room,room\nHall,h\n", 1, "'room' is there twice"),
        ("room,name\nHall\n", 2, "1 cells"), ("room,name\n\nHall,h,i\n", 3, "3 cells"),
        ("room,name\nHall,h\n\"Bath,b\nAttic,a\n", 3, "not closed"), ("room,name\n\"Hall\"x,h\n", 2, "closing"),
        ("room,name\n\"a\nb\",h\nBath\n", 4, "1 cells"),
    ]

    @Test(arguments: mistakes) func `A mistake is named with its line`(
        mistake: (text: String, line: Int, words: String)
    ) throws {
        let problem = try problem(Array(mistake.text.utf8))
        #expect(problem.line == mistake.line)
        #expect(problem.reason.contains(mistake.words), "\(problem.reason)")
    }

    @Test func `A table in another encoding is refused with the line and the remedy`() throws {
        let problem = try problem(Array("room\nHall\nK".utf8) + [0xFC] + Array("che\n".utf8))
        #expect(problem.line == 3)
        #expect(problem.reason.contains("CSV UTF-8"))
    }

    @Test func `A cell that is empty, and one of a column that is missing, are no cell`() throws {
        let table = try CSVTable(Array("Room,NAME\nHall,\n".utf8))
        #expect(table.cell("room", of: table.rows[0]) == "Hall")
        #expect(table.cell("name", of: table.rows[0]) == nil)
        #expect(table.cell("password", of: table.rows[0]) == nil)
    }
}
