/// A rule of another program, made from its description in `reference/rooms.md`: readings in, a room out.
protocol PeerRule {
    /// The room that is reported; nil: none yet.
    var room: Int? { get }

    /// A gateway heard the tag.
    mutating func hear(_ level: Double, gateway: Int, at time: Double)
    /// Time passes, once a second.
    mutating func tick(at time: Double)
}

extension PeerRule {
    mutating func tick(at time: Double) {}

    /// Plays a session, reading by reading.
    mutating func play(_ session: Session) -> [Report] {
        guard let first = session.moments.first else { return [] }
        var reports: [Report] = []
        var tickAt = first.time
        func note(_ room: Int?, at time: Double) {
            if let room, reports.last?.room != room { reports.append((time, room)) }
        }
        for moment in session.moments {
            while tickAt <= moment.time {
                tick(at: tickAt)
                note(room, at: tickAt)
                tickAt += 1.05
            }
            for (gateway, level) in moment.levels.enumerated() {
                guard let level else { continue }
                hear(level, gateway: gateway, at: moment.time)
                note(room, at: moment.time)
            }
        }
        return reports
    }
}

/// The peers' rules with their constants.
func peerRules(_ home: Home) -> [(name: String, rule: any PeerRule)] {
    [
        ("strongest packet, at most 10 s old", StrongestPacket(home)),
        ("EWMA .3, margin 6 dB", SmoothedLevel(home, alpha: 0.3, margin: 6)),
        ("EWMA .1, margin 6 dB", SmoothedLevel(home, alpha: 0.1, margin: 6)),
        ("habluetooth: EWMA .3, margin 16 dB", SmoothedLevel(home, alpha: 0.3, margin: 16)),
        ("room-assistant: Kalman, nearest", KalmanNearest(home)),
        ("Home Assistant mqtt_room", MQTTRoom(home)),
        ("Bermuda", Bermuda(home)),
    ]
}
