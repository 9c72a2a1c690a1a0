package import Base
import JSON

/// Decides which of the services of a site is the active one: the one that publishes decisions.
///
/// Every service publishes a card with a counter, retained. The counter of the active one moves every `period`. A service
/// that sees another one's counter move stays standby, and takes over when it has stood still for `patience`. Of two that
/// are active, the one with the larger name stands down.
package struct ActiveService: Sendable {
    package enum Role: Hashable, Sendable {
        /// It has just connected, and listens for another.
        case listening
        case active, standby
    }

    package enum Effect: Hashable, Sendable {
        /// Publish the card.
        case publish(isActive: Bool, counter: UInt64)
        /// It is active from now on.
        case began
        /// It was active, and another one is.
        case stoodDown(for: String)
    }

    /// Between two cards of the active one.
    package static let period: Duration = .seconds(2)
    /// For how long a counter must have stood still.
    package static let patience: Duration = .seconds(10)
    /// For how long retained cards are waited for after connecting.
    package static let listening: Duration = .seconds(1)
    /// Others that are kept in mind; more are not heeded.
    private static let mostOthers = 32

    private struct Other: Sendable {
        var counter: UInt64
        var moved: MonotonicInstant
    }

    package let instance: String
    package private(set) var role = Role.listening
    private var others: [String: Other] = [:]
    private var counter: UInt64 = 0
    private var next: MonotonicInstant?
    /// When the connection was lost; nil: it never was, or there is one.
    private var lost: MonotonicInstant?

    /// - Parameter instance: A topic level that no other service of the site has.
    package init(instance: String) { self.instance = instance }

    /// When `tick` has something to do; nil without a connection.
    package var nextDeadline: MonotonicInstant? { next }

    /// Another service that is active, as far as is known.
    package var other: String? { others.keys.min() }

    /// The broker accepted the connection. One that was active goes on, unless it was away for so long that another may have
    /// taken over.
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

    /// Another service's card.
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
        // A retained card may be of a service that is gone: it has to move to be believed against an active one.
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
        let begins = role != .active
        role = .active
        counter += 1
        next = now.advanced(by: Self.period)
        return (begins ? [.began] : []) + [.publish(isActive: true, counter: counter)]
    }
}

extension ActiveService {
    /// A card: `{"v":1,"active":true,"counter":17,"version":"…"}`.
    package static func card(isActive: Bool, counter: UInt64, version: String) -> [UInt8] {
        JSONValue.object([
            "v": 1, "active": .bool(isActive), "counter": .integer(Int64(clamping: counter)),
            "version": .string(version),
        ]).bytes
    }

    /// Reads a card; nil if it is none.
    package static func read(_ payload: some Collection<UInt8>) -> (isActive: Bool, counter: UInt64)? {
        guard payload.count <= 4096, let json = try? JSONValue(parsing: payload), json["v"]?.asInteger == 1,
            let isActive = json["active"]?.asBool, let counter = json["counter"]?.asInteger, counter >= 0
        else { return nil }
        return (isActive, UInt64(counter))
    }
}
