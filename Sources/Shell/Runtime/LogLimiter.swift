package import Base

/// Limits lines to one per kind and minute: a fault that repeats a thousand times a second makes one line and a count. Of
/// mistakes that people make, several different texts of a kind are written.
/// There is also a limit for all lines together, because the log wears the SD card too. What a service decides and what it refuses have
/// limits of their own: nobody can use up their lines by anything else.
package struct LogLimiter: Sendable {
    /// What to do with a line.
    package enum Decision: Equatable, Sendable {
        /// Write it, with the number of suppressed lines of its kind since the last one.
        case write(suppressed: Int)
        case suppress
    }

    /// What to do with a line of any kind.
    package enum LineDecision: Equatable, Sendable {
        /// Write it, after a line with the number of omitted lines in the previous interval.
        case write(leftOut: Int)
        case leaveOut
    }

    /// What a line counts against.
    package enum Budget: Hashable, Sendable {
        case general
        /// What the service decided: enters and leaves.
        case transitions
        /// What the service refused.
        case refusals
    }

    private struct Window {
        var start: MonotonicInstant
        var lines = 0
    }

    private struct Kind {
        var since: MonotonicInstant
        var suppressed: Int
        /// The hashes of the texts that were written since.
        var texts: Set<Int>
    }

    private let interval: Duration
    private let capacity: Int
    private let lines: Int
    private var kinds: [String: Kind] = [:]
    private var windows: [Budget: Window] = [:]
    /// Lines not written so far.
    package private(set) var suppressedTotal = 0

    /// - Parameters:
    ///   - interval: the time in which one line of a kind is written.
    ///   - capacity: how many kinds are distinguished. Kinds may come from outside, and memory is finite.
    ///   - lines: the limit of all kinds together in one interval, of each budget.
    package init(interval: Duration = .seconds(60), capacity: Int = 256, lines: Int = 3000) {
        self.interval = interval
        self.capacity = max(1, capacity)
        self.lines = max(1, lines)
    }

    package mutating func admitLine(at now: MonotonicInstant, of budget: Budget = .general) -> LineDecision {
        var leftOut = 0
        var window = windows[budget] ?? Window(start: now)
        if window.start.duration(to: now) >= interval {
            leftOut = max(0, window.lines - lines)
            window = Window(start: now)
        }
        window.lines += 1
        windows[budget] = window
        guard window.lines <= lines else {
            suppressedTotal += 1
            return .leaveOut
        }
        return .write(leftOut: leftOut)
    }

    package mutating func admit(_ kind: String, at now: MonotonicInstant) -> Decision {
        admit(kind, text: "", of: 1, at: now)
    }

    /// Admits several lines of a kind in one interval, if their texts differ: one mistake must not hide another.
    ///
    /// - Parameter count: how many different texts of the kind are written in one interval.
    package mutating func admit(_ kind: String, text: String, of count: Int, at now: MonotonicInstant) -> Decision {
        if let known = kinds[kind], known.since.duration(to: now) < interval {
            if known.texts.count < count, kinds[kind]?.texts.insert(text.hashValue).inserted == true {
                return .write(suppressed: 0)
            }
            kinds[kind]?.suppressed += 1
            suppressedTotal += 1
            return .suppress
        }
        let suppressed = kinds[kind]?.suppressed ?? 0
        if kinds[kind] == nil, kinds.count >= capacity { makeRoom(at: now) }
        kinds[kind] = Kind(since: now, suppressed: 0, texts: [text.hashValue])
        return .write(suppressed: suppressed)
    }

    /// Forgets every kind whose interval is over; if there is no such kind, the oldest.
    private mutating func makeRoom(at now: MonotonicInstant) {
        let stale = kinds.filter { $0.value.since.duration(to: now) >= interval }
        for kind in stale.keys { kinds[kind] = nil }
        if stale.isEmpty, let oldest = kinds.min(by: { $0.value.since < $1.value.since }) {
            kinds[oldest.key] = nil
        }
    }
}
