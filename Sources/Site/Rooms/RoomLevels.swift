/// How tags are heard in one room: for each gateway, a normal distribution of levels, and how often it hears nothing.
///
/// It holds what the engine learned from its own decisions. Some of these are wrong, so it keeps few numbers: they smooth out
/// errors that fingerprints would keep. With fingerprints, a week of its own decisions was worse than no learning.
struct RoomLevels: Sendable {
    struct Cell: Hashable, Sendable, BitwiseCopyable {
        var gateway: GatewayIndex
        /// Seconds in which the gateway heard the tag, and in which it was not listening.
        var heard: Float = 0
        var unknown: Float = 0
        /// dBm.
        var mean: Float = 0
        /// Squared deviations from the mean, dB², summed over seconds.
        var squares: Float = 0

        func variance(_ tuning: RoomTuning) -> Float {
            let prior = tuning.levels.ownPriorSeconds
            let spread = tuning.levels.ownPriorDeviation * tuning.levels.ownPriorDeviation
            let least = tuning.levels.leastDeviation * tuning.levels.leastDeviation
            return max(least, (squares + prior * spread) / (heard + prior))
        }
    }

    /// Largest number of gateways about which something is known in one room.
    static let mostCells = 24

    /// Sorted by gateway. A gateway without a cell listened and heard nothing, unless there are `mostCells`: then nothing is known about it.
    private(set) var cells: [Cell] = []
    /// Seconds that were learned. Above `RoomTuning.mostOwnSeconds` all are halved.
    private(set) var seconds: Float = 0

    init() {}

    mutating func removeAll() { self = RoomLevels() }

    /// Forgets what one gateway measured.
    mutating func forget(gateway: GatewayIndex) {
        remove(gateway: gateway)
        welcome(gateway: gateway)
    }

    /// Removes a gateway.
    mutating func remove(gateway: GatewayIndex) { cells.removeAll { $0.gateway == gateway } }

    /// Adds a new gateway, about which nothing is known.
    mutating func welcome(gateway: GatewayIndex) {
        guard seconds > 0, let index = indexOfCell(gateway) else { return }
        cells[index].unknown = seconds
    }

    /// The index of a gateway's cell, which is added if it is missing; nil if there are too many cells.
    private mutating func indexOfCell(_ gateway: GatewayIndex) -> Int? {
        let index = cells.firstIndex { $0.gateway >= gateway } ?? cells.endIndex
        if index < cells.endIndex, cells[index].gateway == gateway { return index }
        guard cells.count < Self.mostCells else { return nil }
        cells.insert(Cell(gateway: gateway), at: index)
        return index
    }

    /// Adds a window that lasted `seconds`.
    mutating func add(_ levels: ArraySlice<FingerprintLevel>, seconds: Float, _ tuning: RoomTuning) {
        for level in levels {
            guard let index = indexOfCell(level.gateway) else { continue }
            if let eighths = level.eighths {
                let value = Float(eighths) / 8
                cells[index].heard += seconds
                let deviation = value - cells[index].mean
                cells[index].mean += deviation * seconds / cells[index].heard
                cells[index].squares += seconds * deviation * (value - cells[index].mean)
            } else {
                cells[index].unknown += seconds
            }
        }
        self.seconds += seconds
        guard self.seconds > tuning.levels.mostOwnSeconds else { return }
        self.seconds /= 2
        for index in cells.indices {
            cells[index].heard /= 2
            cells[index].unknown /= 2
            cells[index].squares /= 2
        }
    }

    /// Logarithm of the density of a window, in the unit of a fingerprint's: 0 for a perfect fit.
    func logLikelihood(_ window: borrowing LevelVector, _ tuning: RoomTuning) -> Float {
        let missCap = min(tuning.prints.missCap, tuning.prints.missPerPacket * Float(window.packets)) / 2
        let width = tuning.prints.kernelWidth * tuning.prints.kernelWidth
        // Where there was no place for a gateway, nothing is known about it, as about a new one.
        var other = Cell(gateway: GatewayIndex(number: 0))
        if cells.count == Self.mostCells { other.unknown = seconds }
        var sum: Float = 0
        var next = 0
        for cell in cells {
            while next < window.heard.count, window.heard[next] < cell.gateway {
                other.gateway = window.heard[next]
                sum += logLikelihood(other, window, missCap: missCap, width: width, tuning)
                next += 1
            }
            if next < window.heard.count, window.heard[next] == cell.gateway { next += 1 }
            sum += logLikelihood(cell, window, missCap: missCap, width: width, tuning)
        }
        while next < window.heard.count {
            other.gateway = window.heard[next]
            sum += logLikelihood(other, window, missCap: missCap, width: width, tuning)
            next += 1
        }
        return sum
    }

    /// The contribution of one gateway.
    ///
    /// - Parameters:
    ///   - missCap: Largest evidence of a lost packet.
    ///   - width: Squared width of a fingerprint, dB².
    private func logLikelihood(
        _ cell: Cell, _ window: borrowing LevelVector, missCap: Float, width: Float, _ tuning: RoomTuning
    ) -> Float {
        guard window.levels.contains(index: cell.gateway), let level = window.levels[cell.gateway].dBm else { return 0 }
        // One second heard and one second missed are added, so that nothing is impossible.
        let hits = (cell.heard + 1) / (seconds - cell.unknown + 2)
        guard level > tuning.silence.missLevel else {
            // The logarithm is below -hits, so that most of those that always hear the tag need none.
            return hits > missCap + 0.001 ? -missCap : max(-missCap, FixedMath.log(1 - hits))
        }
        let prior = tuning.levels.ownPriorSeconds
        let mean = (cell.heard * cell.mean + prior * tuning.levels.ownPriorLevel) / (cell.heard + prior)
        let variance = cell.variance(tuning)
        let square = min((level - mean) * (level - mean) / variance, tuning.levels.ownDistanceCap)
        return FixedMath.log(hits) - 0.5 * (square + FixedMath.log(variance / width))
    }
}

extension RoomLevels {
    /// The form that is stored.
    var kept: LearnedSite.Levels {
        LearnedSite.Levels(
            seconds: seconds,
            cells: cells.map {
                LearnedSite.Levels.Cell(
                    gateway: $0.gateway.number, heard: $0.heard, unknown: $0.unknown, mean: $0.mean,
                    squares: $0.squares)
            })
    }

    /// Restores the stored form. Impossible values are left out.
    ///
    /// - Parameter gateways: The index of each gateway of the `LearnedSite`; nil for one without an index.
    init(_ kept: LearnedSite.Levels, _ gateways: [GatewayIndex?], _ tuning: RoomTuning) {
        self.init()
        guard kept.seconds > 0, kept.seconds <= tuning.levels.mostOwnSeconds else { return }
        var cells: [Cell] = []
        for cell in kept.cells.prefix(Self.mostCells) {
            guard gateways.indices.contains(cell.gateway), let gateway = gateways[cell.gateway],
                cell.heard >= 0, cell.unknown >= 0, cell.heard + cell.unknown <= kept.seconds * 1.01,
                (-130...30).contains(cell.mean), cell.squares >= 0, cell.squares <= cell.heard * 10_000
            else { continue }
            cells.append(
                Cell(
                    gateway: gateway, heard: cell.heard, unknown: cell.unknown, mean: cell.mean, squares: cell.squares))
        }
        cells.sort { $0.gateway < $1.gateway }
        guard zip(cells, cells.dropFirst()).allSatisfy({ $0.gateway < $1.gateway }) else { return }
        (self.cells, seconds) = (cells, kept.seconds)
    }
}
