/// How well the reports of one tag agree with its life in the house.
struct TagLife {
    private(set) var right = 0.0
    private(set) var falseChanges = 0
    /// Those while a gateway failed, or within a minute of it.
    private(set) var falseInFailures = 0
    /// Into stays of at least 5 s.
    private(set) var delays: [Double] = []
    private(set) var changes = 0
    private(set) var never = 0
    private(set) var falseAway = 0
    private(set) var awayDelays: [Double] = []

    init(_ stays: [Session.Stay], _ reports: [Report], _ failures: [SimulatedHouse.Failure]) {
        guard let first = stays.first, let last = stays.last else { return }
        countTime(stays, reports)
        right /= last.to - first.from
        // What lies before the 15 s is not looked at again.
        var begin = 0
        for (before, report) in zip(reports, reports.dropFirst()) {
            while begin < stays.count, stays[begin].to <= report.time - 15 { begin += 1 }
            let near = stays[begin...].prefix { $0.from <= report.time }
            if report.room == -2, !near.contains(where: { $0.room == -1 }) { falseAway += 1 }
            guard report.room >= 0, before.room >= 0, !near.contains(where: { $0.room == report.room }) else {
                continue
            }
            falseChanges += 1
            if failures.contains(where: { $0.from <= report.time && report.time < $0.to + 60 }) { falseInFailures += 1 }
        }
        measureDelays(stays, reports)
    }

    private mutating func countTime(_ stays: [Session.Stay], _ reports: [Report]) {
        var next = 0
        var room = -1
        for stay in stays {
            var time = stay.from
            while time < stay.to {
                while next < reports.count, reports[next].time <= time {
                    room = reports[next].room
                    next += 1
                }
                let end = min(stay.to, next < reports.count ? reports[next].time : stay.to)
                if room == stay.room || room == -2 && stay.room == -1 { right += end - time }
                time = max(end, time + 1e-6)
            }
        }
    }

    private mutating func measureDelays(_ stays: [Session.Stay], _ reports: [Report]) {
        var begin = 0
        for stay in stays.dropFirst() where stay.to - stay.from >= 5 {
            while begin + 1 < reports.count, reports[begin + 1].time <= stay.from { begin += 1 }
            let wanted = stay.room == -1 ? -2 : stay.room
            let hit = reports[begin...].prefix { $0.time <= stay.to }.first { report in
                report.room == wanted
            }
            if stay.room == -1 {
                if let hit { awayDelays.append(max(0, hit.time - stay.from)) }
                continue
            }
            changes += 1
            if let hit { delays.append(max(0, hit.time - stay.from)) } else { never += 1 }
        }
        delays.sort()
        awayDelays.sort()
    }
}
