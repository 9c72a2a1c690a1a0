import Glibc

/// Who wears a tag and how, or that it lies on a table.
struct TagWear {
    /// Seconds between two packets.
    var interval: Double
    /// dB that the tag sends more than its stated power.
    var power: Double
    /// Whether somebody wears it.
    var isWorn: Bool
    /// dB that the body takes in all directions.
    var loss = 0.0
    /// dB more on its far side.
    var shadow = 0.0
    /// Where it is worn, as an angle to the front: a pocket, a wrist, a lanyard.
    var side = 0.0
    /// Standard deviation of what a posture takes from all receivers for as long as it lasts, dB.
    var posture = 0.0
    /// Share by which the body turns each second at rest.
    var restlessness = 0.0
    var speed = 1.0
    var meanRest = 120.0
    var destinations: [Int] = []

    /// A tag on a table.
    init(stillWith interval: Double, _ random: inout Random) {
        (self.interval, isWorn) = (interval, false)
        power = 2 * random.normal()
    }

    /// A tag that a person wears, with the habits of that person.
    init(wornIn rooms: Int, interval: Double, _ random: inout Random) {
        (self.interval, isWorn) = (interval, true)
        power = 2 * random.normal()
        func between(_ range: ClosedRange<Double>) -> Double {
            range.lowerBound + random.uniform() * (range.upperBound - range.lowerBound)
        }
        loss = between(0...6)
        shadow = between(4...15)
        side = between(-.pi...(.pi))
        posture = between(2...4)
        restlessness = between(0.02...0.2)
        speed = between(0.7...1.4)
        meanRest = between(60...300)
        for room in 0..<rooms { destinations += [Int](repeating: room, count: 1 + random.below(5)) }
    }
}
