import Base

/// Tags whose windows are open: what gateways heard of the same packet arrives one after the other.
///
/// There are two lengths of windows, and so a queue for each, in which ends come in the order of time. A window that was judged
/// early stays in its queue until its end. So a queue is at most as long as the readings that arrive within one length, and the
/// long one holds at most one window of each tag: another one opens a second and a half later.
struct OpenWindows: Sendable {
    struct Queue: Sendable {
        private var windows: [(tag: TagIndex, end: MonotonicInstant)] = []
        private var start = 0

        /// nil: no window is open.
        var earliestEnd: MonotonicInstant? { start < windows.count ? windows[start].end : nil }

        /// - Parameter end: Not before that of any other window of the queue.
        mutating func append(_ tag: TagIndex, until end: MonotonicInstant) { windows.appendSparingly((tag, end)) }

        mutating func removeFirst() -> TagIndex {
            let tag = windows[start].tag
            start += 1
            // Rarely enough to cost little, often enough for the array to stay about as long as the queue.
            if start > 64, start * 8 > windows.count {
                windows.removeFirst(start)
                start = 0
            }
            return tag
        }
    }

    /// Of tags that are heard each second.
    var short = Queue()
    /// Of tags that are rarely heard.
    var long = Queue()

    /// nil: no window is open.
    var earliestEnd: MonotonicInstant? {
        guard let end = short.earliestEnd else { return long.earliestEnd }
        return min(end, long.earliestEnd ?? end)
    }

    /// Removes the window that ended first.
    ///
    /// - Returns: its tag, which may have been judged meanwhile; nil if no window has ended by `now`.
    mutating func removeEnded(by now: MonotonicInstant) -> TagIndex? {
        guard let end = earliestEnd, end <= now else { return nil }
        return short.earliestEnd == end ? short.removeFirst() : long.removeFirst()
    }
}
