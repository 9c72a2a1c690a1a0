package import Beacon

/// The signal strength of one link: how near the beacon is now, and whether it moves.
///
/// Only the strongest sample of one instant counts. It enters the means when the next instant comes, so the order of
/// simultaneous sightings changes nothing.
package struct SignalTrend: Hashable, Sendable, BitwiseCopyable {
    /// dBm before the newest sample.
    private var base: Float
    /// How much the newest sample moves the level, 0 … 1; it grows with the time since the sample before.
    private var weight: Float = 1
    /// Means over about 3 and 50 samples. Their distance changes when the beacon moves, and not when the signal fades
    /// from packet to packet.
    private var quick: Float
    private var slow: Float
    /// Mean distance of the two, in dB. Starts between rest and motion.
    package private(set) var wander: Float = 1.2
    /// The newest sample, dBm.
    private var newest: Int8
    private var samples: UInt8 = 0

    /// A trend without samples.
    package init() {
        base = 0
        quick = 0
        slow = 0
        newest = Self.none
    }

    /// No RSSI is below −127 dBm. A flag of its own, or an optional trend, costs a fifth of a sighting.
    private static var none: Int8 { .min }

    /// The level in dBm that is compared with thresholds; nil until there was a usable sample.
    package var level: Float? { newest == Self.none ? nil : currentLevel }

    private var currentLevel: Float { base + weight * Self.clipped(Float(newest) - base) }

    /// 0: the beacon rests; 1: it moves.
    package var motion: Float {
        let span = PresenceTiming.movingWander - PresenceTiming.restingWander
        return min(1, max(0, (wander - PresenceTiming.restingWander) / span))
    }

    /// Adds a sample that came `gap` seconds after the previous one.
    ///
    /// - Parameter isReturn: Whether the beacon was away since then. The level begins again with this sample: the old one
    ///   is of another place, and a step of `PresenceTiming.outlierStep` may not get away from it.
    @inline(__always)
    package mutating func add(_ sample: RSSI, after gap: Float, isReturn: Bool = false) {
        guard newest != Self.none else {
            base = Float(sample.dBm)
            quick = base
            slow = base
            newest = sample.dBm
            return
        }
        guard gap > 0 else {
            newest = max(newest, sample.dBm)
            return
        }
        settle()
        base = isReturn ? Float(sample.dBm) : currentLevel
        weight = gap / (gap + PresenceTiming.levelSeconds)
        newest = sample.dBm
    }

    @inline(__always)
    private mutating func settle() {
        quick += 0.3 * Self.clipped(Float(newest) - quick)
        guard samples < 100 else {
            slow += (quick - slow) * (1 / 50)
            // The floor keeps a signal that never moves out of denormal numbers, which cost a hundredfold.
            wander = max(0.001, wander + (abs(quick - slow) - wander) * (1 / 100))
            return
        }
        // Plain means at the beginning converge sooner.
        samples += 1
        let age = Float(samples)
        slow += (quick - slow) * max(1 / 50, 1 / age)
        wander += (abs(quick - slow) - wander) * max(1 / 100, 1 / (age + 10))
    }

    private static func clipped(_ step: Float) -> Float {
        min(PresenceTiming.outlierStep, max(-PresenceTiming.outlierStep, step))
    }
}

extension SignalTrend {
    /// The range of a filter over samples of one byte, in dBm.
    private static let levels: ClosedRange<Float> = -256...256

    func put(into writer: inout StateWriter) {
        for value in [base, weight, quick, slow, wander] { writer.put(value) }
        writer.put(newest)
        writer.put(samples)
    }

    init(from reader: inout StateReader) throws(StateReader.Malformed) {
        base = try reader.read(in: Self.levels)
        weight = try reader.read(in: 0...1)
        quick = try reader.read(in: Self.levels)
        slow = try reader.read(in: Self.levels)
        wander = try reader.read(in: 0...256)
        newest = try reader.read()
        samples = try reader.read(in: 0...100)
    }
}
