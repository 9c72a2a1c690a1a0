/// When which room was reported, in the order of time; -1: none.
typealias Report = (time: Double, room: Int)

/// How well the reports of one session agree with its truth, by the definitions of `Benchmarks/README.md`.
struct SessionScore {
    var rightSeconds = 0
    var seconds = 0
    /// Seconds from the beginning to each change to a false room.
    var falseTimes: [Double] = []
    var hours: Double = 0
    /// Of each change into a stay of at least 5 s: seconds until the room was reported; nil: it never was.
    var delays: [Double?] = []

    /// A room that the tag left this many seconds ago is not a false one.
    private static let tolerance = 15.0
    /// Stays that are shorter are passed through. Times in recordings are rounded.
    private static let shortestStay = 4.99

    init(_ session: Session, _ reports: [Report]) {
        let stays = session.stays
        guard let first = stays.first, let last = stays.last else { return }
        hours = (last.to - first.from) / 3600
        countSeconds(stays, reports, from: first.from, to: last.to)
        falseTimes = zip([(0, -1)] + reports, reports).filter { before, report in
            // What follows no report changes none.
            before.room >= 0 && report.room >= 0 && report.time >= first.from
                && !stays.contains {
                    $0.room == report.room && $0.to > report.time - Self.tolerance && $0.from <= report.time
                }
        }.map { $0.1.time - first.from }
        delays = stays.dropFirst().filter { $0.to - $0.from >= Self.shortestStay }.map { delay(of: $0, reports) }
    }

    private mutating func countSeconds(_ stays: [Session.Stay], _ reports: [Report], from: Double, to: Double) {
        var (next, room, stay) = (0, -1, 0)
        var second = from.rounded(.up)
        while second <= to {
            while next < reports.count, reports[next].time <= second {
                room = reports[next].room
                next += 1
            }
            while stay + 1 < stays.count, stays[stay + 1].from <= second { stay += 1 }
            seconds += 1
            if stays[stay].room == room { rightSeconds += 1 }
            second += 1
        }
    }

    private func delay(of stay: Session.Stay, _ reports: [Report]) -> Double? {
        if let before = reports.last(where: { $0.time <= stay.from }), before.room == stay.room { return 0 }
        return reports.first { $0.time > stay.from && $0.time <= stay.to && $0.room == stay.room }
            .map { $0.time - stay.from }
    }

    var falseChanges: Int { falseTimes.count }
    var right: Double { seconds > 0 ? Double(rightSeconds) / Double(seconds) : 0 }
}

/// The sessions of one home together.
struct Score {
    var sessions: [SessionScore] = []

    private var seconds: Int { sessions.reduce(0) { $0 + $1.seconds } }
    private var hours: Double { sessions.reduce(0) { $0 + $1.hours } }
    private var allDelays: [Double?] { sessions.flatMap(\.delays) }

    /// Share of seconds in which the reported room was the true one.
    var right: Double { seconds > 0 ? Double(sessions.reduce(0) { $0 + $1.rightSeconds }) / Double(seconds) : 0 }
    /// Seconds from the beginning of its session to each change to a false room.
    var falseTimes: [Double] { sessions.flatMap(\.falseTimes) }
    var falsePerHour: Double { hours > 0 ? Double(sessions.reduce(0) { $0 + $1.falseChanges }) / hours : 0 }
    /// Sorted.
    var delays: [Double] { allDelays.compactMap(\.self).sorted() }
    var never: Int { allDelays.count { $0 == nil } }
    var changes: Int { allDelays.count }
}

/// - Parameter sorted: Empty gives NaN.
func percentile(_ share: Double, of sorted: [Double]) -> Double {
    guard !sorted.isEmpty else { return .nan }
    let position = share * Double(sorted.count - 1)
    let low = Int(position)
    let high = min(low + 1, sorted.count - 1)
    return sorted[low] + (sorted[high] - sorted[low]) * (position - Double(low))
}
