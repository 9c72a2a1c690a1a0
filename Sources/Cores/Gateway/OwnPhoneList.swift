import Base
import Identities

/// The list of keys that this gateway publishes for the other gateways of its site: whether, and how often.
struct OwnPhoneList: Sendable {
    /// Whether the list was published since the start, or something else stands on its topic.
    private var hasPublished = false
    /// Whether the broker lacks the list: another client deleted or replaced it, or the queue was full; or another gateway has
    /// an older one.
    private(set) var isDue = false
    /// When the list was published last.
    private var published: MonotonicInstant?

    /// Whether these keys are published. A gateway that never had a phone publishes no list.
    func isPublished(with keys: PhoneKeys) -> Bool { !keys.isEmpty || hasPublished }

    /// The message was given to the connection.
    ///
    /// - Parameter isQueued: false: the queue is full.
    mutating func published(isQueued: Bool, at now: MonotonicInstant) {
        published = now
        if isQueued { hasPublished = true }
        isDue = !isQueued
    }

    /// The next check publishes the list.
    mutating func demand() { isDue = true }

    /// Something else than the list stands on its topic. Whoever reads it would keep phones that were removed, and learn no
    /// new ones. Any client of the broker may cause this, as often as it likes: after one at once, the next check publishes,
    /// not each message.
    ///
    /// - Parameter period: The time between two checks.
    /// - Returns: whether the list may be published at once.
    mutating func takeBack(within period: Duration, at now: MonotonicInstant) -> Bool {
        (hasPublished, isDue) = (true, true)
        return published.map { $0.duration(to: now) >= period } ?? true
    }
}
