package import Base
import Beacon

/// How to turn monotonic instants into the time of day, as far as the machine knows it.
///
/// A Raspberry Pi has no clock that runs without power: until time comes from the network, what the
/// wall clock says is wrong, and messages made meanwhile are stamped again when it is known.
package struct WallClock: Hashable, Sendable {
    /// Nanoseconds since 1970 at the zero of the monotonic clock.
    package let epochOffset: Int64
    /// Whether somebody set the clock.
    package let isKnown: Bool

    package init(epochOffset: Int64, isKnown: Bool) {
        self.epochOffset = epochOffset
        self.isKnown = isKnown
    }

    /// - Parameter now: What both clocks say at one moment.
    package init(epochNanoseconds: Int64, at now: MonotonicInstant, isKnown: Bool) {
        self.init(epochOffset: epochNanoseconds &- now.nanoseconds, isKnown: isKnown)
    }

    /// Whether times by the one and by the other are the same, to the second or so.
    func isCloseTo(_ other: WallClock) -> Bool {
        isKnown == other.isKnown && (epochOffset &- other.epochOffset).magnitude < 1_000_000_000
    }

    /// Whole seconds since 1970.
    package func epochSeconds(at instant: MonotonicInstant) -> Int64 {
        let nanoseconds = epochOffset &+ instant.nanoseconds
        return nanoseconds >= 0 ? nanoseconds / 1_000_000_000 : (nanoseconds - 999_999_999) / 1_000_000_000
    }
}
