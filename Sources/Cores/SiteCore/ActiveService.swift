package import Base

/// Elects the active service of a site: the one that publishes decisions.
///
/// Every service publishes a retained card with a counter. The active service increments its counter every `period`. A
/// service that sees another counter move stays standby. It takes over when that counter has not moved for `patience`.
/// If two services are active, the one with the larger name stands down.
package struct ActiveService: Sendable {
    package enum Role: Hashable, Sendable {
        /// The service has just connected and listens for the cards of others.
        case listening
        case active, standby
    }

    package enum Effect: Hashable, Sendable {
        /// Publish the card.
        case publish(isActive: Bool, counter: UInt64)
        /// This service became active.
        case began
        /// This service was active and stood down because another service is active.
        case stoodDown(for: String)
    }

    /// Time between two cards of the active service.
    package static let period: Duration = .seconds(2)
    /// Time without a change of a counter after which its service is considered gone.
    package static let patience: Duration = .seconds(10)
    /// Time to wait for retained cards after connecting.
    package static let listening: Duration = .seconds(1)
    /// Largest number of other services that are tracked. Further ones are ignored.
    private static let mostOthers = 32

    private struct Other: Sendable {
        var counter: UInt64
        var moved: MonotonicInstant
    }

    package let instance: String
    package private(set) var role = Role.listening
    /// Whether this service may become active. One that never had tags must not replace the site's tags with an empty list.
    package var isAble = true
    private var others: [String: Other] = [:]
    private var counter: UInt64 = 0
    private var next: MonotonicInstant?
    /// When the connection was lost; nil while connected and before the first connection.
    private var lost: MonotonicInstant?

    /// - Parameter instance: A topic level that no other service of the site has.
    package init(instance: String) { self.instance = instance }

    /// When `tick` is due; nil without a connection.
    package var nextDeadline: MonotonicInstant? { next }

    /// The other service that is presumably active.
    package var other: String? { others.keys.min() }

    /// The broker accepted the connection. An active service stays active, unless it was disconnected for `patience` or
    /// longer: then another service may have taken over.
    package mutating func connected(at now: MonotonicInstant) -> [Effect] {
        let wasShort = lost.map { $0.duration(to: now) < Self.patience } ?? true
        lost = nil
        guard role != .active || !wasShort else {
            next = now
            return tick(at: now)
        }
        role = .listening
        next = now.advanced(by: others.isEmpty ? Self.listening : Self.patience)
        return []
    }

    package mutating func disconnected(at now: MonotonicInstant) {
        next = nil
        lost = lost ?? now
    }

    /// A card of another service arrived.
    package mutating func heard(
        _ name: String, isActive: Bool, counter: UInt64, at now: MonotonicInstant
    ) -> [Effect] {
        guard name != instance else { return [] }
        guard isActive else {
            others[name] = nil
            if role != .active, others.isEmpty { next = now }
            return []
        }
        guard others[name] != nil || others.count < Self.mostOthers else { return [] }
        if let known = others[name], known.counter == counter { return [] }
        // A retained card may belong to a service that is gone. An active service yields only if the counter moves.
        let isAlive = others[name] != nil
        others[name] = Other(counter: counter, moved: now)
        switch role {
        case .active where isAlive && name < instance:
            role = .standby
            next = now.advanced(by: Self.patience)
            return [.stoodDown(for: name), .publish(isActive: false, counter: self.counter)]
        case .active: return []
        case .listening, .standby:
            next = now.advanced(by: Self.patience)
            guard role == .listening, isAlive else { return [] }
            role = .standby
            return [.publish(isActive: false, counter: self.counter)]
        }
    }

    /// Time passed.
    package mutating func tick(at now: MonotonicInstant) -> [Effect] {
        guard let due = next, due <= now else { return [] }
        others = others.filter { $0.value.moved.duration(to: now) < Self.patience }
        guard role == .active || others.isEmpty else {
            next = others.values.map(\.moved).max()?.advanced(by: Self.patience)
            return []
        }
        guard role == .active || isAble else {
            next = now.advanced(by: Self.period)
            return []
        }
        let begins = role != .active
        role = .active
        counter += 1
        next = now.advanced(by: Self.period)
        return (begins ? [.began] : []) + [.publish(isActive: true, counter: counter)]
    }
}
