/// What an ESPresense node publishes of the beacon of another node.
///
/// A node sends an iBeacon each one to two seconds. Of what a node received of another it publishes what `NodeFilter` makes of it, with pauses
/// of its period (5 s if its owner set no other), if it has received something since. The firmware publishes earlier where the level has
/// changed much; here it does not.
struct NodeHearing {
    private var filter = NodeFilter()
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
                filter.add(level, at: time)
                hasHeard = true
            }
            if hasHeard, time >= due, let level = filter.level {
                publish(level)
                hasHeard = false
                due = time + period * (0.8 + 0.4 * random.uniform())
            }
            time += 1 + random.uniform()
        }
        nextPacket = time
    }
}
