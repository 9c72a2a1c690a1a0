package import Base
package import SiteProtocol

/// The states that the broker retains on the topics that only the active service writes, as far as known.
///
/// A broker may lose its retained messages, and another service or an earlier run may have left obsolete ones. So after
/// each connection the service first collects the broker's states and then corrects them.
package struct RetainedStates<Value: RetainedValue>: Sendable {
    /// Largest total size, bytes. Ten thousand tags take a quarter of it. The limit is needed because any client may
    /// write more topics below the site.
    private static var mostBytes: Int { 8 << 20 }

    /// Largest number of obsolete states that are removed at once.
    package static var mostRemovals: Int { 50 }

    private var known: [String: Retained<Value>] = [:]
    private var bytes = 0
    /// The states that are to be removed, and their order from the end. An id that was recorded since is in the order only.
    private var obsolete: Set<String> = []
    private var removalOrder: [String] = []

    package init() {}

    /// Records what the broker retains, or will get from the outbox. A state beyond `mostBytes` is not recorded: it
    /// stays at the broker, or is published once more.
    package mutating func record(_ id: String, _ state: Retained<Value>) {
        obsolete.remove(id)
        let before = known[id].map { Self.size(id, $0) } ?? 0
        let after = Self.size(id, state)
        guard after == 0 || bytes - before + after <= Self.mostBytes else { return }
        bytes += after - before
        known[id] = state == .absent ? nil : state
    }

    private static func size(_ id: String, _ state: Retained<Value>) -> Int {
        switch state {
        case .absent: 0
        case .unreadable: id.utf8.count + 64
        case .value(let value): id.utf8.count + value.byteCount + 64
        }
    }

    /// The state that the broker has.
    package func value(of id: String) -> Value? { if case .value(let value) = known[id] { value } else { nil } }

    /// Computes the changes that correct the broker's states.
    ///
    /// - Parameters:
    ///   - wanted: All states that should exist. With nil in place of a state, any readable state is accepted.
    ///   - isAgain: Whether states that the broker already has are published once more.
    /// - Returns: What to publish: first the removal (nil) of the first obsolete states, then new and changed ones. `removals`
    ///   returns the other obsolete ones.
    package mutating func update(
        to wanted: [(id: String, value: Value?)], isAgain: Bool = false
    ) -> [(id: String, value: Value?)] {
        let ids = Set(wanted.map(\.id))
        removalOrder = known.keys.filter { !ids.contains($0) }
        // The order of very many does not matter, and sorting them would take long.
        if removalOrder.count <= Self.mostRemovals { removalOrder.sort(by: >) }
        obsolete = Set(removalOrder)
        var changes: [(id: String, value: Value?)] = removals().map { ($0.id, nil) }
        for (id, value) in wanted {
            guard let value else {
                guard known[id] == .unreadable else { continue }
                record(id, .absent)
                changes.append((id, nil))
                continue
            }
            guard isAgain || known[id] != .value(value) else { continue }
            record(id, .value(value))
            changes.append((id, value))
        }
        return changes
    }

    /// Whether obsolete states are still to be removed.
    package var hasObsolete: Bool { !obsolete.isEmpty }

    /// The next of them.
    var nextObsolete: String? { removalOrder.last }

    /// The next obsolete states, at most `mostRemovals`, with what the broker had; they are recorded as removed.
    package mutating func removals() -> [(id: String, was: Value?)] {
        var removed: [(id: String, was: Value?)] = []
        while removed.count < Self.mostRemovals, let id = removalOrder.popLast() {
            guard obsolete.contains(id) else { continue }
            removed.append((id, value(of: id)))
            record(id, .absent)
        }
        return removed
    }
}

extension PublishedTag: RetainedValue {
    package var byteCount: Int { 128 + name.utf8.count + 2 * ((room ?? lastRoom)?.name.utf8.count ?? 0) }
}

extension PublishedRoom: RetainedValue {
    package var byteCount: Int { 64 + name.utf8.count + tags.reduce(0) { $0 + $1.utf8.count + 16 } }
}

extension HealthMessage: RetainedValue {
    package var byteCount: Int { (survey == nil ? 64 : 128) + (room?.utf8.count ?? 0) }
}

extension ExactString: RetainedValue {
    package var byteCount: Int { text.utf8.count }
}
