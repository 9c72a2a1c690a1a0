package import Base

/// Makes the time of a recording out of its wall-clock stamps: it begins with the first record and
/// never runs backwards.
package struct CaptureTimeline: Sendable {
    /// Records of two adapters may come some milliseconds out of order. More than this is a clock that
    /// was set back while recording.
    private static let toleratedDisorder: Int64 = 1_000_000
    /// No recording lasts a hundred years; a stamp that far off is damage.
    private static let longest: Int64 = 100 * 365 * 86_400_000_000

    /// Where the recording's time stands.
    package private(set) var instant: MonotonicInstant
    /// Records that bore an earlier time than the one before them.
    package private(set) var backwardSteps: UInt64 = 0

    /// The stamp and the instant that elapsed time is counted from.
    private var origin: (stamp: Int64, instant: MonotonicInstant)?
    /// The latest stamp since `origin`.
    private var latest: Int64 = 0

    /// - Parameter instant: The time of the first record.
    package init(startingAt instant: MonotonicInstant = .zero) {
        self.instant = instant
    }

    /// Takes the next stamp in µs since the year 0.
    ///
    /// - Returns: false, with nothing changed, if no clock can have made it.
    mutating func advance(to stamp: Int64) -> Bool {
        guard stamp >= 0 else { return false }
        guard let origin else {
            origin = (stamp, instant)
            latest = stamp
            return true
        }
        guard stamp <= Self.longest || stamp - Self.longest <= origin.stamp else { return false }
        if stamp < latest {
            backwardSteps += 1
            // Small disorder waits until the stamps catch up. A clock set back would hold everything
            // for as long as it was set back, so the count goes on from here.
            if latest - stamp > Self.toleratedDisorder {
                self.origin = (stamp, instant)
                latest = stamp
            }
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
