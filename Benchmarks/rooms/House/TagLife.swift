import RoomRules

/// How well the reports of one tag agree with its life in the house.
struct TagLife {
    private(set) var right = 0.0
    private(set) var falseChanges = 0
    /// Those while a gateway failed, or within a minute of it.
    private(set) var falseInFailures = 0
    /// Changes from the room whose gateway failed while the tag was in it, and the hours of such stays.
    private(set) var falseInDeadRooms = 0
    private(set) var hoursInDeadRooms = 0.0
    /// Share of the time right while a gateway failed, 0 … 1.
    private(set) var rightInFailures = 0.0
    /// Into stays of at least 5 s.
    private(set) var delays: [Double] = []
    private(set) var changes = 0
    private(set) var never = 0
    private(set) var falseAway = 0
    private(set) var awayDelays: [Double] = []
    /// By how much *away* came after the leave timeout of the slowest gateway, seconds.
    private(set) var awayExcess: [Double] = []

    init(
        _ stays: [Session.Stay], _ reports: [Report], _ failures: [SimulatedHouse.Failure],
        _ departures: [(time: Double, leaveTimeout: Double)] = []
    ) {
        guard let first = stays.first, let last = stays.last else { return }
        countTime(stays, reports, failures)
        right /= last.to - first.from
        rightInFailures /= max(1, failures.reduce(0) { $0 + max(0, min($1.to, last.to) - max($1.from, first.from)) })
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
        countDeadRooms(stays, reports, failures)
        measureDelays(stays, reports)
        measureAway(departures, reports)
    }

    /// The tag rests in a room when its gateway fails.
    private mutating func countDeadRooms(
        _ stays: [Session.Stay], _ reports: [Report], _ failures: [SimulatedHouse.Failure]
    ) {
        for failure in failures {
            for stay in stays
            where stay.room == failure.gateway && stay.from < failure.from - 30 && stay.to > failure.from {
                let end = min(stay.to, failure.to)
                hoursInDeadRooms += (end - failure.from) / 3600
                falseInDeadRooms += zip(reports, reports.dropFirst()).count { before, report in
                    before.room == stay.room && report.room >= 0 && failure.from <= report.time && report.time < end
                }
            }
        }
    }

    private mutating func measureAway(_ departures: [(time: Double, leaveTimeout: Double)], _ reports: [Report]) {
        awayExcess = departures.compactMap { departure in
            reports.first { $0.time > departure.time && $0.room == -2 }
                .map { $0.time - departure.time - departure.leaveTimeout }
        }.sorted()
    }

    private mutating func countTime(
        _ stays: [Session.Stay], _ reports: [Report], _ failures: [SimulatedHouse.Failure]
    ) {
        var next = 0
        var failures = failures[...]
        var room = -1
        for stay in stays {
            var time = stay.from
            while time < stay.to {
                while next < reports.count, reports[next].time <= time {
                    room = reports[next].room
                    next += 1
                }
                let end = min(stay.to, next < reports.count ? reports[next].time : stay.to)
                if room == stay.room || room == -2 && stay.room == -1 {
                    right += end - time
                    while let failure = failures.first, failure.to <= time { failures.removeFirst() }
                    for failure in failures.prefix(while: { $0.from < end }) {
                        rightInFailures += max(0, min(end, failure.to) - max(time, failure.from))
                    }
                }
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
