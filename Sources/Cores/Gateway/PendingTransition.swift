import Base
package import Beacon
package import Configuration
import OwnTracks
import Presence
package import Regions

/// A decided transition. It contains its region, because the region may change or disappear before the transition's
/// turn.
struct PendingTransition: Sendable {
    private(set) var key: RegionKey
    let isEnter: Bool
    let region: Region
    /// The first beacon that entered or the last that left; nil for a circle.
    let beacon: BeaconID?
    let rssi: RSSI?
    /// The instant of the decision.
    let instant: MonotonicInstant
    /// nil for an enter, and where the tracker's position left a circle.
    let leaveReason: LeaveReason?

    init(
        key: RegionKey, isEnter: Bool, region: Region, beacon: BeaconID?, rssi: RSSI?, instant: MonotonicInstant,
        leaveReason: LeaveReason?
    ) {
        (self.key, self.isEnter, self.region) = (key, isEnter, region)
        (self.beacon, self.rssi) = (beacon, rssi)
        (self.instant, self.leaveReason) = (instant, leaveReason)
    }

    /// The same transition when its tracker has another index.
    func moved(to tracker: Int) -> PendingTransition {
        var moved = self
        moved.key = RegionKey(tracker: tracker, rid: key.rid)
        return moved
    }

    /// The monitoring mode that the region switches to by it; nil: none.
    var monitoringMode: MonitoringMode? {
        let modes = region.monitoringModes
        return (isEnter ? modes?.onEnter : modes?.onLeave).flatMap(MonitoringMode.init(rawValue:))
    }

    /// Why the beacon entered or left, for the log. Only this beacon is examined.
    ///
    /// - Returns: nothing for a circle.
    func explanation(
        by engine: PresenceEngine, _ batteries: Batteries, _ settings: Configuration, at now: MonotonicInstant
    ) -> [Gateway.Effect] {
        guard let beacon else { return [] }
        let text = RegionExplanation.text(
            engine.explain(beacon, in: key, at: now), threshold: region.threshold(by: settings),
            battery: batteries[beacon], at: now)
        return [.log(LogEntry(.debug, "explanation", "\(region.displayName): \(text)"))]
    }
}

extension Region {
    /// The strengths at which nearness begins and ends: the region's own, else those of the settings; nil: none.
    ///
    /// A beacon between an end and a begin below it would come and go without end. So what comes from the settings gives way to what the
    /// region sets.
    func thresholds(by settings: Configuration) -> (enter: RSSI?, leave: RSSI?) {
        let (enter, leave) = (enterRSSI ?? settings.enterRSSI, leaveRSSI ?? settings.leaveRSSI)
        guard let enter, let leave, leave > enter else { return (enter, leave) }
        if enterRSSI == nil { return (leave, leave) }
        return (enter, enter)
    }

    /// The strength that the region requires; nil: any.
    package func threshold(by settings: Configuration) -> RSSI? {
        let (enter, leave) = thresholds(by: settings)
        return enter ?? leave
    }

    package var isBeacon: Bool {
        if case .beacon = kind { true } else { false }
    }
}
