import Base
import Beacon
import Regions

/// What a sighting needs of a region, without its name: to read a `MonitoredRegion` counts references, which costs as
/// much as the decision.
struct RegionRule: Sendable, BitwiseCopyable {
    /// Nanoseconds; negative: learned.
    private let fixedHold: Int64
    private let factor: Int64
    let enterRSSI: RSSI?
    let leaveRSSI: RSSI?

    init(_ region: MonitoredRegion) {
        fixedHold =
            switch region.leaveRule {
            case .auto: -1
            case .after(let duration): max(0, duration.nanoseconds)
            }
        factor = region.holdsLonger ? PresenceTiming.longerHoldFactor : 1
        enterRSSI = region.enterRSSI
        leaveRSSI = region.leaveRSSI
    }

    /// Nanoseconds of silence after which a receiver gives a beacon up for the region.
    ///
    /// - Parameter seconds: What the receiver's model of the beacon says.
    func hold(learned seconds: Float) -> Int64 {
        (fixedHold < 0 ? Int64(seconds * 1e9) : fixedHold) &* factor
    }
}
