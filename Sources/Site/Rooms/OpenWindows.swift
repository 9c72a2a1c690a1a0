import Base

/// Tags whose windows are open. A window collects the readings of one packet, which the gateways report one after the other.
///
/// There are two lengths of windows, each with its own queue, so that each queue is in the order of ends. A window that was
/// judged early stays in its queue until its end. So a queue is at most as long as the readings that arrive within one length.
/// The long queue holds at most one window of each tag: the next one opens 1.5 s later at the earliest.
struct OpenWindows: Sendable {
    struct Queue: Sendable {
        private var windows: [(tag: TagIndex, end: MonotonicInstant)] = []
        private var start = 0

        /// nil if no window is open.
        var earliestEnd: MonotonicInstant? { start < windows.count ? windows[start].end : nil }

        /// - Parameter end: Not earlier than the end of any other window of the queue.
        mutating func append(_ tag: TagIndex, until end: MonotonicInstant) { windows.appendSparingly((tag, end)) }

        mutating func removeFirst() -> TagIndex {
            let tag = windows[start].tag
            start += 1
            // Rarely enough to cost little, and often enough to keep the array about as long as the queue.
            if start > 64, start * 8 > windows.count {
                windows.removeFirst(start)
                start = 0
            }
            return tag
        }
    }

    /// Windows of tags that are heard each second.
    var short = Queue()
    /// Windows of tags that are rarely heard.
    var long = Queue()

    /// nil if no window is open.
    var earliestEnd: MonotonicInstant? {
        guard let end = short.earliestEnd else { return long.earliestEnd }
        return min(end, long.earliestEnd ?? end)
    }

    /// Removes the window that ended first.
    ///
    /// - Returns: The tag, which may have been judged meanwhile; nil if no window has ended by `now`.
    mutating func removeEnded(by now: MonotonicInstant) -> TagIndex? {
        guard let end = earliestEnd, end <= now else { return nil }
        return short.earliestEnd == end ? short.removeFirst() : long.removeFirst()
    }
}
