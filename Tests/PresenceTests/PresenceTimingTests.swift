import Testing

@testable import Presence

@Suite("Timing")
struct PresenceTimingTests {
    @Test("The constants stand in the relations that their reasons name")
    func relations() {
        let slowestInterval: Float = 10.24
        #expect(PresenceTiming.floorSeconds < PresenceTiming.quickHoldSeconds)
        #expect(PresenceTiming.quickHoldSeconds > 2 * (slowestInterval + 0.01))
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
        let table = 4.0 / 0.375
        let parts =
            MemoryLayout<TrackedBeacon>.stride + MemoryLayout<Link>.stride + MemoryLayout<RegionPresence>.stride
        #expect(Double(parts) + table <= 200)
    }
}
