import Base
import Beacon
import Regions

/// The part of a region that each sighting needs, without the name: reading a `MonitoredRegion` counts references,
/// which costs as much as the decision.
struct RegionRule: Sendable, BitwiseCopyable {
    /// `leaveAfter` in nanoseconds; negative: learned.
    private let fixedTimeout: Int64
    /// Nanoseconds below which a learned leave timeout does not count.
    private let least: Int64
    private let factor: UInt8
    let enterRSSI: RSSI?
    let leaveRSSI: RSSI?

    init(_ region: MonitoredRegion) {
        fixedTimeout =
            switch region.leaveRule {
            case .auto: -1
            case .after(let duration): max(0, duration.nanoseconds)
            }
        least = region.isOfPhone ? Int64(PresenceTiming.phoneLeaveTimeoutSeconds) * 1_000_000_000 : 0
        factor = region.leavesLater ? PresenceTiming.leavesLaterFactor : 1
        enterRSSI = region.enterRSSI
        leaveRSSI = region.leaveRSSI
    }

    /// Whether the region sets the leave timeout.
    var isFixed: Bool { fixedTimeout >= 0 }

    /// The threshold beyond which a beacon leaves that is near, or else enters; nil: the level does not matter.
    func threshold(isNear: Bool) -> RSSI? { isNear ? leaveRSSI : enterRSSI ?? leaveRSSI }

    /// Nanoseconds of silence after which a receiver gives a beacon up for the region.
    ///
    /// - Parameter seconds: The learned leave timeout of the receiver's model.
    func leaveTimeout(learned seconds: Float) -> Int64 {
        (fixedTimeout < 0 ? max(Int64(seconds * 1e9), least) : fixedTimeout) &* Int64(factor)
    }
}
