import Base

/// The subscriptions of one connection: they are requested one after the other.
///
/// A broker may end the connection instead of refusing a filter, as brokers of MQTT 3.1.1 do. It is then the one that was being
/// requested.
struct FilterQueue {
    /// For so long messages wait for the answers at the beginning of a connection, so that an end can only mean a filter.
    static let messagesWait: Duration = .seconds(1)
    /// A request that is not answered for so long does not hold up the next one.
    static let patience: Duration = .seconds(5)
    /// So soon after a request the end of the connection is an answer to it.
    static let suspicion: Duration = .seconds(2)

    private var waiting: [String] = []
    /// By packet identifier.
    private var requested: [Int32: (filter: String, at: MonotonicInstant)] = [:]
    /// The filter that was handed out and has no packet identifier yet.
    private var isHandedOut = false

    mutating func add(_ filters: some Sequence<String>) {
        let known = Set(waiting).union(requested.values.map(\.filter))
        waiting += filters.filter { !known.contains($0) }.sorted()
    }

    /// The filters that are not wanted any more are not requested.
    mutating func remove(_ filters: Set<String>) { waiting.removeAll(where: filters.contains) }

    var isEmpty: Bool { waiting.isEmpty && requested.isEmpty && !isHandedOut }

    /// The next filter to request; nil: none, or an earlier one has to be answered first.
    mutating func next(at now: MonotonicInstant) -> String? {
        let isBusy = requested.values.contains { $0.at.duration(to: now) < Self.patience }
        guard !isBusy, !isHandedOut, !waiting.isEmpty else { return nil }
        isHandedOut = true
        return waiting.removeFirst()
    }

    /// The filter that `next` returned was sent.
    ///
    /// - Parameter messageID: nil: libmosquitto does not take the filter.
    mutating func sent(_ filter: String, messageID: Int32?, at now: MonotonicInstant) {
        isHandedOut = false
        if let messageID { requested[messageID] = (filter, now) }
    }

    /// - Returns: The filter that is answered; nil for an unknown identifier.
    mutating func answered(_ messageID: Int32) -> String? { requested.removeValue(forKey: messageID)?.filter }

    /// The filter at which the broker ends the connection now: the only one without an answer, if it was requested just before. A
    /// broker that waits for something first, as a node of a cluster for its leader, does not mean the filter.
    func suspect(at now: MonotonicInstant) -> String? {
        guard requested.count == 1, let only = requested.values.first, only.at.duration(to: now) <= Self.suspicion
        else {
            return nil
        }
        return only.filter
    }
}
