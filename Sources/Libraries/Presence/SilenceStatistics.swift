/// How often silences of each length ended with the next advertisement: a life table of gaps.
///
/// A gap in which `n` advertisements were missed has survived `n` times and ended once. Misses are counted in
/// classes (the first, the second, 3–4, 5–8, 9–16, later), because a shadow that has lasted long lasts longer:
/// losses come in bursts, and a single share heard does not describe them. All counts fade, so it forgets.
package struct SilenceStatistics: Hashable, Sendable, BitwiseCopyable {
    /// Gaps that ended, in the first four classes.
    private var heardEarly = SIMD4<Float>.zero
    /// Advertisements missed, in the first four classes.
    private var missedEarly = SIMD4<Float>.zero
    /// Gaps that ended in the last two classes, and advertisements missed in them. Twelve counts in three vectors, so
    /// that a beacon fits into 200 bytes.
    private var late = SIMD4<Float>.zero

    package init() {}

    private static let classes = 6
    /// First advertisement of each class; the last has no end.
    private static func start(_ index: Int) -> Int { index < 2 ? index : 1 << (index - 1) }

    /// The share of each count that a sighting leaves: memory for 512 sightings, for 4096 of the rare long silences
    /// (class 4 on).
    private static var keep: SIMD4<Float> { SIMD4(keepShort, keepShort, keepShort, keepLong) }
    private static var keepShort: Float { 1 - 1 / 512 }
    private static var keepLong: Float { 1 - 1 / 4096 }

    private func heard(_ index: Int) -> Float { index < 4 ? heardEarly[index] : late[index - 4] }
    private func missed(_ index: Int) -> Float { index < 4 ? missedEarly[index] : late[index - 2] }

    private mutating func addMissed(_ count: Int, in index: Int) {
        if index < 4 { missedEarly[index] += Float(count) } else { late[index - 2] += Float(count) }
    }

    /// Share of the advertisements that are heard when the one before was, 0 … 1.
    package var shareHeard: Float { (heardEarly[0] + 1) / (heardEarly[0] + missedEarly[0] + 2) }

    /// How many advertisements a gap took, on average: the one that was heard and those missed before it; and of these
    /// the share `inRhythm`. Of a silence longer than 24 advertisements only about 24 belong to the rhythm, because the
    /// beacon may have slept.
    ///
    /// - Parameter gaps: How many gaps were added; the counts of the first ones have not reached their final size.
    package func advertisementsInGap(after gaps: UInt16) -> (count: Float, inRhythm: Float) {
        let sent = heardEarly + missedEarly
        let weight = (1 - Self.keepLong) / (1 - Self.power(Self.keepLong, gaps))
        let count =
            (sent[0] + sent[1] + sent[2]) * (1 - Self.keepShort) / (1 - Self.power(Self.keepShort, gaps))
            + (sent[3] + late.sum()) * weight
        let asleep = max(0, late[3] - 8 * late[1]) * weight
        return (count, (count - asleep) / max(count, 1))
    }

    private static func power(_ base: Float, _ exponent: UInt16) -> Float {
        var (result, factor, rest) = (Float(1), base, exponent)
        while rest > 0 {
            if rest & 1 == 1 { result *= factor }
            factor *= factor
            rest >>= 1
        }
        return result
    }

    /// Adds a gap in which `count` advertisements were missed.
    @inline(__always)
    package mutating func addGap(missing count: Int) {
        heardEarly *= Self.keep
        missedEarly *= Self.keep
        late *= Self.keepLong
        if count > 0 { addMisses(count) } else { heardEarly[0] += 1 }
    }

    @inline(never)
    private mutating func addMisses(_ count: Int) {
        var index = 0
        while index < Self.classes - 1, count >= Self.start(index + 1) {
            addMissed(Self.start(index + 1) - Self.start(index), in: index)
            index += 1
        }
        if index < 4 { heardEarly[index] += 1 } else { late[index - 4] += 1 }
        addMissed(count - Self.start(index), in: index)
    }

    /// Forgets counts that have faded to nothing, before they become denormal numbers, which cost a hundredfold.
    package mutating func dropTraces() {
        heardEarly.replace(with: 0, where: heardEarly .< 1e-6)
        missedEarly.replace(with: 0, where: missedEarly .< 1e-6)
        late.replace(with: 0, where: late .< 1e-6)
    }

    /// The quantities that decide how long to wait.
    package struct Odds: Sendable {
        /// Seconds between sightings, mean.
        var meanGap: Float
        /// Seconds between advertisements.
        var interval: Float
        /// 0: the beacon rests; 1: it moves, and bodies shadow it.
        var motion: Float
        /// The chance to hear, relative to when the counts were made, from the scan duty then and now; 0 … 1.
        var hearing: Float
        /// The price of waiting for one more advertisement, relative to `PresenceTiming.savedByWaiting`.
        var price: Float = 1
        /// Whether several receivers together lost these advertisements. They lose so few that only the guesses for
        /// silences that were never observed decide, and one receiver's are too cautious for them.
        var isBold = false
    }

    /// Missed advertisements after which waiting for one more is not worth it.
    ///
    /// Waiting saves a false leave if the gap ends with the next advertisement. That happens
    /// `sightings per hour × chance of so long a gap × chance that it ends now` times an hour. Below `savedByWaiting`
    /// the beacon is considered gone.
    package func patience(_ odds: Odds, limit: Int) -> Int {
        let gapsPerHour = 3600 / max(odds.meanGap, 0.01)
        let shadow = odds.interval / (odds.interval + PresenceTiming.shadowSeconds)
        var survival: Float = 1
        var prior = Self.firstGuess
        var weight = Self.firstGuessWeight
        var patience = 0
        for index in 0..<Self.classes {
            let pooled = (heard(index) + weight * prior) / (heard(index) + missed(index) + weight)
            let chance = min(0.97, max(0.002, pooled * odds.hearing))
            let falseLeaves = min(PresenceTiming.savedByWaiting / chance, PresenceTiming.mostFalseLeaves)
            let target = odds.price * falseLeaves / gapsPerHour
            let end = index == Self.classes - 1 ? limit : Self.start(index + 1)
            patience += Self.steps(from: &survival, losing: chance, until: target, atMost: end - Self.start(index))
            if survival <= target || patience >= limit { break }
            prior = (odds.isBold ? Self.boldDecline : Self.decline) * pooled
            weight = odds.isBold ? Self.boldPriorWeight : Self.priorWeight
            if index + 1 >= Self.shadowClass {
                weight += odds.motion * (Self.shadowWeight - weight)
                if prior > shadow { prior += odds.motion * (shadow - prior) }
            }
        }
        return min(patience, limit)
    }

    /// Chance to hear an advertisement of an unknown beacon, and the number of sightings that this guess counts for.
    private static let firstGuess: Float = 0.5
    private static let firstGuessWeight: Float = 2
    /// The guess for a class without data is a little worse than the class before it, because losses cluster.
    private static let decline: Float = 0.93
    /// Sightings that this counts for.
    private static let priorWeight: Float = 8
    /// The same two for several receivers together: two receivers seldom lose the same advertisement.
    private static let boldDecline: Float = 1
    private static let boldPriorWeight: Float = 4
    /// From the fifth missed advertisement on, a shadow is more likely than chance.
    private static let shadowClass = 3
    /// Sightings that the prior of shadows counts for, in full motion.
    private static let shadowWeight: Float = 32

    /// Multiplies `survival` by `1 - chance` until it is at most `target`.
    ///
    /// - Returns: how often; doubling first, since a quick beacon may need a thousand steps.
    private static func steps(
        from survival: inout Float, losing chance: Float, until target: Float, atMost most: Int
    ) -> Int {
        var taken = 0
        while survival > target, taken < most {
            var factor = 1 - chance
            var stride = 1
            while taken + 2 * stride <= most, survival * factor * factor > target {
                factor *= factor
                stride *= 2
            }
            survival *= factor
            taken += stride
        }
        return taken
    }
}

extension SilenceStatistics {
    /// Counts fade by 1/512 or 1/4096 with each gap, and a gap adds at most 10,000.
    private static let counts: ClosedRange<Float> = 0...1e8

    func put(into writer: inout StateWriter) {
        for vector in [heardEarly, missedEarly, late] {
            for index in 0..<4 { writer.put(vector[index]) }
        }
    }

    init(from reader: inout StateReader) throws(StateReader.Malformed) {
        heardEarly = try Self.vector(&reader)
        missedEarly = try Self.vector(&reader)
        late = try Self.vector(&reader)
    }

    private static func vector(_ reader: inout StateReader) throws(StateReader.Malformed) -> SIMD4<Float> {
        var vector = SIMD4<Float>.zero
        for index in 0..<4 { vector[index] = try reader.read(in: counts) }
        return vector
    }
}
