import Glibc

/// When an ESPresense node publishes: at whole periods of its clock, which NTP sets, if it has heard the beacon since its last message; up to
/// half a period earlier where the distance has changed much; and nothing of a beacon that seems to be farther away than 16 m.
///
/// `BleFingerprint::report` of ESPresense/ESPresense at a6f1105e, with its settings as they are from the beginning but for the period.
struct NodeReports {
    private static let (measuredPower, absorption, farthest) = (-59.0, 2.7, 16.0)
    /// Metres; and by how much of the period a change of the distance can bring the report forward: half, third, …, tenth.
    private static let (change, divisors) = (0.5, 2.0...10.0)

    /// Seconds.
    private let period: Double
    /// When the period of the nodes' clocks begins, s.
    private let phase: Double
    private var next: Double
    private var publishedDistance = 0.0
    /// The level that was not published yet, dBm.
    private var waiting: Double?

    init(period: Double, phase: Double) {
        (self.period, self.phase, next) = (period, phase, phase)
    }

    /// A packet was received.
    mutating func hear(_ level: Double) { waiting = level }

    /// The message that is due until an instant, s.
    mutating func due(until time: Double, heardAt heard: Double) -> (time: Double, level: Double)? {
        guard let level = waiting else { return nil }
        let distance = Self.distance(level)
        guard distance <= Self.farthest else { return nil }
        let movement = abs(distance - publishedDistance) / Self.change
        let steps = log2(pow(2, movement).rounded()).rounded(.down)
        let divisor = max(Self.divisors.lowerBound, min(Self.divisors.upperBound, Self.divisors.upperBound - steps))
        let due = max(heard, movement < 1 ? next : next - period / divisor)
        guard due <= time else { return nil }
        waiting = nil
        publishedDistance = distance
        next = phase + (((due - phase) / period).rounded(.down) + 1) * period
        return (due, level)
    }

    private static func distance(_ level: Double) -> Double { pow(10, (measuredPower - level) / (10 * absorption)) }
}
