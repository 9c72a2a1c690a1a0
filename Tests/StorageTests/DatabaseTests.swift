import Base
import Glibc
import Testing

@testable import Storage

@Suite struct DatabaseTests {
    private func memory() throws -> Database { try Database(path: ":memory:") }

    @Test func `values come back as they went in, of the same type`() throws {
        let database = try memory()
        try database.run("CREATE TABLE t (a, b, c, d, e, f, g)")
        let values: [SQLValue] = [
            .null, .integer(.min), .real(0.1), .text("a\0bü"), .text(""), .blob([0, 255]), .blob([]),
        ]
        try database.prepare("INSERT INTO t VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)").run(values)
        var found: [SQLValue] = []
        try database.forEachRow("SELECT * FROM t") { row throws(DatabaseError) in
            for column in 0..<row.columnCount { found.append(row[column]) }
            return true
        }
        #expect(found == values)
    }

    @Test func `an error names the statement and the code, never the values`() throws {
        let database = try memory()
        try database.run("CREATE TABLE t (a TEXT PRIMARY KEY)")
        try database.run("INSERT INTO t VALUES (?1)", .text("secret"))
        do {
            try database.run("INSERT INTO t VALUES (?1)", .text("secret"))
            Issue.record("no error")
        } catch {
            #expect(error.primaryCode == 19)
            #expect(error.code == 1555, "SQLITE_CONSTRAINT_PRIMARYKEY")
            #expect("\(error)".contains("INSERT INTO t"))
            #expect(!"\(error)".contains("secret"))
            #expect(!error.isPassing && !error.isDamage)
        }
    }

    @Test func `a transaction that throws leaves nothing behind, and the next one works`() throws {
        let database = try memory()
        try database.run("CREATE TABLE t (a)")
        #expect(throws: DatabaseError.self) {
            try database.transaction { () throws(DatabaseError) in
                try database.run("INSERT INTO t VALUES (1)")
                try database.run("INSERT INTO nowhere VALUES (1)")
            }
        }
        try database.transaction { () throws(DatabaseError) in try database.run("INSERT INTO t VALUES (2)") }
        #expect(try database.value("SELECT group_concat(a) FROM t") == .text("2"))
    }

    @Test func `the connection is what the guarantees rest on`() throws {
        let directory = try TemporaryDirectory()
        var notices: [Notice] = []
        let settings = Harness(directory.path).settings
        let database = try StoreFile.open(settings, notices: &notices)
        #expect(try database.value("PRAGMA journal_mode") == .text("wal"))
        #expect(try database.value("PRAGMA synchronous") == .integer(2), "FULL")
        #expect(try database.value("PRAGMA foreign_keys") == .integer(1))
        #expect(try database.value("PRAGMA trusted_schema") == .integer(0))
        #expect(try database.value("PRAGMA user_version") == .integer(Migrations.latest))
    }

    @Test func `a symbolic link is not followed, also where it was put after the file was looked at`() throws {
        let directory = try TemporaryDirectory()
        #expect(symlink("\(directory.path)/victim", directory.database) == 0)
        #expect(throws: DatabaseError.self) {
            try Database(path: directory.database).run("CREATE TABLE t (a)")
        }
        #expect(access("\(directory.path)/victim", F_OK) != 0)
    }

    @Test func `a writer that holds the file too long is an error that passes`() throws {
        let directory = try TemporaryDirectory()
        let one = try Database(path: directory.database, busyTimeout: .zero)
        try one.run("CREATE TABLE t (a)")
        let other = try Database(path: directory.database, busyTimeout: .zero)
        try one.run("BEGIN IMMEDIATE")
        do {
            try other.transaction { () throws(DatabaseError) in }
            Issue.record("no error")
        } catch {
            #expect(error.isBusy && error.isPassing)
        }
    }

    @Test(arguments: [
        ([SQLValue.text("a"), .text("b")], [SQLValue.text("ab"), .text("")]),
        ([.text("1")], [.integer(1)]),
        ([.text("a")], [.blob([97])]),
        ([.null], [.integer(0)]),
        ([.null], []),
        ([.real(1)], [.integer(1)]),
    ])
    func `rows that differ in type or border have different digests`(one: [SQLValue], other: [SQLValue]) {
        #expect(RowDigest.of(one) != RowDigest.of(other))
    }

    @Test func `the digest is FNV-1a, for ever: files depend on it`() {
        var digest = RowDigest()
        #expect(digest.value == 0xcbf2_9ce4_8422_2325)
        digest.add(.null)
        #expect(digest.value == 0xaf63_bd4c_8601_b7df, "of one zero byte")
        #expect(RowDigest.of([.real(-0.0), .real(.nan)]) == RowDigest.of([.real(0.0), .null]))
    }
}
