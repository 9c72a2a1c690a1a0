import Base

/// A disk failure that lasts, and when the store tries again.
struct DiskTrouble {
    /// What so many tries in a row could not read is damaged: the next try sets the file aside.
    private static let mostUnreadableTries = 3

    let since: MonotonicInstant
    var backoff: Backoff
    var nextTry: MonotonicInstant = .zero
    /// The error that was reported last.
    var reported: StoreError?
    /// Reading fails as well.
    var isReading = false
    /// How many tries in a row have met a part that cannot be read.
    var unreadableTries = 0

    /// - Parameter delays: The first and the longest delay between two tries.
    init(since: MonotonicInstant, delays: ClosedRange<Duration>) {
        self.since = since
        backoff = Backoff(from: delays.lowerBound, to: delays.upperBound)
    }

    /// Whether a part that cannot be read is damage: it has stayed so.
    var isUnreadable: Bool { unreadableTries >= Self.mostUnreadableTries }
}
