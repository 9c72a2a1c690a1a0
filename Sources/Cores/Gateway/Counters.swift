package import JSON
package import OwnTracks
package import Presence

extension Gateway {
    /// Totals since the start. A counter of the core is added here and increased where the core carries a decision out (enters and leaves: `Tracking.publish`); `status`,
    /// `/status.json` and `/metrics` show it.
    package struct Counters: Hashable, Sendable {
        /// iBeacon frames heard.
        package var sightings: UInt64 = 0
        /// Readings of the batteries of beacons that belong to a region.
        package var telemetry: UInt64 = 0
        package var enters: UInt64 = 0
        /// Leaves of regions, by the reason for them.
        package var leavesByReason: [LeaveReason: UInt64] = [:]
        /// Leaves of circles, which the position of a tracker decides.
        package var circleLeaves: UInt64 = 0
        /// Commands that were carried out, and those that were refused, by reason.
        package var commands = CommandCounts()
        /// Elements of region lists that could not be used.
        package var waypointsRefused: UInt64 = 0

        package init() {}

        /// Leaves by the name of their reason; `position` for those of circles.
        package var namedLeaves: [(reason: String, count: UInt64)] {
            LeaveReason.allCases.map { ($0.rawValue, leavesByReason[$0] ?? 0) } + [("position", circleLeaves)]
        }

        package var leaves: UInt64 { leavesByReason.values.reduce(circleLeaves, +) }

        mutating func count(_ transition: PendingTransition) {
            if transition.isEnter {
                enters += 1
            } else if let reason = transition.leaveReason {
                leavesByReason[reason, default: 0] += 1
            } else {
                circleLeaves += 1
            }
        }

        /// As the answer to the `status` command and `/status.json` show it.
        package var json: JSONValue {
            let members = [
                "sightings": Self.number(sightings), "telemetry": Self.number(telemetry),
                "enters": Self.number(enters), "leaves": Self.number(leaves),
                "waypointsRefused": Self.number(waypointsRefused),
            ]
            return .object(members.merging(commands.json) { $1 })
        }

        private static func number(_ count: UInt64) -> JSONValue { .integer(Int64(clamping: count)) }
    }
}
