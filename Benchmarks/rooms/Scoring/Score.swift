import RoomRules

/// When which room was reported, in the order of time; -1: none.
typealias Report = RoomChange

extension SessionScore {
    /// How well the reports of one session agree with its truth.
    init(_ session: Session, _ reports: [Report]) { self.init(stays: session.stays, reports) }
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
