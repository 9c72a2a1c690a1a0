import Base
import System
import Testing

/// Local time: a value that the shell makes and the cores read.
@Suite struct LocalTimeTests {
    /// 2026-03-29T01:00:00Z and 2026-10-25T01:00:00Z
    private static let (spring, autumn): (Int64, Int64) = (1_774_746_000, 1_792_890_000)

    /// Central Europe in 2026.
    private static func secondsEast(at epoch: Int64) -> Int64 { (spring..<autumn).contains(epoch) ? 7200 : 3600 }

    private func clock(around moment: Int64, _ secondsEast: (Int64) -> Int64 = Self.secondsEast) -> WallClock {
        var clock = WallClock(epochOffset: moment * 1_000_000_000, isKnown: true)
        clock.utcOffset = UTCOffset(around: moment, secondsEast)
        return clock
    }

    private static let times: [(moment: Int64, later: Int, text: String)] = [
        (spring - 1, 0, "2026-03-29T01:59:59+01:00"), (spring - 1, 1, "2026-03-29T03:00:00+02:00"),
        (spring, 0, "2026-03-29T03:00:00+02:00"), (autumn - 86_400, 86_400, "2026-10-25T02:00:00+01:00"),
        (autumn - 86_400, 86_399, "2026-10-25T02:59:59+02:00"), (spring - 86_400 * 60, 0, "2026-01-28T02:00:00+01:00"),
    ]

    @Test(arguments: times)
    func `Local time follows the change that is ahead`(row: (moment: Int64, later: Int, text: String)) {
        let instant = MonotonicInstant.zero.advanced(by: .seconds(row.later))
        #expect(clock(around: row.moment).localTime(at: instant)?.description == row.text)
    }

    @Test func `An offset may be west of UTC, and part of an hour`() {
        #expect(clock(around: 0) { _ in -12_600 }.localTime(at: .zero)?.description == "1969-12-31T20:30:00-03:30")
    }

    @Test func `A day begins at local midnight, also on the day of a change`() {
        // 2026-03-28T23:00:00Z and 2026-10-24T22:00:00Z
        #expect(clock(around: Self.spring + 7200).dayBegin(at: .zero) == Self.spring - 7200)
        #expect(clock(around: Self.autumn + 7200).dayBegin(at: .zero) == Self.autumn - 10_800)
    }

    @Test func `Without the time of day there is no local time`() {
        let clock = WallClock(epochOffset: 0, isKnown: false)
        #expect(clock.localTime(at: .zero) == nil && clock.dayBegin(at: .zero) == nil)
    }

    @Test func `The system's offset is that of the C library`() {
        #expect((-86_400...86_400).contains(Clocks.secondsEast(at: 1_774_746_000)))
        #expect(Clocks.secondsEast(at: 1_774_746_000) % 900 == 0)
    }
}
