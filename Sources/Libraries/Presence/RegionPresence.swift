import Beacon

/// One beacon in one region that it matches: whether it is near, and since when its level has been beyond the
/// threshold.
struct RegionPresence: Sendable, BitwiseCopyable {
    /// Index in the engine's regions; −1: in none.
    var region: Int32
    /// The next region of the same beacon, in the engine's list; −1: none.
    var next: Int32 = -1
    // Before the narrow values, so that a beacon fits into 200 bytes.
    /// Listening time in nanoseconds at which the level crossed the threshold.
    private var since: Int64 = 0
    /// Whether this beacon makes the region occupied.
    var isNear = false
    /// Whether the level is beyond the threshold, for less than the dwell so far. Otherwise `since` has no meaning.
    private var isCrossingThreshold = false
    /// The receiver whose clock `since` refers to.
    private(set) var receiver: UInt16 = 0

    init(region: Int32) { self.region = region }

    /// The membership of a beacon that matches no region.
    static var none: Self { Self(region: -1) }

    /// Decides from the newest sighting whether the beacon is near.
    ///
    /// - Parameters:
    ///   - level: The beacon's level in dBm, the best of its receivers; nil if no receiver measured one.
    ///   - listened: Listening time of `receiver` in nanoseconds.
    ///   - dwell: Nanoseconds for which the level must stay beyond the threshold.
    /// - Returns: whether the beacon is near now.
    mutating func judge(
        level: Float?, of rule: RegionRule, at listened: Int64, by receiver: UInt16, dwell: Int64
    ) -> Bool {
        guard let threshold = rule.threshold(isNear: isNear) else {
            isCrossingThreshold = false
            return true
        }
        // A sighting without a level proves neither that the beacon came near nor that it went away.
        guard let level, isNear == (level < Float(threshold.dBm)) else {
            isCrossingThreshold = false
            return isNear
        }
        if !isCrossingThreshold { setCrossing(for: 0, by: receiver, at: listened) }
        return listened - since >= dwell ? !isNear : isNear
    }

    /// The beacon came near or went away: the next change needs a new crossing.
    mutating func set(near: Bool) {
        isNear = near
        isCrossingThreshold = false
    }

    /// The level is no longer known to be beyond the threshold.
    mutating func endCrossing() { isCrossingThreshold = false }

    /// Whether the level of a near beacon is below the threshold, for less than the dwell so far.
    var isFading: Bool { isNear && isCrossingThreshold }

    /// Listening time of `receiver` at which a beacon whose level has fallen leaves without another sighting.
    func fadeDeadline(dwell: Int64) -> Int64? {
        isFading ? since &+ dwell : nil
    }

    /// Nanoseconds of listening for which the level has been beyond the threshold; nil if it is not.
    func crossingTime(at listened: Int64) -> Int64? { isCrossingThreshold ? listened - since : nil }

    /// The level has been beyond the threshold for `duration` nanoseconds of listening; from now on the clock of `receiver`
    /// counts.
    ///
    /// - Parameter listened: Listening time of `receiver` in nanoseconds.
    mutating func setCrossing(for duration: Int64, by receiver: UInt16, at listened: Int64) {
        isCrossingThreshold = true
        self.receiver = receiver
        since = listened - duration
    }
}
