package import Base

/// A location that was published, or would have been if there were a broker: one value in the core and in the history.
package struct PastLocation: Hashable, Sendable {
    /// The base topic of the tracker.
    package var tracker: String
    package var coordinates: Coordinates
    /// Metres.
    package var accuracy: Int64
    /// Why it was published: the message's `t`.
    package var trigger: String
    /// Epoch seconds; invalid while `stamp` is `provisional`.
    package var timestamp: Int64
    package var stamp: WallStamp
    package var happened: MonotonicInstant

    package init(
        tracker: String, coordinates: Coordinates, accuracy: Int64, trigger: String, timestamp: Int64,
        stamp: WallStamp, happened: MonotonicInstant
    ) {
        self.tracker = tracker
        self.coordinates = coordinates
        self.accuracy = accuracy
        self.trigger = trigger
        self.timestamp = timestamp
        self.stamp = stamp
        self.happened = happened
    }
}
