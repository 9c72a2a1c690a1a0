/// How well the reports of one session agree with its truth, by the definitions of `Benchmarks/README.md`.
package struct SessionScore: Sendable {
    package private(set) var rightSeconds = 0
    package private(set) var seconds = 0
    /// Seconds from the beginning to each change to a false room.
    package private(set) var falseTimes: [Double] = []
    package private(set) var hours: Double = 0
    /// Of each change into a stay of at least 5 s: seconds until the room was reported; nil: it never was.
    package private(set) var delays: [Double?] = []

    /// A room that the tag left this many seconds ago is not a false one.
    private static let tolerance = 15.0
    /// Stays that are shorter are passed through. Times in recordings are rounded.
    private static let shortestStay = 4.99

    /// - Parameters:
    ///   - stays: Where the tag was, in the order of time, without a gap.
    ///   - reports: What was reported; before the first stay it says only what held at its beginning.
    package init(stays: [RoomStay], _ reports: [RoomChange]) {
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

    private mutating func countSeconds(_ stays: [RoomStay], _ reports: [RoomChange], from: Double, to: Double) {
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

    private func delay(of stay: RoomStay, _ reports: [RoomChange]) -> Double? {
        if let before = reports.last(where: { $0.time <= stay.from }), before.room == stay.room { return 0 }
        return reports.first { $0.time > stay.from && $0.time <= stay.to && $0.room == stay.room }
            .map { $0.time - stay.from }
    }

    package var falseChanges: Int { falseTimes.count }
    package var right: Double { seconds > 0 ? Double(rightSeconds) / Double(seconds) : 0 }
}
