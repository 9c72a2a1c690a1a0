package import Base

/// Derives the time of a recording from its wall-clock stamps: it begins with the first record and never runs backwards.
package struct CaptureTimeline: Sendable {
    /// Records of two adapters may be slightly out of order. A step back by more than this, µs, means that the clock was set
    /// back while recording.
    private static let toleratedDisorder: Int64 = 1_000_000
    /// A step forward by more than this, µs, is no silence: the clock was set, or nobody recorded. So much of it counts.
    private static let longestGap: Int64 = 86_400_000_000
    /// No recording lasts a hundred years; a stamp that far off, µs, is damaged.
    private static let longest: Int64 = 100 * 365 * 86_400_000_000

    /// The current time of the recording.
    package private(set) var instant: MonotonicInstant
    /// Records whose stamp is earlier than the latest one.
    package private(set) var backwardSteps: UInt64 = 0
    /// Steps forward that were passed over, after a day each.
    package private(set) var gaps: UInt64 = 0

    /// The stamp and the instant from which elapsed time is counted.
    private var origin: (stamp: Int64, instant: MonotonicInstant)?
    /// The latest stamp since `origin`.
    private var latest: Int64 = 0
    /// The stamp of the first record.
    private var first: Int64 = 0

    /// - Parameter instant: The time of the first record.
    package init(startingAt instant: MonotonicInstant = .zero) {
        self.instant = instant
    }

    /// Advances to the next stamp, in µs since the year 0.
    ///
    /// - Returns: false if no clock can have made the stamp; then nothing is changed.
    mutating func advance(to stamp: Int64) -> Bool {
        guard stamp >= 0 else { return false }
        guard let origin else {
            origin = (stamp, instant)
            (first, latest) = (stamp, stamp)
            return true
        }
        guard stamp <= Self.longest || stamp - Self.longest <= first else { return false }
        if stamp < latest {
            backwardSteps += 1
            // Small disorder waits until the stamps catch up. After a clock was set back, waiting would take as long as the
            // step, so the count continues from here.
            if latest - stamp > Self.toleratedDisorder {
                self.origin = (stamp, instant)
                latest = stamp
            }
            return true
        }
        if stamp - latest > Self.longestGap {
            gaps += 1
            let (end, overflow) = instant.nanoseconds.addingReportingOverflow(Self.longestGap * 1000)
            guard !overflow else { return false }
            instant = MonotonicInstant(nanoseconds: end)
            self.origin = (stamp, instant)
            latest = stamp
            return true
        }
        let elapsed = (stamp - origin.stamp) * 1000
        let (nanoseconds, overflow) = origin.instant.nanoseconds.addingReportingOverflow(elapsed)
        guard !overflow else { return false }
        latest = stamp
        instant = MonotonicInstant(nanoseconds: nanoseconds)
        return true
    }
}
