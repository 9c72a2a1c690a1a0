/// The offset of local time from UTC around a moment, and its next change, searched from the day before the moment on.
/// A core has no time zone: the shell makes this value from the system's, and renews it with the wall clock.
package struct UTCOffset: Hashable, Sendable {
    package static let zero = UTCOffset(around: 0) { _ in 0 }

    private static let day: Int64 = 86_400
    /// Rules of daylight saving time change the offset about every half year.
    private static let longestSearch = 200 * day

    /// Seconds by which local time is ahead of UTC, before the change and after it.
    private let before: Int64
    private let after: Int64
    /// Epoch seconds of the change; `.max` if none was found.
    private let change: Int64

    /// - Parameters:
    ///   - moment: Epoch seconds.
    ///   - secondsEast: The seconds by which local time is ahead of UTC at these epoch seconds.
    package init(around moment: Int64, _ secondsEast: (Int64) -> Int64) {
        let begin = moment - Self.day
        before = secondsEast(begin)
        for week in stride(from: begin, to: begin + Self.longestSearch, by: Int64.Stride(7 * Self.day)) {
            var (low, high) = (week, week + 7 * Self.day)
            guard secondsEast(high) != before else { continue }
            while high - low > 1 {
                let middle = (low + high) / 2
                if secondsEast(middle) == before { low = middle } else { high = middle }
            }
            (change, after) = (high, secondsEast(high))
            return
        }
        (change, after) = (.max, before)
    }

    func secondsEast(at epochSeconds: Int64) -> Int64 { epochSeconds < change ? before : after }
}
