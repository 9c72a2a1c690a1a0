/// What the receivers of each floor that hears a tag add up to, and what that says of the floor's rooms.
struct FloorSums: Sendable {
    private struct Sum: BitwiseCopyable {
        var floor: Int16 = 0
        var sum: Float = 0
        /// What it adds to the log likelihood of the floor's rooms.
        var worth: Float = 0
    }

    /// The first `count` are in use. A tag has no more levels (`Tag.mostLevels`).
    private var sums = InlineArray<12, Sum>(repeating: Sum())
    private var count = 0
    private let tuning: FloorTuning

    init(_ tuning: FloorTuning) { self.tuning = tuning }

    /// Adds a receiver that hears the tag.
    ///
    /// - Parameter level: dBm, as if all receivers measured alike.
    @inline(__always)
    mutating func add(_ level: Float, on floor: Int16) {
        let part = FixedMath.exp((level - tuning.leastLevel) * tuning.floorSlope)
        for index in 0..<count where sums[index].floor == floor {
            sums[index].sum += part
            return
        }
        guard count < sums.count else { return }
        sums[count] = Sum(floor: floor, sum: 1 + part)
        count += 1
    }

    /// Adds to the log likelihood of each room what the receivers of its floor say.
    ///
    /// - Parameters:
    ///   - evidence: Without that, of each room.
    ///   - places: Where each room is.
    @inline(__always)
    mutating func add(to evidence: [Float], of places: [Floors.Place], into all: inout [Float]) {
        var best = -Float.infinity
        for index in 0..<count where sums[index].sum > best { best = sums[index].sum }
        for index in 0..<count { sums[index].worth = worth(sums[index].sum, best) }
        all.fill(to: places.count, 0) { index in
            guard places[index].isKnown else { return evidence[index] }
            for heard in 0..<count where sums[heard].floor == places[index].floor {
                return evidence[index] + sums[heard].worth
            }
            // A floor that does not hear the tag.
            return best > 0 ? evidence[index] + worth(1, best) : evidence[index]
        }
    }

    private func worth(_ sum: Float, _ best: Float) -> Float {
        sum == best ? 0 : tuning.floorShare * FixedMath.log(sum / best)
    }
}
