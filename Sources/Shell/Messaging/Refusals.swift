import Base

/// Refusals for a reason that may pass.
struct Refusals: Hashable, Sendable {
    private(set) var count = 0
    /// When the first was.
    private var since: MonotonicInstant?
    /// When the latest was; the earliest instant without one.
    private(set) var latest = MonotonicInstant.zero

    /// - Returns: Whether there have been so many, for so long, that they need no proof.
    mutating func add(at now: MonotonicInstant) -> Bool {
        let first = since ?? now
        (since, latest, count) = (first, now, count + 1)
        return count >= HeldMessages.fewestRefusals && first.duration(to: now) >= HeldMessages.longest
    }
}
