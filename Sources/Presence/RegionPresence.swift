import Beacon
import Regions

/// One beacon in one region that it matches: whether it is near, and since when it seems otherwise.
struct RegionPresence: Sendable, BitwiseCopyable {
    /// Position in the engine's regions; −1: in none.
    var region: Int32
    /// The next region of the same beacon, in the engine's list; −1: none.
    var next: Int32 = -1
    /// Whether this beacon makes the region occupied.
    var isNear = false
    /// Whether `since` means something.
    private var isWavering = false
    /// The receiver on whose clock `since` is told.
    private(set) var receiver: UInt8 = 0
    /// Listening time in nanoseconds at which the level came to stand on the other side.
    private var since: Int64 = 0

    init(region: Int32) { self.region = region }

    /// Stands for the regions of a beacon that has none.
    static var none: Self { Self(region: -1) }

    /// What the newest sighting means for nearness.
    ///
    /// - Parameters:
    ///   - level: The beacon's level in dBm, the best of its receivers; nil if no receiver told any.
    ///   - listened: Listening time of `receiver` in nanoseconds.
    ///   - dwell: Nanoseconds that the level must stand on the other side.
    /// - Returns: whether the beacon is near now.
    mutating func judge(
        level: Float?, of rule: RegionRule, at listened: Int64, by receiver: UInt8, dwell: Int64
    ) -> Bool {
        guard let threshold = isNear ? rule.leaveRSSI : rule.enterRSSI ?? rule.leaveRSSI else {
            isWavering = false
            return true
        }
        // Without a level nothing is proved: neither that it came near, nor that it went.
        guard let level, isNear == (level < Float(threshold.dBm)) else {
            isWavering = false
            return isNear
        }
        if !isWavering || self.receiver != receiver {
            isWavering = true
            self.receiver = receiver
            since = listened
        }
        return listened - since >= dwell ? !isNear : isNear
    }

    /// The beacon came near or went: the level has to cross anew.
    mutating func set(near: Bool) {
        isNear = near
        isWavering = false
    }

    /// Whether the level has fallen and is not believed yet.
    var isFading: Bool { isNear && isWavering }

    /// Listening time of `receiver` at which a level that already fell is believed without another sighting.
    func fadeDeadline(dwell: Int64) -> Int64? {
        isFading ? since &+ dwell : nil
    }

    /// Nanoseconds of listening that the level has stood on the other side; nil: it does not.
    func wavering(at listened: Int64) -> Int64? { isWavering ? listened - since : nil }

    mutating func restoreWavering(_ duration: Int64, by receiver: UInt8, at listened: Int64) {
        isWavering = true
        self.receiver = receiver
        since = listened - duration
    }
}
