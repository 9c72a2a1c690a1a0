import RoomRules

/// What all gateways measured of one tag at one moment.
struct Moment {
    /// Seconds.
    var time: Double
    /// Place in the rooms of the home.
    var room: Int
    /// dBm by gateway; nil: nothing was heard.
    var levels: [Double?]
}

/// One uninterrupted recording with known rooms.
struct Session {
    typealias Stay = RoomStay

    var name: String
    var moments: [Moment] = []
    /// The same second by second, for the Markov model.
    var seconds: [Second] = []
    /// When gateways were gone: they sent nothing.
    var outages: [(gateway: Int, from: Double, to: Double)] = []

    func isGone(_ gateway: Int, at time: Double) -> Bool {
        outages.contains { $0.gateway == gateway && $0.from <= time && time < $0.to }
    }

    /// Rooms in their order: from, to (seconds), and the room.
    var stays: [Stay] {
        var stays: [Stay] = []
        for moment in moments {
            if stays.last?.room != moment.room {
                if !stays.isEmpty { stays[stays.count - 1].to = moment.time }
                stays.append((moment.room, moment.time, moment.time))
            }
            stays[stays.count - 1].to = moment.time
        }
        return stays
    }
}

extension PeerRule {
    /// Plays a session, reading by reading.
    mutating func play(_ session: Session) -> [Report] {
        guard let first = session.moments.first, let last = session.moments.last else { return [] }
        let readings = session.moments.flatMap { moment in
            moment.levels.enumerated().compactMap { gateway, level in
                level.map { PeerReading(time: moment.time, level: $0, gateway: gateway) }
            }
        }
        return play(readings, in: first.time...last.time)
    }
}
