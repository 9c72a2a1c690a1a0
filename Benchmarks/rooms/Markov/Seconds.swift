/// What the gateways heard in one second: means.
struct Second {
    var end: Double
    /// At its end.
    var room: Int
    var levels: [Double?]
}

extension Session {
    func makeSeconds() -> [Second] {
        guard let first = moments.first else { return [] }
        var seconds: [Second] = []
        var end = first.time.rounded(.down) + 1
        var sums = first.levels.map { _ in (sum: 0.0, count: 0.0) }
        var room = first.room
        func close() {
            seconds.append(Second(end: end, room: room, levels: sums.map { $0.count > 0 ? $0.sum / $0.count : nil }))
            sums = sums.map { _ in (0, 0) }
            end += 1
        }
        for moment in moments {
            while moment.time >= end { close() }
            room = moment.room
            for (gateway, level) in moment.levels.enumerated() {
                guard let level else { continue }
                sums[gateway].sum += level
                sums[gateway].count += 1
            }
        }
        close()
        return seconds
    }
}
