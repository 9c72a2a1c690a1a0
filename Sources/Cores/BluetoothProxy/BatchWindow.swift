import Base

/// The time for which the first packet of a batch waits for others.
///
/// A busy machine wakes the gateway late, and the packets wait for that, too. So the next batches wait less, by what the latest of
/// the last ones was late.
struct BatchWindow {
    /// The time on a machine that has time. Home Assistant takes the time of arrival for that of reception, so it is less than what the
    /// protocol's own devices take, 50 ms.
    static let longest: Duration = .milliseconds(20)
    /// The least, so that a thousand packets in a second do not become a thousand messages.
    static let least: Duration = .milliseconds(4)

    private var lateness: Duration = .zero

    var length: Duration { max(Self.least, Self.longest - lateness) }

    /// - Parameter late: By how much a batch was sent after its time; less than zero: it was full before.
    mutating func sent(late: Duration) { lateness = max(late, lateness - lateness / 8) }
}
