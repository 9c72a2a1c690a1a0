extension LevelSurvey {
    /// The share of time in which a tag in a room would be placed there, as the gateways' own beacons let expect.
    package struct RoomEstimate: Hashable, Sendable {
        /// As the caller names it.
        package let room: String
        /// 0 to 1.
        package let share: Float
        /// The number of pairs of gateways that say so.
        package let pairs: Int
    }

    /// A beacon beside a gateway is heard there, dBm.
    private static let ownLevel: Float = -50
    /// The deviation of the difference of two levels, dB.
    private static let deviation: Float = 12

    /// An estimate for each room of which something can be said, in the order of their names: how much weaker the beacon of a gateway of the
    /// room is elsewhere.
    ///
    /// - Parameter rooms: The room of each gateway.
    package func estimate(rooms: [String: String]) -> [RoomEstimate] {
        var shares: [String: [Float]] = [:]
        for (sender, room) in rooms {
            for (receiver, other) in rooms where other != room {
                guard let level = level(of: sender, at: receiver) else { continue }
                let odds = FixedMath.exp((Self.ownLevel - level) / Self.deviation)
                shares[room, default: []].append(odds / (1 + odds))
            }
        }
        return shares.sorted { $0.key < $1.key }.map {
            RoomEstimate(room: $0.key, share: $0.value.min() ?? 0, pairs: $0.value.count)
        }
    }
}
