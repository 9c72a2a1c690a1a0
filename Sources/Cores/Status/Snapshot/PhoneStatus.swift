package import Base
import Health
import JSON

extension StatusSnapshot {
    /// One phone or watch whose key is known. The key is not part of it.
    package struct PhoneStatus: Sendable {
        package var name: String
        package var uuid: String
        /// Whether the order of the octets of its key is known.
        package var isOrdered: Bool
        /// When a packet of it was heard; nil if none was heard, also before the start.
        package var lastHeard: MonotonicInstant?
        /// The other gateways of the site that have its key; nil if keys are not shared.
        package var gateways: [String]?

        package init(name: String, uuid: String, isOrdered: Bool, lastHeard: MonotonicInstant?, gateways: [String]?) {
            self.name = name
            self.uuid = uuid
            self.isOrdered = isOrdered
            self.lastHeard = lastHeard
            self.gateways = gateways
        }
    }
}

extension StatusSnapshot.PhoneStatus {
    /// A phone that is heard at no time within it was perhaps reset, and has another key since.
    package static let longestSilence: Duration = .seconds(5 * 86400)

    package func isLost(at now: MonotonicInstant) -> Bool {
        lastHeard.map { $0.duration(to: now) > Self.longestSilence } ?? false
    }

    func json(at now: MonotonicInstant) -> JSONValue {
        [
            "name": .shown(name), "uuid": .string(uuid), "ordered": .bool(isOrdered),
            "heardAgo": .ago(lastHeard, at: now), "lost": .bool(isLost(at: now)),
            "gateways": gateways.map { .array($0.map { .shown($0) }) } ?? .null,
        ]
    }
}
