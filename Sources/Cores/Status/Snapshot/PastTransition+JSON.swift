import Base
import Health
import JSON
import Regions

extension PastTransition {
    func json(at now: MonotonicInstant) -> JSONValue {
        [
            "ago": .ago(happened, at: now), "tracker": .shown(tracker), "tid": .shown(trackerID ?? ""),
            "name": .shown(name), "rid": .string(rid),
            "event": .string(event.rawValue), "beacon": .optional(beacon.map { .string("\($0)") }),
        ]
    }
}
