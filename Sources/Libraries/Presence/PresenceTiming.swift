/// The numbers that decide presence, each with its reason. `PresenceTimingTests` checks how they relate;
/// `Docs/presence.md` shows what they cost and gain. Seconds are `Float` where every sighting needs them.
///
/// State stored by earlier versions stays readable when one of them changes.
package enum PresenceTiming {
    // MARK: Silence

    /// The least leave timeout of any beacon whose timeout is learned. A scanner that restarts (bluetoothd restarts
    /// every 10 s) or a busy host makes gaps of one or two seconds that do not depend on the beacon.
    package static let floorSeconds: Float = 3
    /// The greatest learned leave timeout at full scan duty: the longest that users of similar programs accept.
    package static let capSeconds: Float = 180
    /// The least leave timeout until the rhythm is known: about six of the slowest legal legacy intervals (10.24 s).
    package static let unknownRhythmSeconds: Float = 60
    /// Number of gaps after which a rhythm is known, also after a silence that the model had ruled out.
    package static let gapsToKnowRhythm: UInt8 = 4
    /// Beacons that advertise at least this often do so while moved, and slow down when put to rest: those that are set
    /// to 200 ms, with the random delay of 0–10 ms that Bluetooth adds to each interval.
    package static let quickIntervalSeconds: Float = 0.21
    /// The least leave timeout of such a beacon: two of the slowest legal intervals (10.24 s) and a second. A beacon
    /// that changes to a slow rhythm does not leave, even if the first slow advertisement is lost.
    package static let quickLeaveTimeoutSeconds: Float = 21.5
    /// A quick beacon whose slow rhythm is known is held for so many slow advertisements that all of them are lost at
    /// most this often: once in 3000 slow-downs.
    package static let slowDownRisk: Float = 0.0003
    /// The limit of the slow advertisements for which it is held: the number for 64 % reception.
    package static let mostSlowAdvertisements = 8
    /// Reception without a slow-down after which a quick beacon is taken to keep its rhythm. Beacons with a motion
    /// sensor are put to rest at least once in so long a time.
    package static let receptionToKeepRhythmSeconds: Float = 3600
    /// A quick beacon that keeps its rhythm and returns after at most this long, three of the slowest legal intervals and
    /// a second, may have slowed down: two slow advertisements were lost. Only after a longer silence was it away.
    package static let quickAbsenceSeconds: Float = 32
    /// So many such absences in 2048 gaps are no absences, but belong to the beacon's rhythm: it sleeps.
    package static let absencesToDoubt: UInt8 = 3
    /// A gap belongs to a slow rhythm only if it is at least this long. In a rhythm that is quicker, the least leave
    /// timeout covers six advertisements.
    package static let slowGapSeconds: Float = 0.5
    /// The same in mean gaps. At 70 % reception, one gap in 300 is four times the mean; where little is received, gaps
    /// of any length are frequent.
    package static let slowGapFactor: Float = 4
    /// Slow gaps in a row, all whole multiples of one length, that are a slow-down. Shadows in which a twentieth of the
    /// advertisements of a 100 ms beacon arrives make such a row once in 100,000 gaps.
    package static let gapsToKnowSlowDown: UInt8 = 5
    /// The least learned leave timeout of a phone or watch. A locked phone sends little for minutes, now and then, so that
    /// its rhythm does not tell how long it may be silent.
    package static let phoneLeaveTimeoutSeconds: Float = 300
    /// A leading `-` in a region's name multiplies the leave timeout by this. OwnTracks asks for "longer" without a
    /// number.
    package static let leavesLaterFactor: UInt8 = 2
    /// The leave timeout is at least this multiple of the longest recent gap.
    package static let recentGapFactor: Float = 1.5
    /// Two sightings closer than this are one advertisement, heard on two of its three channels (they follow
    /// within 10 ms; the least legal interval is 20 ms, an iBeacon's 100 ms).
    package static let sameAdvertisementSeconds: Float = 0.015

    /// Two receivers report the same advertisement if their sightings are closer than this share of the interval.
    package static let sameAdvertisementShare: Float = 0.45

    // MARK: The price of waiting

    /// The gateway waits for one more advertisement only if this saves at least so many false leaves per hour.
    package static let savedByWaiting: Float = 0.015
    /// The rate of false leaves per hour that a quick leave may cause at most.
    package static let mostFalseLeaves: Float = 0.3
    /// The price of waiting for a quick beacon that keeps its rhythm, relative to the two above: its next advertisement
    /// is only a tenth of a second away.
    package static let quickPrice: Float = 0.05

    /// From this interval on, the guesses for silences that were never observed are bolder for all receivers of a beacon
    /// together. A quicker beacon leaves soon in any case.
    package static let boldIntervalSeconds: Float = 1

    // MARK: Shadows

    /// Mean time for which a body or a wall shadows a beacon that moves. It is a prior: the observations of the link
    /// outweigh it as soon as there are enough.
    package static let shadowSeconds: Float = 8
    /// Wander of the smoothed signal, in dB, below which a beacon rests. Still beacons in a hall: median 0.9,
    /// 95 % below 2.1.
    package static let restingWander: Float = 1.6
    /// Wander above which a beacon moves. Carried through the same hall: median 3.0, 95 % above 1.8.
    package static let movingWander: Float = 2.4

    // MARK: Nearness

    /// Time constant of the level that is compared with `enterRSSI` and `leaveRSSI`.
    package static let levelSeconds: Float = 1
    /// How long the level must stay beyond the threshold, so that a person in the doorway does not flap.
    package static let dwellSeconds: Float = 1
    /// The same for a slow beacon, in intervals: one sample alone decides nothing.
    package static let dwellIntervals: Float = 1.5
    /// A sample moves the filters by at most this many dB: one outlier does not look like movement.
    package static let outlierStep: Float = 10

    // MARK: Receivers that are missing

    /// A receiver that ceased to listen keeps its beacons inside until the other receivers have listened for this long.
    /// An adapter that is repaired or moved to another port is back by then. An adapter that was removed, or has
    /// another number now, must not keep a beacon inside for ever.
    package static let absentGrace: Duration = .seconds(900)
    /// The same for a receiver that is known from before a restart and has not reported since. A slow adapter needs
    /// some seconds to start.
    package static let orphanGrace: Duration = .seconds(30)

    // MARK: Bounds

    /// Places for beacons that no region names exactly. A sender that invents identities under a wildcard region fills
    /// only these.
    package static let mostStrangers = 16_384
    /// Changed beacons that are stored by themselves; if more beacons changed, the whole state is stored.
    static let mostChangedBeacons = 1024
    /// Receivers that are remembered of one beacon: more than a machine has adapters.
    package static let mostReceivers = 16
}
