internal import Beacon
internal import Regions

/// Commits that go to the disk in one transaction.
///
/// While the disk is busy, what comes is joined: one fsync serves all, and of presence state and
/// regions, which are whole values, only the newest is kept. Joining keeps each commit whole, as the
/// transaction is at least as large as every commit in it.
struct PendingCommit {
    struct Token {
        let token: UInt64
        /// Messages that came with it.
        let messages: Int
    }

    private(set) var tokens: [Token] = []
    /// nil where one was dropped for lack of room, so that the others keep their places.
    private(set) var messages: [OutgoingMessage?] = []
    private(set) var history: [HistoryEntry] = []
    private(set) var regions: [String: [Region]] = [:]
    private(set) var presence: PresenceRecord?
    private(set) var values: [String: [UInt8]?] = [:]
    private(set) var editsTaken: Int64?

    /// Messages and history entries, without those that were dropped.
    private(set) var count = 0
    /// Of messages.
    private(set) var payloadBytes = 0

    mutating func add(token: UInt64, _ changes: [StoreChange]) {
        let before = messages.count
        for change in changes {
            switch change {
            case .regions(let tracker, let new): regions[tracker] = new
            case .presence(let new): presence = new
            case .message(let message):
                messages.append(message)
                count += 1
                payloadBytes += message.payload.count
            case .history(let entry):
                history.append(entry)
                count += 1
            case .value(let key, let value): values[key] = .some(value)
            case .editsTaken(let id): editsTaken = max(editsTaken ?? id, id)
            }
        }
        tokens.append(Token(token: token, messages: messages.count - before))
    }

    /// Makes room: the oldest locations first, then states, then other messages, then history
    /// entries, and transitions only when there is nothing else.
    mutating func shed(toCount countLimit: Int, bytes byteLimit: Int) -> DropCounts {
        var dropped = DropCounts()
        let isTooMuch = { (self: Self) in self.count > countLimit || self.payloadBytes > byteLimit }
        for kind in [MessageKind.location, .state, .other, .transition] {
            if kind == .transition, count > countLimit {
                let excess = min(history.count, count - countLimit)
                history.removeFirst(excess)
                count -= excess
                dropped.history += UInt64(excess)
            }
            guard isTooMuch(self) else { break }
            for index in messages.indices {
                guard let message = messages[index], message.kind == kind else { continue }
                messages[index] = nil
                count -= 1
                payloadBytes -= message.payload.count
                dropped.count(kind)
                guard isTooMuch(self) else { break }
            }
        }
        return dropped
    }
}
