import Base
import Regions

/// Commits that go to the disk in one transaction.
///
/// While the disk is busy, commits are joined: one fsync serves all of them, and of whole values (presence state,
/// regions) only the newest is kept. Each commit stays whole, because the transaction contains all of it.
struct PendingCommit {
    /// How many commits were joined.
    private(set) var commits = 0
    private(set) var messages: [Publication] = []
    private(set) var history: [PastTransition] = []
    private(set) var locations: [PastLocation] = []
    /// Trackers whose history goes, before `history` is added to it.
    private(set) var erasedHistories: Set<ExactString> = []
    private(set) var regions: [ExactString: [Region]] = [:]
    private(set) var presence: PresenceRecord?
    /// The changes after `presence`, or after the state on the disk.
    private(set) var presenceChanges: [[UInt8]] = []
    private(set) var values: [ExactString: KeptValue] = [:]
    /// The last edit of each tracker.
    private(set) var editsTaken: [ExactString: Int64] = [:]

    /// Bytes of the messages' payloads.
    private(set) var payloadBytes = 0

    var count: Int { messages.count + history.count + locations.count }

    mutating func add(_ changes: [StoreChange]) {
        commits += 1
        for change in changes {
            switch change {
            case .regions(let tracker, let new): regions[tracker] = new
            case .presence(let new): add(checkpoint: new)
            case .presenceChange(let change): presenceChanges.append(change)
            case .message(let message):
                messages.append(message)
                payloadBytes += message.payload.count
            case .history(let entry): history.append(entry)
            case .location(let entry): locations.append(entry)
            case .eraseHistory(let tracker):
                history.removeAll { $0.tracker.hasSameBytes(as: tracker) }
                erasedHistories.insert(ExactString(tracker))
            case .value(let key, let value): values[key] = .bytes(value)
            case .madeValue(let key, let make): values[key] = .made(make)
            case .editsTaken(let tracker, let id): editsTaken[tracker] = max(editsTaken[tracker] ?? id, id)
            }
        }
    }

    /// A checkpoint that came after these commits, so it contains their decisions.
    mutating func add(checkpoint: PresenceRecord) {
        presence = checkpoint
        presenceChanges = []
    }

    /// A checkpoint that came before these commits.
    mutating func precede(by checkpoint: PresenceRecord) { presence = presence ?? checkpoint }

    /// Makes room: removes what a later message replaces, drops the oldest pings and locations next, then states, then other
    /// messages, then history entries, and transitions only when nothing else is left.
    mutating func shed(toCount countLimit: Int, bytes byteLimit: Int) -> DropCounts {
        var dropped = DropCounts()
        removeReplaced()
        for kind in [Publication.Kind.transient, .ping, .location, .state, .other] {
            shed(kind, toCount: countLimit, bytes: byteLimit, &dropped)
        }
        let excessLocations = min(locations.count, max(0, count - countLimit))
        locations.removeFirst(excessLocations)
        dropped.history += UInt64(excessLocations)
        let excess = min(history.count, max(0, count - countLimit))
        history.removeFirst(excess)
        dropped.history += UInt64(excess)
        shed(.transition, toCount: countLimit, bytes: byteLimit, &dropped)
        return dropped
    }

    /// Removes the messages that the outbox would replace by a later one of their kind and topic. So of each topic the latest
    /// state is kept.
    private mutating func removeReplaced() {
        var later: Set<Publication.Replacement> = []
        var kept: [Publication] = []
        for message in messages.reversed() {
            if let replacement = message.replacement, !later.insert(replacement).inserted {
                payloadBytes -= message.payload.count
            } else {
                kept.append(message)
            }
        }
        messages = kept.reversed()
    }

    private mutating func shed(
        _ kind: Publication.Kind, toCount countLimit: Int, bytes byteLimit: Int, _ dropped: inout DropCounts
    ) {
        var excess = count - countLimit
        messages.removeAll { waiting in
            guard excess > 0 || payloadBytes > byteLimit, waiting.kind == kind else { return false }
            excess -= 1
            payloadBytes -= waiting.payload.count
            dropped.count(kind)
            return true
        }
    }
}
