/// What an ESPresense node publishes of the beacon of another node.
///
/// A node sends an iBeacon each one to two seconds. Of what a node received of another it publishes the mean of the last 15 s, without levels
/// outside of Tukey's fences, with pauses of its period (5 s if its owner set no other), if it has received something since. The firmware
/// publishes earlier where the level has changed much; here it does not.
struct NodeHearing {
    private static let window = 15.0

    /// The levels of the last packets, dBm, with the times, s.
    private var packets: [(time: Double, level: Double)] = []
    private var nextPacket: Double?
    private var due = 0.0
    private var hasHeard = false

    /// Plays the minute that ends with a number of minutes.
    ///
    /// - Parameters:
    ///   - receive: The level of the next packet, dBm; nil: it is lost.
    ///   - publish: Is called with the level of each message, dBm.
    mutating func hear(
        untilMinute minute: Int, period: Double, _ random: inout Random, receive: (inout Random) -> Double?,
        publish: (Double) -> Void
    ) {
        let (begin, end) = (Double(minute - 1) * 60, Double(minute) * 60)
        // After a time in which one of both was off, both begin anew.
        var time = max(nextPacket ?? 0, begin + random.uniform())
        while time < end {
            if let level = receive(&random) {
                packets.append((time, level))
                packets.removeAll { $0.time < time - Self.window }
                hasHeard = true
            }
            if hasHeard, time >= due {
                publish(level)
                hasHeard = false
                due = time + period * (0.8 + 0.4 * random.uniform())
            }
            time += 1 + random.uniform()
        }
        nextPacket = time
    }

    /// The mean of what lies inside of Tukey's fences, dBm.
    private var level: Double {
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
