import Glibc
import RoomRules

/// Sums over seconds, weighted, of which the cells of a model are made.
private struct Sums {
    var seconds = 0.0
    var heard = 0.0
    var level = 0.0
    var square = 0.0

    /// - Parameter hits: Of the seconds of which nothing is known yet, which stand for `seconds`.
    init(prior cell: MarkovModel.Cell, seconds: Double) {
        self.seconds = seconds
        heard = cell.hits * seconds
        level = heard * cell.mean
        square = heard * (cell.mean * cell.mean + cell.spread * cell.spread)
    }

    mutating func add(_ measured: Double?, weight: Double) {
        seconds += weight
        guard let measured else { return }
        heard += weight
        level += weight * measured
        square += weight * measured * measured
    }

    func cell(_ setting: MarkovModel.Setting) -> MarkovModel.Cell {
        var cell = MarkovModel.Cell()
        // One hit and one miss more than there were, so that nothing is impossible.
        cell.hits = (heard + 1) / (seconds + 2)
        cell.spread = setting.spread
        guard heard > 0 else { return cell }
        cell.mean = level / heard
        cell.spread = max(setting.spread, sqrt(max(0, square / heard - cell.mean * cell.mean)))
        return cell
    }
}

extension MarkovModel {
    /// Learns from sessions with their true rooms.
    init(labelled sessions: [Session], _ home: Home, _ setting: Setting) {
        var sums = home.rooms.map { _ in home.gateways.map { _ in Sums(prior: Cell(), seconds: 0) } }
        for second in sessions.flatMap(\.seconds) {
            for (gateway, level) in second.levels.enumerated() {
                sums[second.room][gateway].add(level, weight: 1)
            }
        }
        self.setting = setting
        cells = sums.map { $0.map { $0.cell(setting) } }
    }

    /// Learns from sessions without their rooms: each gateway is taken to stand in its room, and expectation and
    /// maximisation take turns. Only seconds count in which one room is probable.
    init(unlabelled sessions: [Session], _ home: Home, _ setting: Setting) {
        self.setting = setting
        let prior = Self.start(sessions, home)
        cells = prior
        for _ in 0..<Self.rounds {
            var sums = prior.map { $0.map { Sums(prior: $0, seconds: Self.priorSeconds) } }
            for session in sessions {
                for (second, belief) in zip(session.seconds, smoothed(session)) {
                    for (room, probability) in belief.enumerated() where probability > Self.certain {
                        for (gateway, level) in second.levels.enumerated() {
                            sums[room][gateway].add(level, weight: probability)
                        }
                    }
                }
            }
            cells = sums.map { $0.map { $0.cell(setting) } }
        }
    }

    private static let rounds = 10
    private static let priorSeconds = 120.0
    private static let certain = 0.9

    /// Initial levels from the data: a gateway hears its own room as in its loudest tenth, the others as it mostly does.
    private static func start(_ sessions: [Session], _ home: Home) -> [[Cell]] {
        let seconds = sessions.flatMap(\.seconds)
        return home.rooms.indices.map { room in
            home.gateways.indices.map { gateway in
                let levels = seconds.compactMap { $0.levels[gateway] }.sorted()
                let isOwn = home.gateways[gateway].room == room
                var cell = Cell()
                cell.spread = 6
                cell.mean = percentile(isOwn ? 0.95 : 0.4, of: levels)
                cell.hits = isOwn ? 0.95 : min(0.9, Double(levels.count) / Double(max(1, seconds.count)))
                if !cell.mean.isFinite { cell.mean = isOwn ? -65 : -80 }
                return cell
            }
        }
    }
}
