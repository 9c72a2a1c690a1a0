import Base

/// The devices whose private addresses fit no key: how many addresses they have in a day, and which packets they send. From
/// this follows how often one of them fits a key by chance and sends what the key's device sends.
///
/// One address at a time is watched for `period`, so that neither memory nor time grows with a flood of addresses.
struct Strangers {
    /// Addresses whose packets are remembered, the latest.
    static let mostSamples = 512
    /// Shapes that are remembered of one address. Phones send about six.
    static let shapesPerSample = 6
    /// How long one address is watched.
    static let period = Duration.seconds(15)
    /// The time over which addresses are counted, in parts.
    private static let parts = 24
    private static let part = Duration.seconds(3600)

    /// The address that is watched; no address has this value.
    private(set) var watched = UInt64.max
    private var watchedSince = MonotonicInstant.zero
    /// `shapesPerSample` places for each address. A place without a shape is nil.
    private var shapes: [PacketShape?] = []
    /// Addresses that were watched so far.
    private var watchedCount = 0

    /// New addresses in each of the last parts of a day.
    private var counts: [Int] = []
    private var partIndex = 0
    private var partBegin = MonotonicInstant.zero
    private var begin: MonotonicInstant?

    /// Takes the memory, 50 KiB, and keeps what is known. Before that nothing may be noted.
    mutating func prepare() {
        guard shapes.isEmpty else { return }
        shapes = [PacketShape?](repeating: nil, count: Self.mostSamples * Self.shapesPerSample)
        counts = [Int](repeating: 0, count: Self.parts)
    }

    /// Takes note of the first packet of an address that fits no key.
    mutating func appeared(_ address: UInt64, _ shape: @autoclosure () -> PacketShape, at now: MonotonicInstant) {
        advance(to: now)
        counts[partIndex] += 1
        guard watched == .max || watchedSince.duration(to: now) > Self.period else { return }
        (watched, watchedSince) = (address, now)
        watchedCount += 1
        for place in places(of: lastSample) { shapes[place] = nil }
        sent(shape(), at: now)
    }

    /// Takes note of a packet of the watched address.
    mutating func sent(_ shape: @autoclosure () -> PacketShape, at now: MonotonicInstant) {
        guard watchedSince.duration(to: now) <= Self.period else {
            watched = .max
            return
        }
        let shape = shape()
        for place in places(of: lastSample) where shapes[place] == shape || shapes[place] == nil {
            shapes[place] = shape
            return
        }
    }

    private var lastSample: Int { (watchedCount - 1) % Self.mostSamples }

    private func places(of sample: Int) -> Range<Int> {
        sample * Self.shapesPerSample..<(sample + 1) * Self.shapesPerSample
    }

    private mutating func advance(to now: MonotonicInstant) {
        if begin == nil { (begin, partBegin) = (now, now) }
        let elapsed = partBegin.duration(to: now)
        guard elapsed >= Self.part else { return }
        let passed = elapsed.components.seconds / Self.part.components.seconds
        for _ in 0..<min(passed, Int64(Self.parts)) {
            partIndex = (partIndex + 1) % Self.parts
            counts[partIndex] = 0
        }
        partBegin = partBegin.advanced(by: Self.part * Int(passed))
    }

    /// New addresses in a day. In the first hours the count is extended to a day.
    func addressesPerDay(at now: MonotonicInstant) -> Double {
        guard let begin else { return 0 }
        let day = Self.part * Self.parts
        // The first quarter of an hour is too short for a rate: all that is near at the start is new.
        let heard = max(min(begin.duration(to: now), day), Self.part / 4)
        return Double(counts.reduce(0, +)) * (day / heard)
    }

    /// The share of strangers that send a packet of one of these shapes within `period`; one more that does is assumed.
    func share(sendingOneOf wanted: [PacketShape]) -> Double {
        let sampleCount = min(watchedCount, Self.mostSamples)
        var hits = 0
        for sample in 0..<sampleCount {
            for place in places(of: sample) {
                // The places of a sample are filled in order.
                guard let shape = shapes[place] else { break }
                guard wanted.contains(shape) else { continue }
                hits += 1
                break
            }
        }
        return Double(hits + 1) / Double(sampleCount + 1)
    }
}
