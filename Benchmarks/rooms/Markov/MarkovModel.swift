import Glibc
import RoomRules

/// The plain hidden Markov model of `ROOMS.md`: one Gaussian and one hit rate per room and gateway, a step per second.
struct MarkovModel {
    /// Its operating point.
    struct Setting {
        /// Standard deviations are at least this, dB.
        var spread = 4.0
        /// The likelihood of a second counts to this power.
        var weight = 1.0
        /// Mean stay in a room, seconds.
        var stay = 300.0
        /// The probability at which a room is reported.
        var threshold = 0.9
    }

    /// What one gateway hears in one room.
    struct Cell {
        var mean = -80.0
        var spread = 4.0
        /// Share of seconds in which it hears the tag.
        var hits = 0.5
    }

    let setting: Setting
    /// By room and gateway.
    var cells: [[Cell]]

    /// Log likelihood of a second for each room.
    func logLikelihood(_ second: [Double?]) -> [Double] {
        cells.map { room in
            var sum = 0.0
            for (cell, level) in zip(room, second) {
                guard let level else {
                    sum += log(1 - cell.hits)
                    continue
                }
                let z = (level - cell.mean) / cell.spread
                sum += log(cell.hits) - 0.5 * z * z - log(cell.spread)
            }
            return sum * setting.weight
        }
    }

    private var change: Double { 1 - exp(-1 / setting.stay) }

    private func step(_ belief: [Double]) -> [Double] {
        let others = Double(max(1, belief.count - 1))
        return belief.map { $0 * (1 - change) + (1 - $0) * change / others }
    }

    private func weigh(_ prior: [Double], _ second: [Double?]) -> [Double] {
        let likelihood = logLikelihood(second)
        let best = likelihood.max() ?? 0
        let product = zip(prior, likelihood).map { $0 * exp($1 - best) }
        let sum = product.reduce(0, +)
        return sum > 0 ? product.map { $0 / sum } : prior
    }

    private var uniform: [Double] { cells.map { _ in 1 / Double(cells.count) } }

    /// Plays a session, second by second.
    func play(_ session: Session) -> [Report] {
        var belief = uniform
        var reports: [Report] = []
        for second in session.seconds {
            belief = weigh(step(belief), second.levels)
            guard let best = belief.indices.max(by: { belief[$0] < belief[$1] }), belief[best] >= setting.threshold,
                reports.last?.room != best
            else { continue }
            reports.append((second.end, best))
        }
        return reports
    }

    /// Probability of each room in each second, seen from before and from after.
    func smoothed(_ session: Session) -> [[Double]] {
        var forward: [[Double]] = []
        var belief = uniform
        for second in session.seconds {
            belief = weigh(step(belief), second.levels)
            forward.append(belief)
        }
        var after = [Double](repeating: 1, count: cells.count)
        for index in forward.indices.reversed() {
            let product = zip(forward[index], after).map { $0 * $1 }
            let sum = product.reduce(0, +)
            forward[index] = product.map { $0 / sum }
            after = step(weigh(after, session.seconds[index].levels))
            let most = after.max() ?? 1
            after = after.map { $0 / most }
        }
        return forward
    }
}
