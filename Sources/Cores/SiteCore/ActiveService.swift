package import Base

/// Elects the active service of a site: the one that publishes decisions.
///
/// Every service publishes a retained card with a counter. The active service increments its counter every `period`. A
/// service that sees another counter move stays standby. It takes over when that counter has not moved for `patience`.
/// If two services are active, the one with the larger name stands down, within `patience`.
///
/// A retained card that says that its service is active, and whose counter has not moved for `patience`, belongs to a service that is
/// gone without its last will: the active service removes it.
///
/// Without a key of the site any client can publish cards. What a service does tells it apart from a card: its counter moves.
/// Invented names do not keep out a service that counts, and a service that went on after a card had declared it ended
/// is not ended by such a card again.
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
        /// The broker has what this service writes: its card came back. Once after `began`, and after each `refused`.
        case taken
        /// The broker does not have what this service writes: its card has not come back for `patience`, or the first one for
        /// `firstPatience`. It is tried again.
        case refused
        /// This service was active and stood down because another service is active.
        case stoodDown(for: String)
        /// Remove the retained card of this other service. It said that it is active, and its counter has not moved for `patience`.
        case remove(String)
    }

    /// Time between two cards of the active service.
    package static let period: Duration = .seconds(2)
    /// Time without a change of a counter after which its service is considered gone.
    package static let patience: Duration = .seconds(10)
    /// Time after which the first card of an active service must have come back. Nothing of it was taken before.
    private static let firstPatience: Duration = .seconds(5)
    /// Time to wait for retained cards after connecting.
    package static let listening: Duration = .seconds(1)
    /// Time for which no card ends a service that went on after an earlier card had declared it ended.
    private static let doubt: Duration = .seconds(600)
    /// Largest number of other services that are tracked.
    private static let mostOthers = 250
    /// Largest number of cards that are removed at once.
    private static let mostRemovals = 16

    private struct Other: Sendable {
        var counter: UInt64
        var moved: MonotonicInstant
        /// Whether the counter has moved since it has been tracked; otherwise the card may belong to a service that is gone.
        var hasMoved = false
        /// Whether the latest card says that the service is active.
        var isActive = true
        /// When the service last went on after a card had declared it ended; nil if that is longer ago than `doubt`.
        var wentOn: MonotonicInstant?

        /// Whether another service must wait for `patience`.
        var holds: Bool { isActive || wentOn != nil }
    }

    package let instance: String
    package private(set) var role = Role.listening
    /// Whether this service may become active. One that does not know the site's list of tags must not
    /// replace it.
    package var isAble = true
    /// Whether this service would be active if it were able: no other one is.
    package private(set) var isHeldBack = false
    private var others: [String: Other] = [:]
    /// Services whose cards say that they are active and have not moved for `patience`.
    private var gone: Set<String> = []
    private var counter: UInt64 = 0
    private var next: MonotonicInstant?
    /// When the connection was lost; nil while connected and before the first connection.
    private var lost: MonotonicInstant?

    /// When this service's card last came back since it became active; nil: it has not.
    private var lastTaken: MonotonicInstant?
    /// Since when cards are expected to come back; nil: this service is not active, or has no connection.
    private var expectsCards: MonotonicInstant?
    /// Whether this service would decide and the broker does not take what it writes.
    package private(set) var isRefused = false
    /// Whether this service decides and the broker takes what it writes.
    package var isTaken: Bool { role == .active && lastTaken != nil && !isRefused }

    /// - Parameter instance: A topic level that no other service of the site has.
    package init(instance: String) { self.instance = instance }

    /// When `tick` is due; nil without a connection.
    package var nextDeadline: MonotonicInstant? { next }

    /// The other service that is presumably active.
    package var other: String? { others.filter(\.value.holds).keys.min() }

    /// Whether the counter of another service moves.
    package func hasActiveOther(at now: MonotonicInstant) -> Bool {
        others.values.contains { $0.isActive && $0.hasMoved && $0.moved.duration(to: now) < Self.patience }
    }

    /// The broker accepted the connection. An active service stays active, unless it was disconnected for `patience` or
    /// longer: then another service may have taken over.
    package mutating func connected(at now: MonotonicInstant) -> [Effect] {
        // The broker sends the cards again that it still has.
        gone = []
        let wasShort = lost.map { $0.duration(to: now) < Self.patience } ?? true
        lost = nil
        guard role != .active || !wasShort else {
            next = now
            return tick(at: now)
        }
        (role, isHeldBack) = (.listening, false)
        next = now.advanced(by: others.values.contains(where: \.holds) ? Self.patience : Self.listening)
        return []
    }

    package mutating func disconnected(at now: MonotonicInstant) {
        next = nil
        lost = lost ?? now
        // Without a connection nothing can come back.
        (expectsCards, isRefused) = (nil, false)
    }

    /// A card of another service arrived.
    package mutating func heard(
        _ name: String, isActive: Bool, counter: UInt64, at now: MonotonicInstant
    ) -> [Effect] {
        guard name != instance else { return heardOwn(isActive: isActive, counter: counter, at: now) }
        gone.remove(name)
        guard isActive else {
            heardEnd(of: name, at: now)
            return []
        }
        let known = others[name]
        if let known, known.counter == counter { return [] }
        guard known != nil || makeRoom(for: name, at: now) else { return [] }
        // A retained card may belong to a service that is gone. An active service yields only if the counter moves.
        let isAlive = known != nil
        isHeldBack = false
        let wentOn = known?.isActive == false ? now : known?.wentOn
        others[name] = Other(
            counter: counter, moved: now, hasMoved: isAlive,
            wentOn: wentOn.flatMap { $0.duration(to: now) < Self.doubt ? $0 : nil })
        switch role {
        case .active where isAlive && (name < instance || isRefused):
            role = .standby
            (lastTaken, expectsCards, isRefused) = (nil, nil, false)
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

    /// This service's card came back. An earlier one, which the broker retained, belongs to another service or an earlier run.
    private mutating func heardOwn(isActive: Bool, counter: UInt64, at now: MonotonicInstant) -> [Effect] {
        guard role == .active, isActive, expectsCards != nil, counter > 0, counter <= self.counter,
            self.counter - counter < 5
        else { return [] }
        let isNews = lastTaken == nil || isRefused
        (lastTaken, isRefused) = (now, false)
        return isNews ? [.taken] : []
    }

    /// A card says that another service is no longer active.
    private mutating func heardEnd(of name: String, at now: MonotonicInstant) {
        guard others[name] != nil else { return }
        // The counter is kept: if it moves again, the card was wrong.
        others[name]?.isActive = false
        if role != .active, next != nil, !others.values.contains(where: \.holds) { next = now }
    }

    /// Makes room for another service. What has stopped goes first, then the largest name, because the smallest decides.
    ///
    /// - Returns: false if there is none for this name.
    private mutating func makeRoom(for name: String, at now: MonotonicInstant) -> Bool {
        guard others.count >= Self.mostOthers else { return true }
        let stopped = others.min { $0.value.moved < $1.value.moved }.flatMap {
            $0.value.moved.duration(to: now) >= Self.patience ? $0.key : nil
        }
        guard let place = stopped ?? others.keys.max().flatMap({ $0 > name ? $0 : nil }) else { return false }
        others[place] = nil
        return true
    }

    /// Time passed.
    package mutating func tick(at now: MonotonicInstant) -> [Effect] {
        guard let due = next, due <= now else { return [] }
        for (name, other) in others where other.moved.duration(to: now) >= Self.patience {
            if other.isActive, gone.count < Self.mostOthers { gone.insert(name) }
            others[name] = nil
        }
        guard role == .active || !others.values.contains(where: \.holds) else {
            next = others.values.filter(\.holds).map(\.moved).max()?.advanced(by: Self.patience)
            return []
        }
        isHeldBack = role != .active && !isAble
        guard !isHeldBack else {
            next = now.advanced(by: Self.period)
            return []
        }
        let begins = role != .active
        role = .active
        if begins { lastTaken = nil }
        counter += 1
        next = now.advanced(by: Self.period)
        return (begins ? [.began] : []) + judgeEcho(at: now) + [.publish(isActive: true, counter: counter)] + removals()
    }

    /// The cards to be removed now. A service whose own messages the broker does not take removes none.
    private mutating func removals() -> [Effect] {
        guard isTaken, !gone.isEmpty else { return [] }
        let names = gone.sorted().prefix(Self.mostRemovals)
        gone.subtract(names)
        return names.map(Effect.remove)
    }

    /// Whether the cards come back. A broker that refuses a message need not say so, and one that is slower than `patience` lets
    /// the other services believe that this one is gone.
    private mutating func judgeEcho(at now: MonotonicInstant) -> [Effect] {
        guard let since = expectsCards else {
            expectsCards = now
            return []
        }
        let patience = lastTaken == nil ? Self.firstPatience : Self.patience
        guard !isRefused, max(lastTaken ?? since, since).duration(to: now) >= patience else { return [] }
        isRefused = true
        return [.refused]
    }
}
