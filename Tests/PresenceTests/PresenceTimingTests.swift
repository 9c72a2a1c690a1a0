import Presence
import Testing

@testable import Presence

@Suite("Timing")
struct PresenceTimingTests {
    @Test("The constants stand in the relations that their reasons name")
    func relations() {
        let slowestInterval: Float = 10.24
        #expect(PresenceTiming.floorSeconds < PresenceTiming.quickLeaveTimeoutSeconds)
        #expect(PresenceTiming.quickLeaveTimeoutSeconds > 2 * (slowestInterval + 0.01))
        #expect(PresenceTiming.quickIntervalSeconds > 0.2 + 0.005)
        #expect(PresenceTiming.quickAbsenceSeconds > 3 * (slowestInterval + 0.01))
        #expect(PresenceTiming.quickAbsenceSeconds < PresenceTiming.capSeconds)
        #expect(PresenceTiming.unknownRhythmSeconds > 5 * slowestInterval)
        #expect(PresenceTiming.unknownRhythmSeconds < PresenceTiming.capSeconds)
        #expect(PresenceTiming.restingWander < PresenceTiming.movingWander)
        #expect(PresenceTiming.sameAdvertisementSeconds < 0.020)
        #expect(PresenceTiming.sameAdvertisementSeconds > 0.010)
        #expect(PresenceTiming.recentGapFactor > 1)
        #expect(PresenceTiming.dwellIntervals > 1)
    }

    @Test("A tracked beacon costs at most 200 bytes")
    func memory() {
        // The index holds 4 bytes an entry and is at least three eighths full.
        #expect(Double(PresenceEngine.bytesPerBeacon) + 4 / 0.375 <= 200)
    }
}
