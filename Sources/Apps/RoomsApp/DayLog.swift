import Base
import Regions

/// The newest visits of all tags, for the time line of the day on the page. They are a part of the history: without a history
/// there are none.
struct DayLog {
    /// Largest number of transitions. A tag that is carried about all day makes some hundred.
    static let most = 4_000
    private static let day: Int64 = 86_400

    private var entries: [PastTransition] = []
    /// Whether the history from before this start is among them.
    private(set) var isRestored = false

    /// Adds a transition that was decided now. One without its time waits for the history, which gets the time later.
    mutating func add(_ entry: PastTransition) {
        guard entry.stamp != .provisional else { return }
        if entries.count >= Self.most { entries.removeFirst(entries.count - Self.most + 1) }
        entries.append(entry)
    }

    /// Takes the newest transitions of the history, the oldest first.
    mutating func restore(_ past: [PastTransition]) {
        isRestored = true
        let since = entries
        entries = past.filter { $0.stamp != .provisional }
        let known = Set(entries.map(Key.init))
        for entry in since where !known.contains(Key(entry)) { add(entry) }
    }

    /// Forgets a tag whose history is deleted.
    mutating func erase(_ topic: String) { entries.removeAll { $0.tracker.hasSameBytes(as: topic) } }

    /// The visits of the last 24 hours.
    ///
    /// - Parameter now: Epoch seconds.
    func visits(until now: Int64) -> [Visits.Visit] {
        var visits = Visits(names: [:])
        for entry in entries { visits.add(entry) }
        return visits.list.filter { visit in
            // Where the end is not known, the beginning counts.
            visit.isOver ? (visit.to ?? visit.from ?? 0) > now - Self.day : true
        }
    }

    private struct Key: Hashable {
        let tracker, room: String
        let isEnter: Bool
        let timestamp: Int64

        init(_ entry: PastTransition) {
            (tracker, room, isEnter, timestamp) = (entry.tracker, entry.rid, entry.isEnter, entry.timestamp)
        }
    }
}
