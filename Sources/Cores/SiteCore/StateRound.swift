import Base
import SiteProtocol

/// The states of tags that the active service sends once more, for a service that has appeared.
///
/// A service that was off has the states of its own store. It does not believe what the broker retains, because any client may
/// have left that there. What arrives live while another service is active counts.
struct StateRound: Sendable {
    /// Time between two parts of a round, of `most` states each.
    static let period: Duration = .milliseconds(125)
    static let most = 50
    /// Time between the beginnings of two rounds: any client can publish cards of services.
    static let pause: Duration = .seconds(10)

    /// When the next part is due; nil without a round.
    private(set) var due: MonotonicInstant?
    /// Index of the next tag.
    private var next = 0
    /// Whether a service appeared after the round had begun.
    private var isWanted = false
    private var began: MonotonicInstant?

    mutating func want(at now: MonotonicInstant) {
        guard due == nil else { return isWanted = next > 0 }
        due = max(now, began?.advanced(by: Self.pause) ?? now)
    }

    /// The indices of the tags whose states are due now, among this many.
    mutating func part(of count: Int, at now: MonotonicInstant) -> Range<Int> {
        if next == 0 { began = now }
        let part = min(next, count)..<min(next + Self.most, count)
        next = part.upperBound
        guard next == count else {
            due = now.advanced(by: Self.period)
            return part
        }
        (next, due) = (0, nil)
        if isWanted { want(at: now) }
        isWanted = false
        return part
    }

    /// The tags have other indices now. A round that runs begins again.
    mutating func beginAgain() { (next, isWanted) = (0, false) }

    /// Another service is active.
    mutating func end() { (next, due, isWanted) = (0, nil, false) }
}
