/// How much of the time a controller listens: a window of listening in every interval.
///
/// Core Specification 5.4, Vol 4, Part E, 7.8.10: both in units of 0.625 ms, 0x0004 … 0x4000, the window
/// no longer than the interval.
package struct ScanDuty: Hashable, Sendable {
    /// Units of 0.625 ms.
    package let interval: UInt16
    /// Units of 0.625 ms.
    package let window: UInt16

    /// - Returns: nil for values that the specification excludes.
    package init?(interval: UInt16, window: UInt16) {
        guard (0x0004...0x4000).contains(interval), (0x0004...interval).contains(window) else { return nil }
        self.interval = interval
        self.window = window
    }

    private init(always interval: UInt16) {
        self.interval = interval
        window = interval
    }

    /// 60 ms of every 60 ms. The kernel's own setting for monitors is 30 of 60 and hears half as much.
    package static let full = ScanDuty(always: 0x60)

    /// The least share that can be set. 0.05 of an interval of 60 ms is 5 units, just above the least window.
    package static let leastShare = 0.05

    /// The window in every 60 ms that comes closest to a share of the time.
    ///
    /// The interval is the same at each share. A longer interval with the same share has longer pauses, in which several
    /// advertisements in a row are missed.
    ///
    /// - Parameter share: Limited to `leastShare` … 1.
    package init(share: Double) {
        let share = share.isNaN ? 1 : min(1, max(Self.leastShare, share))
        interval = Self.full.interval
        window = UInt16((share * Double(Self.full.interval)).rounded())
    }

    /// 0 … 1.
    package var share: Double { Double(window) / Double(interval) }
}
