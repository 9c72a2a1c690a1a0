import Base
import Regions
import Testing

@testable import Storage

@Suite struct StampingTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func instant(_ seconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: seconds * 1_000_000_000)
    }

    /// The wall clock that shows `epoch` at the boot's zero.
    private func clock(_ epoch: Int64) -> WallClock {
        WallClock(epochOffset: epoch * 1_000_000_000, isKnown: true)
    }

    private func provisional(_ text: String, _ seconds: Int64, topic: String = "event") -> StoreChange {
        .message(message(text, topic: topic, stamp: .provisional, at: instant(seconds)))
    }

    @Test func `a message made before the clock was set waits, and goes with the right time when it is`() {
        let store = Harness(directory.path)
        store.send(.window(9), .commit([provisional("at ?", 60)]))
        #expect(store.events.delivered.isEmpty)
        #expect(store.worker.counters.unstampedRows == 1)
        let rows = store.send(.clockIsKnown(clock(1_700_000_000))).delivered
        #expect(rows.map(\.text) == ["at 1700000060"])
        #expect(rows.map(\.publication.stamp) == [.exact])
        #expect(store.worker.counters.unstampedRows == 0)
    }

    @Test func `what comes later in the same topic waits behind it, other topics do not`() {
        let store = Harness(directory.path)
        store.send(
            .window(9),
            .commit([
                provisional("1 ?", 60), .message(message("2", topic: "event")),
                .message(message("3", topic: "discovery")),
            ]))
        #expect(store.events.delivered.map(\.text) == ["3"])
        #expect(store.send(.clockIsKnown(clock(1000))).delivered.map(\.text) == ["1 1060", "2"])
    }

    @Test func `a repeat after a crash has the same time, though the clock was stepped in between`() {
        let first = Harness(directory.path)
        first.send(.window(9), .commit([provisional("?", 60)]), .clockIsKnown(clock(1000)))
        first.send(.clockIsKnown(clock(5000)))
        let second = Harness(directory.path + "/.", boot: "boot-1")
        #expect(second.send().unavailable.count == 1, "the first still runs")
        first.stop()
        second.pass(.seconds(1))
        #expect(second.send(.window(9), .clockIsKnown(clock(9000))).delivered.map(\.text) == ["1060"])
    }

    @Test func `a crash between the setting of the clock and the stamping changes nothing`() {
        let first = Harness(directory.path)
        first.send(.clockIsKnown(clock(1000)))
        // A message that was on its way when the clock became known.
        first.send(.window(9), .commit([provisional("?", 60)]))
        #expect(first.events.delivered.map(\.text) == ["1060"])
    }

    @Test func `messages of a boot that never knew the time are reckoned from the next boot that does`() {
        let first = Harness(directory.path, boot: "boot-1")
        first.send(.commit([provisional("a ?", 100), provisional("b ?", 400)]))
        first.stop()
        let second = Harness(directory.path, boot: "boot-2")
        second.send(.commit([provisional("c ?", 50)]))
        second.stop()
        let third = Harness(directory.path, boot: "boot-3")
        third.send(.window(9), .clockIsKnown(clock(10_000)))
        #expect(third.events.delivered.map(\.text) == ["a ~9650", "b ~9950", "c ~10000"])
        #expect(third.events.delivered.map(\.publication.stamp) == [.estimated, .estimated, .estimated])
    }

    @Test func `history is stamped with the messages`() throws {
        let store = Harness(directory.path)
        store.send(.commit([.history(entry("Hall", at: 0, stamp: .provisional, happened: instant(60)))]))
        store.send(.clockIsKnown(clock(1000)))
        store.stop()
        var entries: [PastTransition] = []
        try StoreReader(directory: directory.path).forEachTransition(HistoryFilter()) {
            entries.append($0)
            return true
        }
        #expect(entries.map(\.timestamp) == [1060])
        #expect(entries.map(\.stamp) == [.exact])
    }

    @Test func `a message without a time in it waits all the same, and goes as it is`() {
        let store = Harness(directory.path)
        store.send(.window(9), .commit([provisional("no time", 60), provisional("?", 61)]))
        store.send(.clockIsKnown(clock(1000)))
        #expect(store.events.delivered.map(\.text) == ["no time", "1061"])
    }

    /// Boots by number with the offset of their clock and the last sign of life; an instant of one;
    /// and what it is in epoch seconds.
    struct Case: CustomTestStringConvertible {
        let what: String
        let boots: [(offset: Int64?, lastAlive: Int64)]
        let boot: Int
        let seconds: Int64
        let expected: Int64?
        let isEstimated: Bool
        var testDescription: String { what }
    }

    @Test(arguments: [
        Case(what: "known clock", boots: [(1000, 50)], boot: 0, seconds: 20, expected: 1020, isEstimated: false),
        Case(what: "clock unknown so far", boots: [(nil, 50)], boot: 0, seconds: 20, expected: nil, isEstimated: false),
        Case(
            what: "known in the next boot", boots: [(nil, 50), (1000, 9)], boot: 0, seconds: 20, expected: 970,
            isEstimated: true),
        Case(
            what: "two boots without", boots: [(nil, 50), (nil, 100), (1000, 9)], boot: 0, seconds: 50, expected: 900,
            isEstimated: true),
        Case(
            what: "never before the boot before", boots: [(880, 40), (nil, 100), (1000, 9)], boot: 1, seconds: 10,
            expected: 920, isEstimated: true),
        Case(
            what: "an instant after the last sign of life", boots: [(nil, 50), (1000, 9)], boot: 0, seconds: 60,
            expected: 1000, isEstimated: true),
    ])
    func `instants of other boots become wall time`(example: Case) {
        let rows = example.boots.enumerated().map { number, boot in
            BootRow(number: Int64(number), id: "boot-\(number)", wallClock: boot.offset.map { clock($0) })
        }
        let alive = example.boots.enumerated().map { ("boot-\($0.offset)", instant($0.element.lastAlive)) }
        let timeline = BootTimeline(rows.reversed(), lastAlive: Dictionary(uniqueKeysWithValues: alive))
        let time = timeline.epochSeconds(of: instant(example.seconds), boot: "boot-\(example.boot)")
        #expect(time?.seconds == example.expected)
        #expect(time?.isEstimated ?? false == example.isEstimated)
    }

    @Test(
        arguments: [
            (0, 0), (1_999_999_999, 1), (-1, -1), (-1_000_000_000, -1), (-1_000_000_001, -2),
            (Int64.max, 9_223_372_036),
        ] as [(Int64, Int64)])
    func `epoch seconds are rounded down`(nanoseconds: Int64, seconds: Int64) {
        #expect(WallClock(epochOffset: nanoseconds, isKnown: true).epochSeconds(at: .zero) == seconds)
    }
}
