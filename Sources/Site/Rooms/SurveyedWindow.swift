/// A window as it is compared with each `SurveyedRoom`: what is the same for all rooms is computed once.
///
/// How loud all levels together are says little, so that a common deviation is left out as far as it is usual.
struct SurveyedWindow: Sendable {
    private struct Heard: Sendable, BitwiseCopyable {
        var gateway = GatewayIndex(number: 0)
        /// dBm; NaN: it is left out.
        var level: Float = .nan
    }

    /// Sorted by gateway.
    private var heard: [Heard] = []
    /// A tag has no more levels (`Tag.mostLevels`).
    private typealias Differences = InlineArray<12, Float>
    /// Largest evidence of a lost packet.
    private var missCap: Float = 0

    private let missLevel: Float
    private let distanceCap: Float
    /// dB².
    private let variance: Float
    /// The variance of what all levels have in common, in variances.
    private let common: Float
    /// What each receiver adds to the logarithm, and what so many receivers add besides.
    private let width: Float
    private let widths: [Float]

    init(_ tuning: RoomTuning) {
        let variance = tuning.surveyed.deviation * tuning.surveyed.deviation
        let common = tuning.surveyed.commonDeviation * tuning.surveyed.commonDeviation / variance
        (missLevel, distanceCap) = (tuning.silence.missLevel, tuning.levels.ownDistanceCap)
        (self.variance, self.common) = (variance, common)
        width = FixedMath.log(variance / (tuning.prints.kernelWidth * tuning.prints.kernelWidth))
        widths = (0...Tag.mostLevels).map { FixedMath.log(1 + common * Float($0)) }
    }

    /// Takes what was heard.
    mutating func take(_ window: borrowing LevelVector, _ tuning: RoomTuning) {
        missCap = min(tuning.prints.missCap, tuning.prints.missPerPacket * Float(window.packets)) / 2
        heard.resize(to: min(window.heard.count, Tag.mostLevels), Heard())
        for index in heard.indices {
            let gateway = window.heard[index]
            heard[index] = Heard(gateway: gateway, level: window.levels[gateway].dBm ?? .nan)
        }
    }

    /// Logarithm of the density of the window, in the unit of a fingerprint's: 0 for a perfect fit.
    ///
    /// - Parameter measured: The window's level of each gateway.
    func logLikelihood(in room: borrowing SurveyedRoom, _ measured: Table<GatewayIndex, OptionalLevel>) -> Float {
        var sum: Float = 0
        let (least, missLevel) = (-missCap, missLevel)
        for index in room.silences.indices {
            let silence = room.silences[index]
            guard measured.contains(index: silence.gateway), measured[silence.gateway].isAtMost(missLevel) else {
                continue
            }
            sum += silence.missed > least ? silence.missed : least
        }
        var differences = Differences(repeating: 0)
        var (known, total): (Int, Float) = (0, 0)
        for index in heard.indices where room.cells.contains(index: heard[index].gateway) {
            let cell = room.cells[heard[index].gateway]
            let difference = heard[index].level - cell.mean
            guard !difference.isNaN else { continue }
            differences[known] = difference
            total += difference
            sum += cell.heard
            known += 1
        }
        guard known > 0 else { return sum }
        let shift = total * common / (1 + common * Float(known))
        var squares = shift * shift / (common * variance)
        for index in 0..<known {
            let difference = differences[index] - shift
            squares += min(difference * difference / variance, distanceCap)
        }
        return sum - 0.5 * (squares + Float(known) * width + widths[known])
    }
}
