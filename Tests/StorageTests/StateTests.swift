import Base
import Beacon
import Regions
import Synchronization
import Testing

@testable import Storage

@Suite struct StateTests {
    let directory: TemporaryDirectory
    let tracker = "owntracks/gw/hall"

    init() throws { directory = try TemporaryDirectory() }

    @Test func `regions come back as they were, in their order`() {
        var full = Region(
            rid: "r\0id",
            description: RegionDescription(name: "-Küche|1|2", pattern: BeaconPattern(uuid: beacon.uuid, minor: 3)),
            timestamp: -5, coordinates: Coordinates(latitude: -0.0, longitude: 179.999999), radius: 12.5,
            leaveRule: .after(.milliseconds(1500)), enterRSSI: RSSI(reported: -70), leaveRSSI: RSSI(reported: -127),
            extensionMembers: "{\"a\":[1,null,\"ü\"]}")
        var automatic = region("automatic")
        automatic.leaveRule = .auto
        let place = Region(rid: "", description: RegionDescription(name: "+follow", pattern: nil), timestamp: .max)
        let regions = [place, full, automatic, region("z"), region("a")]
        let first = Harness(directory.path)
        first.send(.commit([.regions(tracker: tracker, regions), .regions(tracker: "other", [full])]))
        first.stop()
        let second = Harness(directory.path)
        second.send()
        full.coordinates.latitude = 0
        #expect(second.snapshot?.regions == [ExactString(tracker): regions, "other": [full]])
    }

    @Test func `a new set of regions replaces the tracker's old one and no other's`() {
        let store = Harness(directory.path)
        store.send(
            .commit([.regions(tracker: "a", [region("1"), region("2")]), .regions(tracker: "b", [region("3")])]))
        store.send(.commit([.regions(tracker: "a", [region("2")])]))
        store.stop()
        let second = Harness(directory.path)
        second.send()
        #expect(second.snapshot?.regions == ["a": [region("2")], "b": [region("3")]])
    }

    @Test func `presence comes back with the boot whose clock it was read from`() {
        let first = Harness(directory.path, boot: "then")
        first.send(.commit([.presence(presence([1, 2]))]))
        first.stop()
        let second = Harness(directory.path, boot: "now")
        second.send()
        var expected = presence([1, 2])
        expected.boot = "then"
        #expect(second.snapshot?.presence == expected)
    }

    @Test func `changes of presence come back in their order, and a whole one takes their place`() {
        let first = Harness(directory.path)
        first.send(.commit([.presence(presence([1]))]))
        for number: UInt8 in 2...4 { first.send(.commit([.presenceChange([number])])) }
        first.stop()
        let second = Harness(directory.path)
        second.send()
        #expect(second.snapshot?.presence?.state == [1])
        #expect(second.snapshot?.presence?.changes == [[2], [3], [4]])
        second.send(.commit([.presenceChange([5])]))
        second.stop()
        let third = Harness(directory.path)
        third.send()
        #expect(third.snapshot?.presence?.changes == [[2], [3], [4], [5]])
        third.send(.commit([.presence(presence([6]))]))
        third.send(.commit([.presenceChange([7])]))
        third.stop()
        let fourth = Harness(directory.path)
        fourth.send()
        #expect(fourth.snapshot?.presence?.state == [6])
        #expect(fourth.snapshot?.presence?.changes == [[7]])
    }

    @Test func `a change after a checkpoint that waits goes to the disk with it, after it`() {
        let store = Harness(directory.path)
        store.send(.commit([.presence(presence([1]))]))
        store.send(.commit([.presenceChange([2])]))
        store.send(.checkpoint(presence([3])))
        store.send(.commit([.presenceChange([4])]))
        #expect(store.worker.counters.transactions == 3)
        store.stop()
        let second = Harness(directory.path)
        second.send()
        #expect(second.snapshot?.presence?.state == [3])
        #expect(second.snapshot?.presence?.changes == [[4]])
    }

    @Test func `values are kept until they are forgotten`() {
        let store = Harness(directory.path)
        store.send(.commit([.value(key: "mode", [1]), .value(key: "configuration", [2])]))
        store.send(.commit([.value(key: "mode", nil)]))
        store.stop()
        let second = Harness(directory.path)
        second.send()
        #expect(second.snapshot?.values == ["configuration": [2]])
    }

    @Test func `A large value is made when it is written, and not at all if a newer one came before`() {
        let made = Mutex(0)
        let value = { (number: UInt8) -> StoreChange in
            .madeValue(key: "learned") {
                made.withLock { $0 += 1 }
                return [number]
            }
        }
        let store = Harness(directory.path)
        store.send(.commit([value(1)]), .commit([value(2)]))
        #expect(made.withLock { $0 } == 1)
        store.stop()
        let second = Harness(directory.path)
        second.send()
        #expect(second.snapshot?.values == ["learned": [2]])
    }

    @Test func `a new directory says that it is new, one that was used does not`() {
        let first = Harness(directory.path)
        #expect(first.send().opened?.isNew == true)
        first.send(.commit([.value(key: "mode", [1])]))
        first.stop()
        #expect(Harness(directory.path).send().opened?.isNew == false)
    }

    @Test func `the state file is for its owner alone`() throws {
        let store = Harness(directory.path)
        store.send()
        #expect(try FileManagerShim.mode(of: directory.database) == 0o600)
        #expect(try FileManagerShim.mode(of: directory.database + "-wal") == 0o600)
    }

    // MARK: Wear of the card

    @Test func `in a still house a checkpoint is written once a minute, however often it comes`() {
        let disk = FaultySQLite()
        let store = Harness(directory.path) { $0.vfs = disk.name }
        store.send(.commit([.presence(presence([0]))]))
        let (transactions, syncs, bytes) = (store.worker.counters.transactions, disk.syncs, disk.bytesWritten)
        for second in 0..<3600 {
            store.send(.checkpoint(presence([UInt8(second % 256)])))
            store.clock.advance(by: .seconds(1))
        }
        let written = store.worker.counters.transactions - transactions
        #expect(written <= 60)
        print(
            "still house, one hour: \(written) transactions, \(disk.syncs - syncs) fsyncs, \(disk.bytesWritten - bytes) bytes"
        )
        #expect(disk.syncs - syncs <= 70)
    }

    @Test func `a house without news writes nothing`() {
        let disk = FaultySQLite()
        let store = Harness(directory.path) { $0.vfs = disk.name }
        store.send(.window(10))
        let operations = disk.operations
        for _ in 0..<1000 { store.pass(.seconds(2)) }
        #expect(disk.operations == operations)
    }

    @Test func `a checkpoint goes with a commit at no cost, and the commit's own state is not overwritten by it`() {
        let store = Harness(directory.path)
        store.send(.commit([.presence(presence([1]))]))
        store.send(.checkpoint(presence([2])))
        #expect(store.worker.counters.transactions == 1)
        store.send(.commit([.message(message("x"))]))
        #expect(store.worker.counters.transactions == 2)
        store.send(.checkpoint(presence([3])))
        store.send(.commit([.presence(presence([4]))]))
        store.pass(.seconds(120))
        #expect(store.worker.counters.transactions == 3)
        store.stop()
        let second = Harness(directory.path)
        second.send()
        #expect(second.snapshot?.presence?.state == [4])
    }

    @Test func `a checkpoint that waits is written at the end`() {
        let store = Harness(directory.path)
        store.send(.commit([.presence(presence([1]))]))
        store.send(.checkpoint(presence([2])))
        store.stop()
        let second = Harness(directory.path)
        second.send()
        #expect(second.snapshot?.presence?.state == [2])
    }

    // MARK: History

    private func history(_ filter: HistoryFilter) throws -> [String] {
        var names: [String] = []
        try StoreReader(directory: directory.path).forEachTransition(filter) {
            names.append("\($0.name)\($0.timestamp)")
            return true
        }
        return names
    }

    @Test func `history is read while the store runs, filtered, the newest of it`() throws {
        let store = Harness(directory.path)
        store.send(.commit((1...6).map { .history(entry($0 % 2 == 0 ? "even" : "odd", at: $0)) }))
        #expect(try history(HistoryFilter()) == ["odd1", "even2", "odd3", "even4", "odd5", "even6"])
        #expect(try history(HistoryFilter(region: "even")) == ["even2", "even4", "even6"])
        #expect(try history(HistoryFilter(region: "rid-odd", since: 3)) == ["odd3", "odd5"])
        #expect(try history(HistoryFilter(since: 2, until: 4)) == ["even2", "odd3"])
        #expect(try history(HistoryFilter(limit: 2)) == ["odd5", "even6"])
        #expect(try history(HistoryFilter(tracker: "other")) == [])
    }

    @Test func `history older than asked for is forgotten, what has no time yet is not`() throws {
        let store = Harness(directory.path)
        store.send(
            .commit([
                .history(entry("a", at: 10)), .history(entry("b", at: 20)),
                .history(entry("c", at: 0, stamp: .provisional)),
            ]))
        store.send(.pruneHistory(before: 20))
        #expect(try history(HistoryFilter()) == ["b20", "c0"])
    }

    @Test func `a reader without a limit gets all that the store keeps`() {
        let settings = Harness(directory.path).settings
        #expect(HistoryFilter().limit >= settings.historyLimit + settings.historyLimit / 10)
    }

    @Test func `history has a limit whatever its age, and dropping is counted`() throws {
        let store = Harness(directory.path) { $0.historyLimit = 20 }
        for number in 1...30 { store.send(.commit([.history(entry("x", at: Int64(number)))])) }
        store.send(.commit([]))
        let count = try history(HistoryFilter()).count
        #expect(count >= 20 && count <= 23)
        #expect(store.worker.counters.dropped.history == UInt64(30 - count))
    }
}
