package import Base

/// Since when a region is occupied or empty, or a tracker is inside a circle.
package struct OccupancyBegin: Hashable, Sendable {
    /// Before the zero of the clock if the begin is older than the boot. The start of this program if the wall
    /// clock was not known, so that the age is unknown.
    package let since: MonotonicInstant
    /// Seconds since 1970 from before a restart of the machine, where they are more exact than `since`.
    let keptTimestamp: Int64?

    init(since: MonotonicInstant, keptTimestamp: Int64? = nil) {
        (self.since, self.keptTimestamp) = (since, keptTimestamp)
    }

    /// Whether `timestamp` is right.
    func isTimeKnown(by clock: WallClock) -> Bool { clock.isKnown || keptTimestamp != nil }

    /// Seconds since 1970.
    package func timestamp(by clock: WallClock) -> Int64 { keptTimestamp ?? clock.epochSeconds(at: since) }

    /// The same begin as an instant, now that the wall clock is known. The stored instant is then exact, too: a later start
    /// in the same boot goes by it.
    ///
    /// - Parameter now: Nothing begins later.
    func exact(by clock: WallClock, at now: MonotonicInstant) -> OccupancyBegin {
        guard clock.isKnown, let keptTimestamp else { return self }
        return OccupancyBegin(since: min(clock.instant(ofEpochSeconds: keptTimestamp), now))
    }
}
