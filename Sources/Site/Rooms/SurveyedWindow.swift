/// A window as it is compared with each `SurveyedRoom`: what is the same for all rooms is computed once.
///
/// How loud all levels together are says little, so that a common deviation is left out as far as it is usual.
struct SurveyedWindow: Sendable {
    private struct Heard: Sendable, BitwiseCopyable {
        var gateway = GatewayIndex(number: 0)
        /// dBm; NaN: nothing is known of the gateway, which `take` removes.
        var level: Float = .nan
    }

    /// Those of which something is known, sorted by gateway.
    private var heard: [Heard] = []
    /// Least logarithm for a gateway that does not hear the tag.
    private var leastMissed: Float = 0
    /// The variance of the sum of all levels, in variances of one level, for each of them.
    private var spread: Float = 1
    /// What the receivers add to the logarithm: each of them, and all besides.
    private var width: Float = 0
    private var commonWidth: Float = 0

    private let missLevel: Float
    private let distanceCap: Float
    /// dB².
    private let variance: Float
    /// The variance of what all levels have in common, in variances.
    private let common: Float
    /// What each receiver adds to the logarithm, and what so many receivers add besides.
    private let widthOfOne: Float
    private let commonWidths: [Float]

    init(_ tuning: RoomTuning) {
        let variance = tuning.surveyed.deviation * tuning.surveyed.deviation
        let common = tuning.surveyed.commonDeviation * tuning.surveyed.commonDeviation / variance
        (missLevel, distanceCap) = (tuning.silence.missLevel, tuning.levels.ownDistanceCap)
        (self.variance, self.common) = (variance, common)
        widthOfOne = FixedMath.log(variance / (tuning.prints.kernelWidth * tuning.prints.kernelWidth))
        commonWidths = (0...Tag.mostLevels).map { FixedMath.log(1 + common * Float($0)) }
    }

    /// Takes what was heard.
    ///
    /// - Parameter room: Any room of which something is known: of each of them the same receivers are known.
    mutating func take(_ window: borrowing LevelVector, knownIn room: SurveyedRoom, _ tuning: RoomTuning) {
        leastMissed = -min(tuning.prints.missCap, tuning.prints.missPerPacket * Float(window.packets)) / 2
        var isOneUnknown = false
        heard.fill(to: min(window.heard.count, Tag.mostLevels), Heard()) { index in
            let gateway = window.heard[index]
            guard room.isKnown(gateway), let level = window.levels[gateway].dBm else {
                isOneUnknown = true
                return Heard()
            }
            return Heard(gateway: gateway, level: level)
        }
        if isOneUnknown { heard.removeAll(where: \.level.isNaN) }
        spread = 1 + common * Float(heard.count)
        (width, commonWidth) = (Float(heard.count) * widthOfOne, commonWidths[heard.count])
    }

    /// Logarithm of the density of the window, in the unit of a fingerprint's: 0 for a perfect fit.
    ///
    /// It is always inlined: a call would copy the window for each room. The differences are computed twice: where an `InlineArray` kept
    /// them, the room's arrays were retained for each room, which took more.
    ///
    /// - Parameter measured: The window's level of each gateway.
    @inline(__always)
    func logLikelihood(in room: SurveyedRoom, _ measured: Table<GatewayIndex, OptionalLevel>) -> Float {
        var sum: Float = 0
        for index in room.silences.indices {
            let silence = room.silences[index]
            guard measured.contains(index: silence.gateway), measured[silence.gateway].isAtMost(missLevel) else {
                continue
            }
            sum += silence.missed > leastMissed ? silence.missed : leastMissed
        }
        guard !heard.isEmpty else { return sum }
        var total: Float = 0
        for index in heard.indices {
            let cell = room.cells[heard[index].gateway]
            total += heard[index].level - cell.mean
            sum += cell.heard
        }
        let shift = total * common / spread
        var squares = shift * shift / (common * variance)
        for index in heard.indices {
            let difference = heard[index].level - room.cells[heard[index].gateway].mean - shift
            let square = difference * difference / variance
            squares += square < distanceCap ? square : distanceCap
        }
        return sum - 0.5 * (squares + width + commonWidth)
    }
}
