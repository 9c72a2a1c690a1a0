import Base
import Beacon
import SiteProtocol

/// The packets of one tag in one second.
struct ReadingSum: Sendable {
    /// Largest number of levels kept for the median. A tag that advertises every 100 ms and is heard by three adapters
    /// has 30. For a tag that is heard more often, only the first 32 levels count.
    static let mostLevels = 32

    var beacon = BeaconID(uuid: BeaconUUID(high: 0, low: 0), major: 0, minor: 0)
    /// Number of packets, including those without a level.
    private(set) var count: UInt32 = 0
    private(set) var measuredPower = MeasuredPower(dBm: 0)
    private(set) var last = MonotonicInstant.zero
    /// What the tag said of its battery, per cent; nil: nothing.
    var battery: UInt8?
    private var levels = InlineArray<32, Int8>(repeating: 0)
    private var levelCount = 0
    private var strongest: Int8 = .min

    mutating func add(_ sighting: Sighting, at now: MonotonicInstant) {
        count &+= 1
        measuredPower = sighting.measuredPower
        last = now
        guard let rssi = sighting.rssi else { return }
        strongest = max(strongest, rssi.dBm)
        guard levelCount < Self.mostLevels else { return }
        levels[levelCount] = rssi.dBm
        levelCount += 1
    }

    mutating func clear() {
        count = 0
        battery = nil
        levelCount = 0
        strongest = .min
    }

    /// The median and the strongest level in dBm; nil if no packet had a level. The median of an even number of levels
    /// is the weaker one of the two in the middle.
    var levelSummary: (median: Int8, strongest: Int8)? {
        guard levelCount > 0 else { return nil }
        var sorted = (0..<levelCount).map { levels[$0] }
        sorted.sort()
        return (sorted[(levelCount - 1) / 2], strongest)
    }

    /// The reading as it is published.
    var entry: HeardMessage.Entry {
        HeardMessage.Entry(
            beacon: beacon, count: count, levels: levelSummary, measuredPower: measuredPower, last: last,
            battery: battery)
    }
}
