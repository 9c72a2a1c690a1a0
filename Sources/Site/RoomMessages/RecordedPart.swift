package import Base

/// A part of a recording without a pause, in the virtual time of a replay.
package struct RecordedPart: Hashable, Sendable {
    /// A longer time between two messages is a pause, which is no part of the recording, nanoseconds.
    private static let longestStep: Int64 = 60_000_000_000

    /// When its first message arrived, and its last.
    package let begin: MonotonicInstant
    package private(set) var end: MonotonicInstant
    /// The clock of the recording minus virtual time, nanoseconds.
    package let offset: Int64

    package init(_ begin: MonotonicInstant, _ end: MonotonicInstant, offset: Int64) {
        (self.begin, self.end, self.offset) = (begin, end, offset)
    }

    /// Nanoseconds
    package var length: Int64 { end.nanoseconds - begin.nanoseconds }

    /// Adds a message that arrived at `now`.
    ///
    /// - Returns: false if there is a pause before it, or the clock of the recording was set: another part begins.
    mutating func add(at now: MonotonicInstant, offset: Int64) -> Bool {
        guard offset == self.offset, now.nanoseconds - end.nanoseconds <= Self.longestStep else { return false }
        end = now
        return true
    }
}

extension MonotonicInstant {
    /// Seconds of virtual time, as the rules of other programs count them.
    var virtualSeconds: Double { Double(nanoseconds) / 1e9 }
}
