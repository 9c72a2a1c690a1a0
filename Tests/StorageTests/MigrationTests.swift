import Base
import Foundation
import Regions
import Testing

@testable import Storage

/// Files of earlier schemas. `Fixtures/state-v1.db` is of the first one, as its own steps and rows made it;
/// it is never written again.
@Suite struct MigrationTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func put(_ fixture: String) throws {
        let url = try #require(Bundle.module.url(forResource: fixture, withExtension: "db", subdirectory: "Fixtures"))
        try FileManager.default.copyItem(atPath: url.path, toPath: directory.database)
    }

    @Test func `a file of the first schema is brought up to date with everything in it`() throws {
        try put("state-v1")
        let store = Harness(directory.path, boot: "later boot")
        store.send(.window(100))
        let snapshot = try #require(store.snapshot)
        #expect(store.events.notices.isEmpty)
        #expect(snapshot.regions["owntracks/gw/hall"] == [region("Hall"), region("Attic")])
        #expect(snapshot.presence?.state == [1, 2, 3])
        #expect(snapshot.presence?.boot == "boot-1")
        #expect(snapshot.values == ["monitoring": [1]])
        #expect(store.events.delivered.map(\.text) == ["{\"n\":2}"])
        store.send(.clockIsKnown(WallClock(epochOffset: 1_700_000_000_000_000_000, isKnown: true)))
        #expect(store.events.delivered.map(\.text) == ["{\"n\":2}", "{\"tst\":~1700000000}"])
        store.stop()
        let reader = try StoreReader(directory: directory.path)
        let summary = try reader.summary()
        #expect(summary.schemaVersion == Migrations.latest)
        #expect(summary.refused.map(\.reason) == ["not authorised"])
        #expect(summary.transitions == 1)
    }

    @Test func `the table of occupied regions, which nothing reads, is dropped`() throws {
        try put("state-v1")
        Harness(directory.path).begin()
        let database = try Database(path: directory.database)
        #expect(try database.value("SELECT count(*) FROM sqlite_master WHERE name = 'inside'") == .integer(0))
    }

    @Test func `a file of the first schema can be read before the daemon has touched it`() throws {
        try put("state-v1")
        let reader = try StoreReader(directory: directory.path)
        #expect(try reader.regions()["owntracks/gw/hall"]?.regions.map(\.rid) == ["rid-Hall", "rid-Attic"])
        #expect(try reader.summary().schemaVersion == 1)
    }

    @Test func `the schema that the steps make is the one that this program seals, at each version`() throws {
        for version in 1...Migrations.latest {
            let database = try Database(path: ":memory:")
            try Migrations.run(on: database, from: 0, to: version)
            #expect(try Inspection.examine(database) == .sound(version: version))
        }
    }

    @Test func `a file of a newer schema is left alone, and it is said what to do`() throws {
        let first = Harness(directory.path)
        first.send(.commit([.message(message("x"))]))
        first.stop()
        do {
            let database = try Database(path: directory.database)
            try database.transaction { () throws(DatabaseError) in
                try database.run("CREATE TABLE later (id INTEGER PRIMARY KEY)")
                try database.run("PRAGMA user_version = 99")
                try WriterVersion.record("7.1.0", in: database)
                try Inspection.seal(database, version: 99)
            }
        }
        let before = try FileManagerShim.bytes(of: directory.database)
        let store = Harness(directory.path)
        store.send(.commit([.message(message("y"))]))
        let expected = StoreError.newerSchema(
            path: directory.database, found: 99, known: Migrations.latest, writer: "7.1.0")
        #expect(store.events.unavailable.map(\.error) == [expected])
        #expect(expected.description.contains("newer version, 7.1.0 (schema 99, this program knows"))
        store.stop()
        #expect(try FileManagerShim.bytes(of: directory.database) == before)
        #expect(throws: expected) { _ = try StoreReader(directory: directory.path) }
        #expect(throws: expected) { _ = try StoreEditor(directory: directory.path) }
    }

    @Test func `the file names the program that last wrote it, and the one before that no more`() throws {
        for version in ["1.0.0", "1.1.0"] {
            let store = Harness(directory.path) { $0.program = version }
            store.send(.commit([.message(message("x"))]))
            store.stop()
            #expect(WriterVersion.read(try Database(path: directory.database)) == version)
        }
    }

    @Test(arguments: ["", "a b", "1.0.0\n", String(repeating: "1", count: 33)])
    func `what cannot be a version is not printed`(text: String) throws {
        Harness(directory.path).begin()
        let database = try Database(path: directory.database)
        try database.insert(SettingRow(key: "store.program", value: Array(text.utf8)))
        #expect(WriterVersion.read(database) == nil)
    }

    @Test func `a version number that was merely damaged is damage, not a newer program`() throws {
        let first = Harness(directory.path)
        first.send(.commit([.message(message("x"))]))
        first.stop()
        do {
            let database = try Database(path: directory.database)
            try database.run("PRAGMA user_version = 99")
        }
        let store = Harness(directory.path)
        #expect(store.send(.window(9)).delivered.map(\.text) == ["x"])
        #expect(store.events.notices.count == 1)
    }
}
