/// How a tag in a room would be heard, by what gateways hear of each other: the tag is about where a gateway of the room is.
///
/// For each receiver it is a normal distribution of levels, and how often it hears nothing. How loud all of them are together says
/// little, so that a common deviation is left out as far as it is usual.
struct SurveyedRoom: Sendable {
    struct Cell: Sendable, BitwiseCopyable {
        var gateway: GatewayIndex
        /// dBm.
        var mean: Float
        /// Logarithms of the probabilities that it hears a packet and that it does not.
        var heard: Float
        var missed: Float
    }

    /// Sorted by gateway.
    private(set) var cells: [Cell] = []
    /// Those whose silence counts: the loudest, `RoomLevels.mostCells` at most.
    private var expected: [Cell] = []

    init() {}

    /// - Parameter means: Of each receiver of the site, dBm, sorted by gateway.
    init(_ means: [(gateway: GatewayIndex, level: Float)], _ tuning: RoomTuning) {
        let own = tuning.surveyed
        cells = means.map { gateway, mean in
            let hits = (1 - own.lost) / (1 + FixedMath.exp((own.halfHeard - mean) / own.deviation))
            return Cell(
                gateway: gateway, mean: mean, heard: FixedMath.log(max(0.01, hits)), missed: FixedMath.log(1 - hits))
        }
        expected = Array(cells.sorted { ($1.mean, $0.gateway) < ($0.mean, $1.gateway) }.prefix(RoomLevels.mostCells))
    }

    /// The seconds of the engine's own decisions that it is worth. It fades where something better is known.
    ///
    /// - Parameters:
    ///   - labelled: Seconds of training in the room.
    ///   - decided: Seconds of the engine's own decisions.
    @inline(__always)
    func seconds(labelled: Float, decided: Float, _ tuning: SurveyedTuning) -> Float {
        guard !cells.isEmpty else { return 0 }
        return tuning.seconds * (tuning.labelledSeconds / (tuning.labelledSeconds + labelled))
            * (tuning.ownSeconds / (tuning.ownSeconds + decided))
    }

    /// Logarithm of the density of a window, in the unit of a fingerprint's: 0 for a perfect fit.
    func logLikelihood(_ window: borrowing LevelVector, _ tuning: RoomTuning) -> Float {
        let own = tuning.surveyed
        let missCap = min(tuning.prints.missCap, tuning.prints.missPerPacket * Float(window.packets)) / 2
        var sum: Float = 0
        for cell in expected where window.levels.contains(index: cell.gateway) {
            if let level = window.levels[cell.gateway].dBm, level <= tuning.silence.missLevel {
                sum += max(-missCap, cell.missed)
            }
        }
        var (count, differences): (Float, Float) = (0, 0)
        for gateway in window.heard {
            guard let cell = cell(of: gateway), let level = window.levels[gateway].dBm else { continue }
            count += 1
            differences += level - cell.mean
            sum += cell.heard
        }
        guard count > 0 else { return sum }
        let variance = own.deviation * own.deviation
        let common = own.commonDeviation * own.commonDeviation / variance
        let shift = differences * common / (1 + common * count)
        var squares = shift * shift / (common * variance)
        for gateway in window.heard {
            guard let cell = cell(of: gateway), let level = window.levels[gateway].dBm else { continue }
            let difference = level - cell.mean - shift
            squares += min(difference * difference / variance, tuning.levels.ownDistanceCap)
        }
        let width = tuning.prints.kernelWidth * tuning.prints.kernelWidth
        return sum - 0.5
            * (squares + count * FixedMath.log(variance / width) + FixedMath.log(1 + common * count))
    }

    private func cell(of gateway: GatewayIndex) -> Cell? {
        var (from, to) = (0, cells.count)
        while from < to {
            let middle = (from + to) / 2
            if cells[middle].gateway < gateway { from = middle + 1 } else { to = middle }
        }
        return from < cells.count && cells[from].gateway == gateway ? cells[from] : nil
    }
}
