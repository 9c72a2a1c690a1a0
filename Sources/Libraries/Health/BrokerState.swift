package import Base
package import JSON

/// A connection to an MQTT broker, or the way to a server over HTTP.
package struct BrokerState: Hashable, Sendable {
    package enum Phase: String, CaseIterable, Sendable {
        case connected, connecting, disconnected
        /// Port 0: everything is kept, nothing is sent.
        case offline
    }

    package enum Kind: String, Sendable { case broker, server }

    package var kind = Kind.broker
    package var name: String
    package var phase: Phase
    /// Why there is no connection, or why the connection does not work, in words; empty if all is well. It never
    /// contains a secret.
    package var reason: String
    /// What to do; empty if that is not known.
    package var remedy = ""
    package var since: MonotonicInstant?
    /// When the next attempt begins; nil if none is planned.
    package var nextTry: MonotonicInstant?

    package init(name: String, phase: Phase, reason: String = "", since: MonotonicInstant? = nil) {
        self.name = name
        self.phase = phase
        self.reason = reason
        self.since = since
    }
}

extension BrokerState {
    package func json(at now: MonotonicInstant) -> JSONValue {
        [
            "kind": .string(kind.rawValue), "name": .shown(name), "state": .string(phase.rawValue),
            "reason": .shown(reason),
            "sinceAgo": .ago(since, at: now),
            "retryIn": .optional(nextTry.map { .tenths(max(0, now.duration(to: $0).inSeconds)) }),
        ]
    }
}

extension BrokerState {
    /// Reads what `json(at:)` wrote; nil for what it did not write.
    package init?(reading json: JSONValue, at now: MonotonicInstant) {
        guard let phase = json["state"]?.string.flatMap(Phase.init(rawValue:)) else { return nil }
        self.init(
            name: json["name"]?.string ?? "", phase: phase, reason: json["reason"]?.string ?? "",
            since: json["sinceAgo"]?.instant(before: now))
        kind = json["kind"]?.string.flatMap(Kind.init(rawValue:)) ?? .broker
        nextTry = json["retryIn"]?.instant(after: now)
    }
}
