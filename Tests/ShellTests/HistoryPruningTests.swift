import Base
import Testing

@testable import Shell

/// When old entries of the history are deleted. Each case is a sequence of looks at the clock.
struct HistoryPruningTests {
    /// One look at the clock.
    struct Look: Sendable {
        /// Hours since the first look, by the monotonic clock, and by the wall clock if that is not the same.
        var hours: Int64
        var wall: Int64?
        var boot = "a"
        var isKnown = true
        var days: Int64? = 30
        /// The service is started again before this look.
        var restarts = false
        /// The hours since the first look for which it deletes, before the limit; nil: nothing is deleted.
        var prunes: Int64?
        var warns = false
    }

    private static let begin: Int64 = 1_700_000_000

    static let cases: [(name: String, looks: [Look])] = [
        (
            "once a day, beginning a day after the first start",
            [
                Look(hours: 0), Look(hours: 23), Look(hours: 24, prunes: 24), Look(hours: 47),
                Look(hours: 48, prunes: 48),
                Look(hours: 49, restarts: true, prunes: 49),
            ]
        ),
        (
            "an untrusted clock deletes nothing",
            [
                Look(hours: 0), Look(hours: 24, prunes: 24), Look(hours: 60, isKnown: false),
                Look(hours: 61, prunes: 61),
            ]
        ),
        (
            "a jump holds for 24 h, also over a restart, and then the clock is believed",
            [
                Look(hours: 0), Look(hours: 24, prunes: 24), Look(hours: 30, wall: 90_000, warns: true),
                Look(hours: 50, wall: 90_020), Look(hours: 53, wall: 90_023, restarts: true),
                Look(hours: 54, wall: 90_024, prunes: 90_024),
            ]
        ),
        (
            "a jump back is a jump, too",
            [
                Look(hours: 0), Look(hours: 24, prunes: 24), Look(hours: 25, wall: -90_000, warns: true),
                Look(hours: 26, warns: true), Look(hours: 49), Look(hours: 50, prunes: 50),
            ]
        ),
        (
            "a clock that is set by some hours is believed; several such steps since the last pruning are a jump",
            [
                Look(hours: 0), Look(hours: 24, prunes: 24), Look(hours: 25, wall: 26), Look(hours: 26, wall: 40),
                Look(hours: 27, wall: 55, warns: true), Look(hours: 51, wall: 79, prunes: 79),
            ]
        ),
        (
            "a boot after an hour without power is no jump",
            [
                Look(hours: 0), Look(hours: 24, prunes: 24),
                Look(hours: 0, wall: 26, boot: "b", restarts: true, prunes: 26),
            ]
        ),
        (
            "a boot after two days may be one with a wrong clock, and is taken for that",
            [
                Look(hours: 0), Look(hours: 24, prunes: 24),
                Look(hours: 0, wall: 73, boot: "b", restarts: true, warns: true), Look(hours: 23, wall: 96, boot: "b"),
                Look(hours: 24, wall: 97, boot: "b", prunes: 97),
            ]
        ),
        (
            "a new limit is applied at once, by the expected time while the clock is not believed",
            [
                Look(hours: 0), Look(hours: 1, days: 7, prunes: 1), Look(hours: 2, days: 7),
                Look(hours: 3, wall: 90_003, days: 7, warns: true), Look(hours: 4, wall: 90_004, days: 6, prunes: 4),
                Look(hours: 5, wall: 90_005, days: 5, restarts: true, prunes: 5),
            ]
        ),
        (
            "without a limit nothing is deleted",
            [Look(hours: 0, days: nil), Look(hours: 24, days: nil), Look(hours: 48, days: nil)]
        ),
    ]

    @Test(arguments: cases)
    func `Entries are deleted by a clock that is believed`(name: String, looks: [Look]) {
        var pruning = HistoryPruning()
        var stored: [UInt8]?
        for look in looks {
            if look.restarts { pruning = HistoryPruning(stored) }
            let now = MonotonicInstant(nanoseconds: (look.hours + 1) * 3_600_000_000_000)
            let epoch = Self.begin + (look.wall ?? look.hours) * 3600
            let clock = WallClock(epochNanoseconds: epoch * 1_000_000_000, at: now, isKnown: look.isKnown)
            let limit = look.days.map { $0 * 86_400 }
            let outcome = pruning.look(at: clock, boot: look.boot, now: now, keeping: limit)
            stored = outcome.state ?? stored
            #expect(
                outcome.before == look.prunes.map { Self.begin + $0 * 3600 - (limit ?? 0) },
                "\(name), after \(look.hours) h")
            #expect((outcome.doubtedShift != nil) == look.warns, "\(name), after \(look.hours) h")
        }
    }

    @Test func `A limit of 0 deletes all at once, with any clock and any state`() {
        for isKnown in [false, true] {
            var pruning = HistoryPruning()
            let now = MonotonicInstant(nanoseconds: 1)
            let outcome = pruning.look(at: WallClock(epochOffset: 0, isKnown: isKnown), boot: "a", now: now, keeping: 0)
            #expect(outcome.before == .max)
        }
    }

    @Test(arguments: ["", "a", "a 1 2 3 4", "a 1 2 3 4 x", "a 1 2 3 4 5 6", "a 1 2 3 4 9223372036854775807"])
    func `A state that cannot be read is none`(text: String) {
        #expect(HistoryPruning(Array(text.utf8)) == HistoryPruning())
    }
}
