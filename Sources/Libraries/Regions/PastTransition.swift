package import Base
package import Beacon

/// A transition that was decided: one value in the core, the log, the history and on the status page.
package struct PastTransition: Hashable, Sendable {
    package typealias Event = TransitionEvent

    /// The base topic of the tracker.
    package var tracker: String
    /// The tracker's `tid`. The history does not store it.
    package var trackerID: String?
    /// What people call the tracker; nil if it has no name. The history does not store it.
    package var trackerName: String?
    package var rid: String
    /// The region's name as transitions show it.
    package var name: String
    package var event: Event
    /// The beacon that entered first or left last; nil for a circle, or if it is not known.
    package var beacon: BeaconID?
    /// The signal of an enter. The history does not store it.
    package var rssi: RSSI?
    /// Epoch seconds; invalid while `stamp` is `provisional`.
    package var timestamp: Int64
    package var stamp: WallStamp
    package var happened: MonotonicInstant

    package var isEnter: Bool { event == .enter }

    package init(
        tracker: String, trackerID: String? = nil, trackerName: String? = nil, rid: String, name: String, event: Event,
        beacon: BeaconID?,
        rssi: RSSI? = nil, timestamp: Int64, stamp: WallStamp, happened: MonotonicInstant
    ) {
        self.tracker = tracker
        self.trackerID = trackerID
        self.trackerName = trackerName
        self.rid = rid
        self.name = name
        self.event = event
        self.beacon = beacon
        self.rssi = rssi
        self.timestamp = timestamp
        self.stamp = stamp
        self.happened = happened
    }
}
