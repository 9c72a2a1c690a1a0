import Glibc
import RoomRules

/// What the levels of a recording deviate by.
struct NoiseFit {
    /// From one moment to the next: standard deviation of one level, dB.
    let fast: Double
    /// Within a room, apart from that: where in the room, and which way the body stands.
    let slow: Double
    /// Share of moments in which a gateway that hears the tag on average at -75 dBm or more does not.
    let missed: Double

    init(_ home: Home) {
        var (fast, within): ([Double], [Double]) = ([], [])
        var (missed, all) = (0.0, 0.0)
        for gateway in home.gateways.indices {
            var steps: [Double] = []
            var byRoom = [[Double]](repeating: [], count: home.rooms.count)
            for session in home.sessions {
                for (before, moment) in zip(session.moments, session.moments.dropFirst()) {
                    guard let level = moment.levels[gateway] else { continue }
                    byRoom[moment.room].append(level)
                    if let other = before.levels[gateway], moment.room == before.room {
                        steps.append(abs(level - other))
                    }
                }
                let heard = session.moments.compactMap { $0.levels[gateway] }
                guard !heard.isEmpty, heard.reduce(0, +) / Double(heard.count) > -75 else { continue }
                missed += Double(session.moments.count - heard.count)
                all += Double(session.moments.count)
            }
            // Of normal noise the mean step is 2/√π standard deviations.
            if !steps.isEmpty { fast.append(steps.reduce(0, +) / Double(steps.count) * sqrt(.pi) / 2) }
            for levels in byRoom where levels.count > 20 {
                let mean = levels.reduce(0, +) / Double(levels.count)
                within.append(sqrt(levels.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(levels.count)))
            }
        }
        self.fast = percentile(0.5, of: fast.sorted())
        slow = sqrt(max(0, pow(percentile(0.5, of: within.sorted()), 2) - self.fast * self.fast))
        self.missed = all > 0 ? missed / all : 0
    }
}
