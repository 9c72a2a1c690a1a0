import Base

/// Which beacon has to be examined next, and when: a binary heap, earliest deadline first.
///
/// A sighting neither moves nor removes an entry. An entry that is too early or stale is found when its time comes;
/// `TrackedBeacon.queued` is the deadline of the valid entry of a beacon.
struct DeadlineQueue: Sendable {
    struct Entry: Sendable, BitwiseCopyable {
        /// Nanoseconds of the monotonic clock.
        var deadline: Int64
        /// The beacon's place.
        var place: Int32
    }

    private var entries: [Entry] = []
    /// The earliest deadline, in nanoseconds; `.max` if there is none.
    private(set) var earliest: Int64 = .max

    /// The number of entries, stale ones included.
    var count: Int { entries.count }
    var first: Entry? { entries.first }

    mutating func insert(_ place: Int, at deadline: Int64) {
        let entry = Entry(deadline: deadline, place: Int32(truncatingIfNeeded: place))
        var index = entries.count
        entries.appendSparingly(entry)
        while index > 0 {
            let parent = (index - 1) / 2
            guard entries[parent].deadline > deadline else { break }
            entries[index] = entries[parent]
            index = parent
        }
        entries[index] = entry
        earliest = entries[0].deadline
    }

    /// Removes the first entry if its deadline is not after `end`.
    mutating func removeFirst(until end: Int64) -> Entry? {
        guard earliest <= end, let first = entries.first, let last = entries.popLast() else { return nil }
        if !entries.isEmpty { sink(last) }
        earliest = entries.first?.deadline ?? .max
        return first
    }

    /// Puts an entry first, and moves it down to where it belongs.
    private mutating func sink(_ entry: Entry) {
        var index = 0
        while true {
            var child = 2 * index + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1].deadline < entries[child].deadline { child += 1 }
            guard entries[child].deadline < entry.deadline else { break }
            entries[index] = entries[child]
            index = child
        }
        entries[index] = entry
    }

    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        earliest = .max
    }
}
