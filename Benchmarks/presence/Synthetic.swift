import Glibc

/// A small generator of random numbers, the same everywhere: a benchmark must repeat.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// 0 ..< 1.
    mutating func unit() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }

    mutating func exponential(mean: Double) -> Double { -mean * log(1 - unit()) }

    mutating func normal() -> Double { sqrt(-2 * log(1 - unit())) * cos(2 * .pi * unit()) }
}

/// Advertisements that are lost by a process of states: clear, and shadows of several kinds.
struct TwoStateLoss {
    struct Shadow {
        /// How often, among the shadows.
        let share: Double
        /// Seconds, exponential.
        let mean: Double
        /// Share heard in it.
        let heard: Double
    }

    let interval: Double
    let heardInClear: Double
    /// Seconds between shadows, mean of an exponential; infinite: none.
    let clear: Double
    let shadows: [Shadow]

    func series(hours: Double, seed: UInt64) -> Series {
        var random = SplitMix(seed: seed)
        var series = Series(duration: hours * 3600, sent: Int(hours * 3600 / interval))
        var shadow: Shadow?
        var change = clear.isFinite ? random.exponential(mean: clear) : .infinity
        for number in 0..<series.sent {
            let time = Double(number) * interval + random.unit() * 0.01
            while time > change {
                shadow = shadow == nil ? pick(&random) : nil
                change += random.exponential(mean: shadow?.mean ?? clear)
            }
            if random.unit() < shadow?.heard ?? heardInClear {
                series.times.append(time)
                series.rssi.append(Int((-70 + 4 * random.normal()).rounded()))
            }
        }
        return series
    }

    private func pick(_ random: inout SplitMix) -> Shadow {
        var draw = random.unit()
        for shadow in shadows {
            draw -= shadow.share
            if draw < 0 { return shadow }
        }
        return shadows[shadows.count - 1]
    }
}

/// A tag worn by somebody: the body shadows it by some dB for some seconds, packets fade each on its own, and
/// what falls under the receiver's sensitivity is lost, as is a share that collides.
struct WornTag {
    let interval: Double
    /// dBm in the clear, mean and standard deviation over series.
    let level: Double
    let levelSpread: Double
    /// Share that collides.
    let collisions: Double

    private static let fading = 5.0
    private static let sensitivity = -93.0
    private static let clear = 25.0
    /// Seconds in which a shadow comes and goes.
    private static let ramp = 1.5

    func series(hours: Double, seed: UInt64) -> Series {
        var random = SplitMix(seed: seed)
        let level = self.level + levelSpread * random.normal()
        var series = Series(duration: hours * 3600, sent: Int(hours * 3600 / interval))
        var start = random.exponential(mean: Self.clear)
        var (end, depth) = nextShadow(from: start, &random)
        for number in 0..<series.sent {
            let time = Double(number) * interval + random.unit() * 0.01
            while time > end + Self.ramp {
                start = end + random.exponential(mean: Self.clear)
                (end, depth) = nextShadow(from: start, &random)
            }
            let edge = min((time - start) / Self.ramp + 1, (end - time) / Self.ramp + 1)
            let power = level - depth * min(1, max(0, edge)) + Self.fading * random.normal()
            if power > Self.sensitivity, random.unit() >= collisions {
                series.times.append(time)
                series.rssi.append(Int(power.rounded()))
            }
        }
        return series
    }

    /// Most shadows are an arm's or a passer-by's, one in twelve is the whole body or a wall.
    private func nextShadow(from start: Double, _ random: inout SplitMix) -> (end: Double, depth: Double) {
        if random.unit() < 0.92 {
            return (start + random.exponential(mean: 5), max(3, 17 + 4 * random.normal()))
        }
        return (start + random.exponential(mean: 12), max(3, 28 + 6 * random.normal()))
    }
}

/// The workloads of our own making.
func syntheticWorkloads() -> [Workload] {
    func repeated(_ name: String, _ interval: Double, _ count: Int, _ make: (UInt64) -> Series) -> Workload {
        Workload(name: name, interval: interval, series: (0..<count).map { make(UInt64($0) + 1) })
    }
    let twoState = TwoStateLoss(
        interval: 1, heardInClear: 0.8, clear: 40, shadows: [.init(share: 1, mean: 6, heard: 0.2)])
    let absences = TwoStateLoss(
        interval: 1, heardInClear: 0.8, clear: 40,
        shadows: [.init(share: 0.93, mean: 5, heard: 0.2), .init(share: 0.07, mean: 12, heard: 0)])
    let worn = WornTag(interval: 1.06, level: -74, levelSpread: 0, collisions: 0.22)
    let wornApart = WornTag(interval: 1.06, level: -74, levelSpread: 6, collisions: 0.15)
    var all = [
        repeated("two-state bursts, 1 s", 1, 40) { twoState.series(hours: 3, seed: $0) },
        repeated("bursts and absences, 1 s", 1, 40) { absences.series(hours: 3, seed: $0) },
        repeated("worn tag, one distance", 1.06, 40) { worn.series(hours: 3, seed: $0) },
        repeated("worn tags, many distances", 1.06, 60) { wornApart.series(hours: 3, seed: $0) },
    ]
    for interval in [0.1, 1, 5] {
        let poor = TwoStateLoss(interval: interval, heardInClear: 0.3, clear: .infinity, shadows: [])
        let hours = interval < 1 ? 1.0 : 3.0
        all.append(
            repeated("30 % heard, \(fixed(interval, 1)) s", interval, 30) { poor.series(hours: hours, seed: $0) })
    }
    return all
}
