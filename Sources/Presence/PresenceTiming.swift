/// The numbers that decide presence, each with its reason. How they relate is held by `PresenceTimingTests`;
/// what they cost and gain is in `Docs/presence.md`. Seconds as `Float` where every sighting needs them.
package enum PresenceTiming {
    // MARK: Silence

    /// No learned leave comes sooner. A scanner that restarts (bluetoothd does every 10 s) or a busy host
    /// makes holes of a second or two that say nothing about the beacon.
    package static let floorSeconds: Float = 3
    /// No learned leave comes later, at full scan duty: the longest that peers' users put up with.
    package static let capSeconds: Float = 180
    /// The least hold until the rhythm is known: six of the slowest legal legacy intervals (10.24 s).
    package static let unknownRhythmSeconds: Float = 60
    /// Gaps that make a rhythm known, and that make it known again after a silence the model had ruled out.
    package static let gapsToKnowRhythm: UInt8 = 4
    /// Beacons that advertise at least this often do so while moved, and slow down when put to rest.
    package static let quickIntervalSeconds: Float = 0.2
    /// The least hold of such a beacon: two of the slowest legal intervals (10.24 s) and a second, so that
    /// falling into a slow rhythm is no leave even if the first slow advertisement is lost.
    package static let quickHoldSeconds: Float = 21.5
    /// What a leading `-` in a region's name makes of the hold: OwnTracks asks for "longer" and gives
    /// no number.
    package static let longerHoldFactor: Int64 = 2
    /// Hold after the longest gap of late, in multiples of it.
    package static let recentGapFactor: Float = 1.5
    /// Two sightings closer than this are one advertisement, heard on two of its three channels (they follow
    /// within 10 ms; the least legal interval is 20 ms, an iBeacon's 100 ms).
    package static let sameAdvertisementSeconds: Float = 0.015

    // MARK: The price of waiting

    /// False leaves per hour that one more advertisement's wait must save, or silence is believed.
    package static let savedByWaiting: Float = 0.015
    /// False leaves per hour that are not exceeded for the sake of speed.
    package static let mostFalseLeaves: Float = 0.3

    // MARK: Shadows

    /// Mean time that a body or a wall shadows a beacon that moves. It enters as a prior: what the link
    /// itself shows counts more as soon as it has shown enough.
    package static let shadowSeconds: Float = 8
    /// Wander of the smoothed signal, in dB, below which a beacon rests. Still beacons in a hall: median 0.9,
    /// 95 % below 2.1.
    package static let restingWander: Float = 1.6
    /// Wander above which a beacon moves. Carried through the same hall: median 3.0, 95 % above 1.8.
    package static let movingWander: Float = 2.4

    // MARK: Nearness

    /// Time constant of the level that is held against `enterRSSI` and `leaveRSSI`.
    package static let levelSeconds: Float = 1
    /// How long the level must stand on the other side, so that a person in the doorway does not flap.
    package static let dwellSeconds: Float = 1
    /// The dwell in intervals of a slow beacon: one sample alone decides nothing.
    package static let dwellIntervals: Float = 1.5
    /// A sample moves the filters by at most this many dB: one outlier is not a step aside.
    package static let outlierStep: Float = 10

    // MARK: Receivers that are missing

    /// Listening time of the others after which a receiver that ceased to listen no longer holds a beacon inside by its
    /// silence standing still. Somebody who is mending an adapter, or carries it to another port, is done by then; one
    /// that was taken away, or has another number now, must not keep somebody at home for ever.
    package static let absentGrace: Duration = .seconds(900)
    /// The same for a receiver that was kept from before a restart, and was not heard of since. An adapter that is
    /// slow to come up takes some seconds.
    package static let orphanGrace: Duration = .seconds(30)

    // MARK: Bounds

    /// Places for beacons that no region names exactly. Whoever invents identities under a wildcard region fills these
    /// and no more.
    package static let mostStrangers = 16_384
    /// Beacons whose coming and going is kept by itself; with more, everything is.
    static let mostMovers = 1024
    /// Receivers that are told apart for one beacon.
    package static let mostReceivers = 16
}
