/// A rule of another program, made from its source: readings in, a room out. Rooms and gateways are numbers from 0 on.
package protocol PeerRule: Sendable {
    /// The room that is reported; nil: none yet.
    var room: Int? { get }

    /// A gateway heard the tag.
    ///
    /// - Parameters:
    ///   - level: dBm
    ///   - time: Seconds.
    mutating func hear(_ level: Double, gateway: Int, at time: Double)
    /// Time passes, once a second. After `quiet` seconds without a reading it changes nothing.
    mutating func tick(at time: Double)
}

/// Seconds between two ticks, the cycle of Bermuda.
private let cycle = 1.05
/// Seconds after a reading in which ticks may change something. Bermuda, which alone has ticks, forgets a reading after 30 s.
private let quiet = 60.0

extension PeerRule {
    package mutating func tick(at time: Double) {}

    /// Plays readings, one by one. Ticks that change nothing are passed over, so that a pause of any length costs as much as one of a minute.
    ///
    /// - Parameters:
    ///   - readings: In the order of time.
    ///   - times: From when until when there is time, seconds.
    /// - Returns: Which room was reported when, in the order of time.
    package mutating func play(_ readings: [PeerReading], in times: ClosedRange<Double>) -> [RoomChange] {
        var reports: [RoomChange] = []
        var (tickAt, heardAt) = (times.lowerBound, times.lowerBound)
        func note(_ room: Int?, at time: Double) {
            if let room, reports.last?.room != room { reports.append((time, room)) }
        }
        func tick(until time: Double) {
            while tickAt <= time {
                self.tick(at: tickAt)
                note(room, at: tickAt)
                tickAt += cycle
                guard tickAt - heardAt > quiet, tickAt < time else { continue }
                tickAt += ((time - tickAt) / cycle).rounded(.down) * cycle
            }
        }
        for reading in readings {
            tick(until: reading.time)
            hear(reading.level, gateway: Int(reading.gateway), at: reading.time)
            note(room, at: reading.time)
            heardAt = reading.time
        }
        tick(until: times.upperBound)
        return reports
    }
}

/// The peers' rules with their constants.
///
/// - Parameters:
///   - rooms: The room of each gateway.
///   - hasFixedAddress: Whether the tag is followed by its fixed address, and is no beacon.
package func peerRules(rooms: [Int], hasFixedAddress: Bool = false) -> [(name: String, rule: any PeerRule)] {
    [
        ("strongest packet, at most 10 s old", StrongestPacket(rooms: rooms)),
        ("EWMA .3, margin 6 dB", SmoothedLevel(rooms: rooms, alpha: 0.3, margin: 6)),
        ("EWMA .1, margin 6 dB", SmoothedLevel(rooms: rooms, alpha: 0.1, margin: 6)),
        ("habluetooth: EWMA .3, margin 16 dB", SmoothedLevel(rooms: rooms, alpha: 0.3, margin: 16)),
        ("room-assistant: Kalman, nearest", KalmanNearest(rooms: rooms)),
        ("Home Assistant mqtt_room", MQTTRoom(rooms: rooms)),
        ("Bermuda", Bermuda(rooms: rooms, computationsPerCycle: hasFixedAddress ? 1 : 2)),
    ]
}
