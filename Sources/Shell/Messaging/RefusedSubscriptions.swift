import Base

/// Subscriptions that the broker refused on this connection, and when they are requested again.
///
/// A refusal may be for ever, because the client has no rights, or for seconds: the nodes of a NATS cluster refuse
/// subscriptions until they have elected new leaders in place of a node that is gone. MQTT 3.1.1 has one code for both.
struct RefusedSubscriptions: Hashable, Sendable {
    private var filters: Set<String> = []
    private var backoff = Backoff(from: .seconds(2), to: .seconds(600))
    private var nextTry: MonotonicInstant?

    /// - Returns: Whether the filter was not refused before on this connection.
    mutating func refused(_ filter: String, at now: MonotonicInstant) -> Bool {
        if nextTry == nil { nextTry = now.advanced(by: backoff.nextDelay()) }
        return filters.insert(filter).inserted
    }

    mutating func granted(_ filter: String) { filters.remove(filter) }

    /// The filters to request now; they may be refused again.
    ///
    /// - Parameter wanted: The filters that are still wanted.
    mutating func due(at now: MonotonicInstant, wanted: Set<String>) -> Set<String> {
        filters.formIntersection(wanted)
        guard let nextTry, now >= nextTry else { return [] }
        self.nextTry = nil
        return filters
    }
}
