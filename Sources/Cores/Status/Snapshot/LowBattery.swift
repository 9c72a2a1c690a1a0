import Base
package import Beacon
package import Gateway
import Health
import JSON

extension StatusSnapshot {
    /// A beacon whose battery has to be replaced soon.
    package struct LowBattery: Sendable {
        package var beacon: BeaconID
        /// The names of the regions that the beacon belongs to.
        package var names: [String]
        package var state: BatteryState

        package init(beacon: BeaconID, names: [String], state: BatteryState) {
            self.beacon = beacon
            self.names = names
            self.state = state
        }
    }
}

extension BatteryState {
    func json(at now: MonotonicInstant) -> JSONValue {
        [
            "percent": .integer(Int64(battery.percent)),
            "millivolts": .optional(battery.millivolts.map { .integer(Int64($0)) }),
            "temperature": .optional(temperature.map { .tenths(Double($0)) }), "low": .bool(isLow),
            "readAgo": .ago(instant, at: now),
        ]
    }
}
