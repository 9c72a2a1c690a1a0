/// Converts monotonic instants into the time of day.
///
/// A Raspberry Pi has no clock that runs without power. Until time comes from the network, the wall clock is wrong.
/// Messages of that time are stamped again when the right time is known.
package struct WallClock: Hashable, Sendable {
    /// Nanoseconds since 1970 at the zero of the monotonic clock.
    package let epochOffset: Int64
    /// Whether the clock was set.
    package let isKnown: Bool
    /// The offset of local time from UTC.
    package var utcOffset = UTCOffset.zero

    package init(epochOffset: Int64, isKnown: Bool) {
        self.epochOffset = epochOffset
        self.isKnown = isKnown
    }

    /// - Parameters:
    ///   - epochNanoseconds: The wall clock at `now`.
    ///   - now: The monotonic clock at the same moment.
    package init(epochNanoseconds: Int64, at now: MonotonicInstant, isKnown: Bool) {
        self.init(epochOffset: epochNanoseconds &- now.nanoseconds, isKnown: isKnown)
    }

    /// What times of this clock are stamped with.
    package var stamp: WallStamp { isKnown ? .exact : .provisional }

    /// Whether both clocks give the same times, to about a second.
    package func isCloseTo(_ other: WallClock) -> Bool {
        isKnown == other.isKnown && (epochOffset &- other.epochOffset).magnitude < 1_000_000_000
    }

    /// The instant of these seconds since 1970. Seconds from outside may be of any size.
    package func instant(ofEpochSeconds seconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: seconds &* 1_000_000_000 &- epochOffset)
    }

    /// Whole seconds since 1970, rounded down.
    package func epochSeconds(at instant: MonotonicInstant) -> Int64 {
        let (seconds, rest) = (epochOffset &+ instant.nanoseconds).quotientAndRemainder(dividingBy: 1_000_000_000)
        return rest < 0 ? seconds - 1 : seconds
    }
}
