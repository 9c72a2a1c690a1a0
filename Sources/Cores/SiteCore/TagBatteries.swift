import Base
import Rooms
import SiteProtocol

/// What gateways read of the batteries of tags.
///
/// Only the active service records it. A standby takes it from the states that the active one publishes.
enum TagBatteries {
    /// Records what a gateway whose messages count read in one second.
    static func record(
        _ second: HeardSecond, of gateway: String, at now: MonotonicInstant, _ engine: inout RoomEngine,
        _ states: inout TagStates, _ retained: inout RetainedSite, _ effects: inout [Site.Effect]
    ) {
        guard engine.plan.isTrusted(gateway: gateway) else { return }
        let first = effects.count
        for reading in second.readings {
            guard let percent = reading.battery, let tag = engine.tag(of: reading.beacon) else { continue }
            states.record(battery: percent, ofTag: tag, at: now, &effects)
        }
        retained.record(effects[first...])
    }
}
