import Base
import Regions
import Testing

@testable import Storage

/// How many rows a change of regions writes, of a tracker with the regions a, b, c and d.
@Suite struct RegionRowTests {
    struct Change: CustomTestStringConvertible, Sendable {
        let name: String
        let regions: [Region]
        let rows: Int64
        var testDescription: String { name }
    }

    static let tracker: ExactString = "owntracks/gw/hall"
    static let before = ["a", "b", "c", "d"].map { region($0) }

    static let changes = [
        Change(name: "the same regions", regions: before, rows: 0),
        Change(name: "another leave rule of one", regions: replaced("b") { $0.leaveRule = .auto }, rows: 1),
        Change(name: "another time stamp of one", regions: replaced("d") { $0.timestamp += 1 }, rows: 1),
        Change(name: "one more", regions: before + [region("e")], rows: 1),
        Change(name: "the first removed", regions: Array(before.dropFirst()), rows: 1),
        Change(name: "one removed, one more", regions: Array(before.dropLast()) + [region("e")], rows: 2),
        Change(name: "the first becomes the last", regions: Array(before.dropFirst()) + [before[0]], rows: 1),
        Change(name: "the last becomes the first", regions: [before[3]] + before.dropLast(), rows: 3),
        Change(name: "all removed", regions: [], rows: 4),
    ]

    private static func replaced(_ name: String, _ change: (inout Region) -> Void) -> [Region] {
        before.map { old in
            var region = old
            if old.rid == "rid-\(name)" { change(&region) }
            return region
        }
    }

    private func rowsWritten(_ database: borrowing Database) throws -> Int64 {
        try #require(try database.value("SELECT total_changes()")?.asInteger)
    }

    @Test(arguments: changes)
    func `only what a change of regions differs in is written`(_ change: Change) throws {
        let database = try Database(path: ":memory:")
        try Migrations.run(on: database, from: 0)
        try database.replaceRegions(of: "another", by: Self.before)
        try database.replaceRegions(of: Self.tracker, by: Self.before)
        let written = try rowsWritten(database)
        try database.replaceRegions(of: Self.tracker, by: change.regions)
        #expect(try rowsWritten(database) - written == change.rows)
        let stored = try StateQueries.regions(database)
        #expect(stored[Self.tracker] ?? [] == change.regions)
        #expect(stored["another"] == Self.before)
    }

    @Test func `regions that come after removed ones stay behind the others`() throws {
        let database = try Database(path: ":memory:")
        try Migrations.run(on: database, from: 0)
        for regions in [["a", "b", "c"], ["b"], ["b", "d"], ["b", "d", "a"]] {
            try database.replaceRegions(of: Self.tracker, by: regions.map { region($0) })
        }
        #expect(try StateQueries.regions(database)[Self.tracker] == ["b", "d", "a"].map { region($0) })
    }

    @Test func `a damaged row is written again, although its region did not change`() throws {
        let database = try Database(path: ":memory:")
        try Migrations.run(on: database, from: 0)
        try database.replaceRegions(of: Self.tracker, by: Self.before)
        try database.run("UPDATE region SET digest = digest + 1 WHERE rid = 'rid-b'")
        try database.replaceRegions(of: Self.tracker, by: Self.before)
        #expect(try StateQueries.regions(database)[Self.tracker] == Self.before)
    }

    @Test func `the names of columns follow from the cases`() {
        #expect(RegionRow.Column.names.suffix(4) == ["leave_after", "enter_rssi", "leave_rssi", "extension_members"])
    }

    @Test func `a query whose columns have other names is refused`() throws {
        enum Column: Int, ResultColumn { case first, second }
        let database = try Database(path: ":memory:")
        #expect(throws: DatabaseError.misnamed("SELECT 1 AS second, 2 AS first")) {
            try database.forEachRow(Query<Column>("SELECT 1 AS second, 2 AS first")) { _ in true }
        }
        var found: [SQLValue] = []
        try database.forEachRow(Query<Column>("SELECT 1 AS first, 2 AS second")) { row throws(DatabaseError) in
            found.append(row[.second])
            return true
        }
        #expect(found == [.integer(2)])
    }
}
