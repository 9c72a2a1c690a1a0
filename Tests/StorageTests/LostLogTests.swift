import Base
import Foundation
import Regions
import Testing

@testable import Storage

/// A clean-up removes the log of the database under the running service.
@Suite struct LostLogTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func remove(_ suffix: String) throws {
        try FileManager.default.removeItem(atPath: directory.database + suffix)
    }

    /// Edits the file without its log, as another process does: in this one, SQLite would know the log that is gone.
    private func editFile(of tracker: String, _ changes: [RegionChange]) throws {
        let other = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: directory.database, toPath: other.database)
        // The service holds the file, so that closing does not copy the new log into it.
        let service = try Database(path: other.database)
        _ = try service.schemaVersion()
        try StoreEditor(directory: other.path).edit(tracker, changes)
        try FileManager.default.copyItem(atPath: other.database + "-wal", toPath: directory.database + "-wal")
        _ = try service.schemaVersion()
    }

    /// What a start after a kill finds.
    private func afterKill() throws -> Harness {
        let copy = try directory.copy()
        kept.append(copy)
        let store = Harness(copy.path)
        store.send(.window(99))
        return store
    }

    private final class Copies { var all: [TemporaryDirectory] = [] }
    private let copies = Copies()
    private var kept: [TemporaryDirectory] {
        get { copies.all }
        nonmutating set { copies.all = newValue }
    }

    @Test(arguments: [["-wal"], ["-shm"], ["-wal", "-shm"]])
    func `What was decided before survives a kill, and so does what is decided after`(removed: [String]) throws {
        let store = Harness(directory.path)
        store.send(.window(1), .commit((1...8).map { .message(message("\($0)")) }))
        store.send(.commit([.regions(tracker: "t", [region("Hall")]), .presence(presence([7]))]))
        for suffix in removed { try remove(suffix) }
        store.pass(.seconds(2))
        #expect(store.events.notices.count == 1)
        #expect(store.events.notices.first?.contains("was removed while the state was open") == true)
        #expect(!store.events.isStateLost && store.events.troubles.isEmpty)
        let first = try afterKill()
        #expect(first.events.delivered.map(\.text) == (1...8).map { "\($0)" })
        #expect(first.snapshot?.presence?.state == [7])
        #expect(first.snapshot?.regions["t"] == [region("Hall")])
        store.send(.commit([.message(message("9"))]), .acknowledged(1))
        store.pass(.seconds(3))
        #expect(try afterKill().events.delivered.map(\.text) == (2...9).map { "\($0)" })
        #expect(store.events.notices.count == 1, "once")
        #expect(directory.names.filter { $0.contains(".new") || $0.contains(".copy") }.isEmpty)
        // Rows keep their numbers, by which the broker's client acknowledges them.
        #expect(store.events.delivered.map(\.text) == ["1", "2"])
    }

    @Test(arguments: [[""], ["", "-wal", "-shm"]])
    func `A file that was removed is noticed although nothing is written, and the state is written anew`(
        removed: [String]
    ) throws {
        let store = Harness(directory.path)
        store.send(.window(1), .commit([.regions(tracker: "t", [region("Hall")])]))
        for suffix in removed { try remove(suffix) }
        store.pass(.seconds(3))
        store.pass(.seconds(1))
        #expect(store.events.isStateLost)
        // What the core is asked for then.
        store.send(.commit([.regions(tracker: "t", [region("Hall")])]))
        #expect(try afterKill().snapshot?.regions["t"] == [region("Hall")])
    }

    @Test func `A commit right after the clean-up is written where a start finds it`() throws {
        let store = Harness(directory.path)
        store.send(.window(9))
        for suffix in ["-wal", "-shm"] { try remove(suffix) }
        store.send(.commit([.message(message("1"))]))
        #expect(try afterKill().events.delivered.map(\.text) == ["1"])
    }

    @Test func `While the disk is full the state stays in the open file, and is written when there is room`() throws {
        let disk = FaultySQLite()
        let store = Harness(directory.path) { $0.vfs = disk.name }
        store.send(.commit([.message(message("1"))]))
        for suffix in ["-wal", "-shm"] { try remove(suffix) }
        disk.set(.diskFull)
        store.pass(.seconds(2))
        #expect(store.events.troubles.count == 1)
        disk.set(.none)
        store.pass(.seconds(1))
        #expect(store.events.notices.count == 1)
        #expect(store.events.recoveries.count == 1)
        #expect(try afterKill().events.delivered.map(\.text) == ["1"])
    }

    @Test func `However long the disk is full, the only copy of what the removed log had stays open`() throws {
        let disk = FaultySQLite()
        let store = Harness(directory.path) { $0.vfs = disk.name }
        store.send(.commit([.message(message("1"))]))
        for suffix in ["-wal", "-shm"] { try remove(suffix) }
        disk.set(.diskFull)
        for _ in 0..<20 { store.pass(.seconds(120)) }
        disk.set(.none)
        store.pass(.seconds(600))
        #expect(store.events.recoveries.count == 1)
        #expect(try afterKill().events.delivered.map(\.text) == ["1"])
    }

    /// The command line counts on from the last number in the file, which lacks what only the log had.
    @Test
    func
        `An edit that got the number of one in the removed log is taken as well, and one that was taken before is not`()
        throws
    {
        let tracker = "owntracks/gw/hall"
        try StoreEditor(directory: directory.path).edit(tracker, [.remove(rid: "1")])
        let store = Harness(directory.path)
        #expect(store.send().isStateLost == false)
        #expect(store.snapshot?.edits.map(\.id) == [1])
        // Only the log has that the first is taken, the second written and taken, and the third written.
        store.send(.commit([.editsTaken(tracker: tracker, upTo: 1)]))
        try StoreEditor(directory: directory.path).edit(tracker, [.remove(rid: "2")])
        #expect(store.pass(.seconds(2)).edits.map(\.id) == [2])
        store.send(.commit([.editsTaken(tracker: tracker, upTo: 2)]))
        try StoreEditor(directory: directory.path).edit("another", [.remove(rid: "3")])
        #expect(store.pass(.seconds(2)).edits.map(\.id) == [3])
        for suffix in ["-wal", "-shm"] { try remove(suffix) }
        try editFile(of: tracker, [.remove(rid: "4"), .remove(rid: "5")])
        let edits = store.pass(.seconds(2)).edits
        #expect(edits.map(\.change) == [.region(.remove(rid: "4")), .region(.remove(rid: "5"))])
        #expect(edits.map(\.id) == [4, 5], "later than all that were taken")
        #expect(store.events.notices.count == 1)
        #expect(try afterKill().snapshot?.edits.map(\.id) == [3, 4, 5])
    }

    @Test func `A start takes the new file if the former one is gone, without the log of the former`() throws {
        let store = Harness(directory.path)
        store.send(.commit([.message(message("1"))]))
        store.stop()
        let names = [("", ".new")]
        for (from, to) in names {
            try FileManager.default.moveItem(
                atPath: directory.database + from, toPath: directory.database + to)
        }
        try Data("not a log".utf8).write(to: URL(fileURLWithPath: directory.database + "-wal"))
        #expect(Harness(directory.path).send(.window(9)).delivered.map(\.text) == ["1"])
    }
}
