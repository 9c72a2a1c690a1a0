import Base
import Testing

@testable import Gateway

/// Which time counts as silence.
@Suite struct SilenceClockTests {
    private static func at(_ milliseconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
    }

    @Test func `An input that is no tick stops short of the first leave`() {
        var clock = SilenceClock()
        #expect(clock.instant(at: Self.at(500), before: Self.at(1_000)) == Self.at(500))
        let short = clock.instant(at: Self.at(5_000), before: Self.at(1_000))
        #expect(short == MonotonicInstant(nanoseconds: 999_999_999))
    }

    @Test func `An absence delays the leave that an input stops short of`() {
        var clock = SilenceClock()
        let short = clock.instant(at: Self.at(5_000), before: Self.at(1_000), absent: .seconds(3))
        #expect(short == MonotonicInstant(nanoseconds: 3_999_999_999))
        #expect(clock.instant(at: Self.at(6_000), before: Self.at(5_000), absent: .seconds(3)) == Self.at(6_000))
    }

    @Test func `Time does not go backwards`() {
        var clock = SilenceClock()
        #expect(clock.tick(at: Self.at(2_000), leave: nil) == nil)
        #expect(clock.instant(at: Self.at(3_000), before: Self.at(1_000)) == Self.at(2_000))
    }

    @Test func `A tick in time counts whole`() {
        var clock = SilenceClock()
        #expect(clock.tick(at: Self.at(1_000), leave: Self.at(1_000)) == nil)
        #expect(clock.tick(at: Self.at(1_100), leave: Self.at(1_000)) == nil)
    }

    @Test func `A late tick counts for nothing, and the next late one as far as any may be late`() {
        var clock = SilenceClock()
        let first = clock.tick(at: Self.at(1_300), leave: Self.at(1_000))
        #expect(first == SilenceClock.Late(duration: .milliseconds(300), uncounted: .milliseconds(300)))
        let second = clock.tick(at: Self.at(1_600), leave: Self.at(1_400))
        #expect(second == SilenceClock.Late(duration: .milliseconds(200), uncounted: .milliseconds(100)))
        #expect(clock.tick(at: Self.at(1_700), leave: Self.at(1_700)) == nil)
        let third = clock.tick(at: Self.at(2_000), leave: Self.at(1_800))
        #expect(third?.uncounted == .milliseconds(200))
    }
}
