package import Base
package import Beacon
import Health
import JSON

extension StatusSnapshot {
    /// One enter or leave that was decided.
    package struct PastTransition: Sendable {
        package var at: MonotonicInstant
        package var tid: String
        package var name: String
        package var rid: String
        package var isEnter: Bool
        package var beacon: BeaconID?

        package init(
            at: MonotonicInstant, tid: String, name: String, rid: String, isEnter: Bool, beacon: BeaconID? = nil
        ) {
            self.at = at
            self.tid = tid
            self.name = name
            self.rid = rid
            self.isEnter = isEnter
            self.beacon = beacon
        }
    }
}

extension StatusSnapshot.PastTransition {
    func json(at now: MonotonicInstant) -> JSONValue {
        [
            "ago": .ago(at, at: now), "tid": .shown(tid), "name": .shown(name), "rid": .string(rid),
            "event": isEnter ? "enter" : "leave", "beacon": .optional(beacon.map { .string("\($0)") }),
        ]
    }
}
