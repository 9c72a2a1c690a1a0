import Base
import Beacon
import Regions

/// Commits that go to the disk in one transaction.
///
/// While the disk is busy, what comes is joined: one fsync serves all, and of presence state and
/// regions, where they are whole values, only the newest is kept. Joining keeps each commit whole, as the
/// transaction is at least as large as every commit in it.
struct PendingCommit {
    struct Token {
        let token: UInt64
        /// Messages that came with it.
        let messages: Int
    }

    struct Message {
        /// Which token it came with, counted from the first ever.
        let token: Int
        /// Which of the token's messages it is.
        let position: Int
        let message: OutgoingMessage
    }

    private(set) var tokens: [Token] = []
    /// How many tokens were forgotten before the first of `tokens`.
    private var forgotten = 0
    private(set) var messages: [Message] = []
    private(set) var history: [HistoryEntry] = []
    private(set) var regions: [ExactString: [Region]] = [:]
    private(set) var presence: PresenceRecord?
    /// After `presence`, or after what is on the disk.
    private(set) var presenceChanges: [PresenceChange] = []
    private(set) var values: [ExactString: [UInt8]?] = [:]
    /// The last edit of each tracker.
    private(set) var editsTaken: [ExactString: Int64] = [:]

    /// Bytes of the messages' payloads.
    private(set) var payloadBytes = 0

    var count: Int { messages.count + history.count }

    mutating func add(token: UInt64, _ changes: [StoreChange]) {
        var position = 0
        for change in changes {
            switch change {
            case .regions(let tracker, let new): regions[tracker] = new
            case .presence(let new): add(checkpoint: new)
            case .presenceChange(let change): presenceChanges.append(change)
            case .message(let message):
                let index = forgotten + tokens.count
                messages.append(Message(token: index, position: position, message: message))
                position += 1
                payloadBytes += message.payload.count
            case .history(let entry): history.append(entry)
            case .value(let key, let value): values[key] = .some(value)
            case .editsTaken(let tracker, let id): editsTaken[tracker] = max(editsTaken[tracker] ?? id, id)
            }
        }
        tokens.append(Token(token: token, messages: position))
    }

    /// A checkpoint that came after these commits, so it holds what they decided.
    mutating func add(checkpoint: PresenceRecord) {
        presence = checkpoint
        presenceChanges = []
    }

    /// A checkpoint that came before these commits.
    mutating func precede(by checkpoint: PresenceRecord) { presence = presence ?? checkpoint }

    /// Forgets whom to answer, the oldest first. What they asked for stays.
    mutating func forgetTokens(over limit: Int) {
        guard tokens.count > limit else { return }
        // Half of them, for forgetting moves all that stay.
        let excess = tokens.count - limit / 2
        tokens.removeFirst(excess)
        forgotten += excess
    }

    /// What to answer each token, given the row of each of `messages`.
    func answers(_ rows: [Int64?]) -> [(token: UInt64, ids: [Int64?])] {
        var answers = tokens.map { (token: $0.token, ids: [Int64?](repeating: nil, count: $0.messages)) }
        for (message, row) in zip(messages, rows) where message.token >= forgotten {
            answers[message.token - forgotten].ids[message.position] = row
        }
        return answers
    }

    /// Makes room: the oldest locations first, then states, then other messages, then history
    /// entries, and transitions only when there is nothing else.
    mutating func shed(toCount countLimit: Int, bytes byteLimit: Int) -> DropCounts {
        var dropped = DropCounts()
        for kind in [MessageKind.location, .state, .other] {
            shed(kind, toCount: countLimit, bytes: byteLimit, &dropped)
        }
        let excess = min(history.count, max(0, count - countLimit))
        history.removeFirst(excess)
        dropped.history += UInt64(excess)
        shed(.transition, toCount: countLimit, bytes: byteLimit, &dropped)
        return dropped
    }

    private mutating func shed(
        _ kind: MessageKind, toCount countLimit: Int, bytes byteLimit: Int, _ dropped: inout DropCounts
    ) {
        var excess = count - countLimit
        messages.removeAll { waiting in
            guard excess > 0 || payloadBytes > byteLimit, waiting.message.kind == kind else { return false }
            excess -= 1
            payloadBytes -= waiting.message.payload.count
            dropped.count(kind)
            return true
        }
    }
}
