import Base
import Regions
import Testing

@testable import Storage

/// Locations in the history.
@Suite struct LocationHistoryTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func location(_ timestamp: Int64, stamp: WallStamp = .exact, tracker: String = "a") -> PastLocation {
        PastLocation(
            tracker: tracker, coordinates: Coordinates(latitude: 48.87069, longitude: 2.34916), accuracy: 10,
            trigger: "p",
            timestamp: timestamp, stamp: stamp, happened: MonotonicInstant(nanoseconds: timestamp * 1_000_000_000))
    }

    private func stored(_ filter: HistoryFilter = HistoryFilter()) throws -> [PastLocation] {
        var entries: [PastLocation] = []
        try StoreReader(directory: directory.path).forEachLocation(filter) {
            entries.append($0)
            return true
        }
        return entries
    }

    @Test func `Locations are kept in their order, as they were`() throws {
        let store = Harness(directory.path)
        store.send(.commit([.location(location(1)), .location(location(2))]))
        store.stop()
        let again = Harness(directory.path)
        again.send(.commit([.location(location(3))]))
        again.stop()
        #expect(try stored() == [location(1), location(2), location(3)])
    }

    @Test func `Locations of the last days are kept and older ones are not (iOS page)`() throws {
        let store = Harness(directory.path)
        store.send(.commit([100, 200, 300].map { .location(location($0)) }))
        store.send(.pruneHistory(before: 200))
        store.stop()
        #expect(try stored().map(\.timestamp) == [200, 300])
    }

    @Test func `Locations have a limit of their own`() throws {
        let store = Harness(directory.path) { $0.historyLimit = 10 }
        for number in 0..<30 as Range<Int64> { store.send(.commit([.location(location(number))])) }
        store.stop()
        let kept = try stored().map(\.timestamp)
        #expect(kept.last == 29)
        #expect((10...12).contains(kept.count))
    }

    @Test func `A reader chooses by tracker and time`() throws {
        let store = Harness(directory.path)
        store.send(
            .commit([.location(location(1)), .location(location(2, tracker: "b")), .location(location(3))]))
        store.stop()
        #expect(try stored(HistoryFilter(tracker: "a")).map(\.timestamp) == [1, 3])
        #expect(try stored(HistoryFilter(since: 2, until: 3)).map(\.timestamp) == [2])
        #expect(try stored(HistoryFilter(limit: 1)).map(\.timestamp) == [3])
    }

    @Test func `A location that waited for the clock gets its time`() throws {
        let store = Harness(directory.path)
        var early = location(0, stamp: .provisional)
        early.happened = MonotonicInstant(nanoseconds: 5_000_000_000)
        store.send(.commit([.location(early)]))
        store.send(.clockIsKnown(WallClock(epochOffset: 1_700_000_000_000_000_000, isKnown: true)))
        store.stop()
        #expect(try stored().map(\.timestamp) == [1_700_000_005])
        #expect(try stored().map(\.stamp) == [.exact])
    }

    @Test func `A state of an earlier version has no locations, and gets the table`() throws {
        do {
            let database = try Database(path: directory.database)
            try Migrations.run(on: database, from: 0, to: Int64(LocationRow.schemaVersion - 1))
        }
        #expect(try stored() == [])
        let store = Harness(directory.path)
        store.send(.commit([.location(location(1))]))
        store.stop()
        #expect(try stored() == [location(1)])
    }
}
