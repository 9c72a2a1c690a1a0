/// The level that an ESPresense node publishes of a beacon: the mean of the packets of the last 15 s that lie inside of Tukey's fences.
///
/// `lib/filtering/AdaptivePercentileRSSI.cpp` (`getMedianIQR`) of ESPresense/ESPresense at a6f1105e; the firmware does so since 20d09fd3
/// (2025-04-27).
struct NodeFilter {
    private static let window = 15.0
    /// How many packets are kept at first, and at least and at most.
    private static let (firstCapacity, capacities) = (20, 10...200)
    /// Seconds after which the node fits the number of packets that it keeps to the rate at which they come.
    private static let rateCheck = 10.0

    /// The last packets: when they were heard (s), and their levels (dBm).
    private var packets: [(time: Double, level: Double)] = []
    private var capacity = firstCapacity
    private var checked: Double?

    mutating func add(_ level: Double, at time: Double) {
        if packets.count >= capacity { packets.removeFirst(packets.count - capacity + 1) }
        packets.append((time, level))
        packets.removeAll { $0.time < time - Self.window }
        guard time - (checked ?? -.infinity) > Self.rateCheck else { return }
        checked = time
        let elapsed = time - packets[0].time
        guard elapsed > 0 else { return }
        let ideal = Int(((Double(packets.count) / elapsed * Self.window).rounded(.up) * 1.5))
        let bounded = min(max(ideal, Self.capacities.lowerBound), Self.capacities.upperBound)
        if abs(bounded - capacity) > capacity / 4 { capacity = bounded }
    }

    /// dBm; nil: no packet was heard.
    var level: Double? {
        guard !packets.isEmpty else { return nil }
        let sorted = packets.map(\.level).sorted()
        func quantile(_ share: Double) -> Double {
            let rank = share * Double(sorted.count - 1)
            let low = Int(rank)
            let high = min(low + 1, sorted.count - 1)
            return sorted[low] + (rank - Double(low)) * (sorted[high] - sorted[low])
        }
        let (first, third) = (quantile(0.25), quantile(0.75))
        let fence = 1.5 * (third - first)
        let inside = sorted.filter { $0 >= first - fence && $0 <= third + fence }
        return inside.reduce(0, +) / Double(inside.count)
    }
}
