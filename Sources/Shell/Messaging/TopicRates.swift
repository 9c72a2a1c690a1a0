import Base

/// Limits how many messages of one topic are taken in a second, and how many of all transient topics together.
///
/// One client can publish more messages than a service can handle. It is the broker's thread that drops them, before it
/// copies them, so that the flood of one topic takes no place from other topics, and no time of the owner.
struct TopicRates {
    private let limits: BrokerSettings.QueueLimits
    /// Messages of each topic in this second.
    private var counts: [String: Int] = [:]
    private var transient = 0
    private var begin = MonotonicInstant.zero

    /// Retained messages come once for each topic, so there may be any number of topics.
    private static let mostTopics = 10_000

    init(_ limits: BrokerSettings.QueueLimits) { self.limits = limits }

    /// Counts a message.
    ///
    /// - Parameter isTransient: Whether it is useless later, such as a reading.
    /// - Returns: false if the message is to be dropped.
    mutating func admits(_ topic: String, isTransient: Bool, at now: MonotonicInstant) -> Bool {
        guard let perTopic = limits.perTopicAndSecond else { return true }
        if begin.duration(to: now) >= .seconds(1) {
            (begin, transient) = (now, 0)
            counts.removeAll(keepingCapacity: true)
        }
        let count = counts[topic] ?? 0
        guard count < perTopic, !isTransient || transient < limits.transientPerSecond else { return false }
        if count > 0 || counts.count < Self.mostTopics { counts[topic] = count + 1 }
        if isTransient { transient += 1 }
        return true
    }
}
