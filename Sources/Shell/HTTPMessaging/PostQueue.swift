package import Base

/// The messages that wait to be posted, and which of them is the next. Pure: time is passed in.
///
/// Messages go in their order, and a failed one is posted again before all others. A message that has failed
/// `patience` times lets later ones be tried between its own attempts. It steps aside only if the server accepts one
/// of them and then still does not accept this one; if the server accepts none, the order stays.
package struct PostQueue: Sendable {
    /// After this many failures of the first message, later ones are tried between its attempts.
    package static let patience = 6
    /// Later messages that are tried in one round.
    package static let mostTried = 3
    /// The time between two attempts at a message that stepped aside.
    package static let recess: Duration = .seconds(3600)
    /// Messages that may step aside. Beyond that the oldest is given up, so that the others have room.
    package static let mostAside = 64

    /// What becomes of messages after an attempt.
    package enum Outcome: Equatable, Sendable {
        /// The message steps aside, and is tried again after `recess`.
        case steppedAside(HTTPPost, failures: Int)
        /// The message is given up, because too many stepped aside.
        case givenUp(HTTPPost)
    }

    private struct Entry: Sendable {
        let post: HTTPPost
        var failures = 0
        /// When it is tried again; only for a message that stepped aside.
        var retry: MonotonicInstant?
    }

    private let limit: Int
    private var waiting: [Entry] = []
    /// The messages that stepped aside, in the order in which they are tried again.
    private var aside: [Entry] = []
    /// How far the present round has gone in `waiting`.
    private var current = 0
    /// Later messages that were tried in this round.
    private var tried = 0
    /// Whether the server has accepted a later message in this round.
    private var isProven = false

    /// - Parameter limit: Largest number of messages.
    package init(limit: Int) { self.limit = limit }

    /// - Returns: false if there is no room.
    package mutating func append(_ post: HTTPPost) -> Bool {
        guard waiting.count + aside.count < limit else { return false }
        waiting.append(Entry(post: post))
        return true
    }

    /// The message to post now. It stays the next one until `accepted`, `refused` or `failed`.
    package func next(at now: MonotonicInstant) -> HTTPPost? {
        if current == 0, let first = aside.first, let retry = first.retry, retry <= now { return first.post }
        return waiting.indices.contains(current) ? waiting[current].post : nil
    }

    /// Whether a message waits that has not stepped aside.
    package var hasWaiting: Bool { !waiting.isEmpty }

    /// When the next message that stepped aside is due.
    package var due: MonotonicInstant? { aside.first?.retry }

    /// The server has the message. The first message follows, also if this one was tried between its attempts.
    package mutating func accepted(_ token: Int64) {
        if let index = waiting.firstIndex(where: { $0.post.token == token }) {
            waiting.remove(at: index)
            if index > 0 { isProven = true }
            current = 0
        } else {
            aside.removeAll { $0.post.token == token }
        }
    }

    /// The server will never accept the message.
    package mutating func refused(_ token: Int64) {
        waiting.removeAll { $0.post.token == token }
        aside.removeAll { $0.post.token == token }
        current = 0
    }

    /// The server has not accepted the message, and may accept it later.
    ///
    /// - Returns: `goesOn`: another message, or this one, is posted at once; otherwise the round is over, and the next one
    ///   begins after a pause.
    package mutating func failed(_ token: Int64, at now: MonotonicInstant) -> (outcomes: [Outcome], goesOn: Bool) {
        if let index = aside.firstIndex(where: { $0.post.token == token }) {
            var entry = aside.remove(at: index)
            entry.failures += 1
            entry.retry = now.advanced(by: Self.recess)
            aside.append(entry)
            return ([], true)
        }
        guard waiting.indices.contains(current), waiting[current].post.token == token else { return ([], false) }
        waiting[current].failures += 1
        if current == 0, isProven, waiting[0].failures > Self.patience { return (stepAside(at: now), true) }
        guard waiting[0].failures >= Self.patience, !isProven, tried < Self.mostTried, let following else {
            endRound()
            return ([], false)
        }
        (current, tried) = (following, tried + 1)
        return ([], true)
    }

    /// The next later message to try. One that has failed often says no more than the first does, so the ones behind it are tried.
    private var following: Int? {
        let later = (current + 1)..<max(current + 1, waiting.count)
        return later.first { waiting[$0].failures < Self.patience } ?? (current == 0 ? later.first : nil)
    }

    /// The next attempt begins with the first message.
    package mutating func endRound() { (current, tried, isProven) = (0, 0, false) }

    private mutating func stepAside(at now: MonotonicInstant) -> [Outcome] {
        var entry = waiting.removeFirst()
        entry.retry = now.advanced(by: Self.recess)
        aside.append(entry)
        var outcomes = [Outcome.steppedAside(entry.post, failures: entry.failures)]
        if aside.count > Self.mostAside { outcomes.append(.givenUp(aside.removeFirst().post)) }
        return outcomes
    }
}
