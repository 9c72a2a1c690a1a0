import Base
import Beacon

/// The messages that an ESPresense node publishes about beacons, for programs that expect them: Home Assistant's
/// `mqtt_room` and ESPresense-companion. A gateway sends them in addition to its readings if it is configured to.
///
/// A beacon's message is repeated when `interval` has passed, or as soon as the distance has changed by `change`, as ESPresense
/// does by default.
struct NodeFeed: Sendable {
    /// Longest time between two messages about a beacon that is heard.
    static let interval: Duration = .seconds(5)
    /// Metres.
    static let change = 0.5
    /// Weight of a new second in the smoothed level. `mqtt_room` does not smooth, and would show the room of the last
    /// strong packet.
    private static let weight: Float = 0.25

    private struct BeaconState: Sendable {
        /// dBm, smoothed.
        var level: Float
        var published: MonotonicInstant
        /// Metres, as published.
        var distance: Double
    }

    /// By the index of the tag. A beacon that was not heard for a minute starts again.
    private var states: [Int: BeaconState] = [:]

    /// - Parameter sums: The readings of one second, by the index of the tag.
    /// - Returns: The beacons and payloads to publish.
    mutating func messages(
        _ sums: some Sequence<(index: Int, sum: ReadingSum)>, at end: MonotonicInstant
    ) -> [ReadingFeed.Message] {
        states = states.filter { $0.value.published.duration(to: end) < .seconds(60) }
        return sums.compactMap { index, sum in
            guard let median = sum.levelSummary?.median else { return nil }
            let before = states[index]
            let level = before.map { $0.level + Self.weight * (Float(median) - $0.level) } ?? Float(median)
            let distance = Self.distance(level: level, measuredPower: sum.measuredPower)
            if let before, before.published.duration(to: end) < Self.interval,
                abs(before.distance - distance) < Self.change
            {
                states[index]?.level = level
                return nil
            }
            states[index] = BeaconState(level: level, published: end, distance: distance)
            return .node(
                sum.beacon, Self.payload(sum.beacon, level: level, sum.measuredPower, distance: distance))
        }
    }

    private static func payload(
        _ beacon: BeaconID, level: Float, _ power: MeasuredPower, distance: Double
    ) -> [UInt8] {
        let hundredths = Int(distance * 100)
        let metres = "\(hundredths / 100).\(hundredths / 10 % 10)\(hundredths % 10)"
        return Array(
            (#"{"id":"iBeacon:\#("\(beacon.uuid)".lowercased())-\#(beacon.major)-\#(beacon.minor)","rssi@1m":\#(power.dBm),"rssi":\#(Int(level.rounded())),"#
                + #""distance":\#(metres)}"#).utf8)
    }

    /// Metres by ESPresense's rule: 10^((measured power − level) / (10 · 2.7)), at most 100. Whole decibels are enough,
    /// and a table needs no function of the C library, whose last digit differs between processors.
    static func distance(level: Float, measuredPower: MeasuredPower) -> Double {
        let decibels = Int(measuredPower.dBm) - Int(level.rounded())
        let (tens, rest) = decibels.quotientAndRemainder(dividingBy: powers.count)
        var distance = rest < 0 ? powers[rest + powers.count] / 10 : powers[rest]
        for _ in 0..<abs(tens) { distance = tens < 0 ? distance / 10 : distance * 10 }
        return min(distance, 100)
    }

    /// 10^(k / 27)
    private static let powers = [
        1.0000, 1.0890, 1.1860, 1.2915, 1.4065, 1.5317, 1.6681, 1.8166, 1.9783,
        2.1544, 2.3462, 2.5551, 2.7826, 3.0303, 3.3000, 3.5938, 3.9137, 4.2622,
        4.6416, 5.0548, 5.5048, 5.9948, 6.5285, 7.1097, 7.7426, 8.4319, 9.1825,
    ]
}
