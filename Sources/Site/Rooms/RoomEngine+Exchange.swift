import Base

/// Gateways whose rooms seem to be exchanged.
///
/// Readings of gateways cannot distinguish a house from the same house with two names exchanged. Two things can: people who say
/// in which room they walk, and a change of the gateways' rooms.
extension RoomEngine {
    /// A training walk of at least this many seconds shows where a gateway is.
    private static let leastWalk: Float = 60
    /// In a room, its own gateway hears the tag at most this many dB weaker than the strongest one: the tag may be near the
    /// door, or the antennas differ.
    private static let clearlyWeaker: Float = 6
    /// An exchange of two rooms is reported for this long. By then, whoever moved the gateways knows it.
    private static let recently: Duration = .seconds(86_400)

    /// The gateways that seem to have swapped rooms with another gateway.
    func exchangedGateways(at now: MonotonicInstant) -> Set<GatewayIndex> {
        let strangers = Table<RoomIndex, GatewayIndex?>(rooms.indices.map(strangerThatHearsBest(in:)))
        var found: Set<GatewayIndex> = []
        for room in strangers.indices {
            guard let stranger = strangers[room], let home = gateways[stranger].room, let other = strangers[home],
                gateways[other].room == room
            else { continue }
            found.insert(stranger)
        }
        let moved = gateways.indices.filter { hasMoved($0, at: now) }
        for gateway in moved {
            let partner = moved.first { other in
                gateways[other].room == gateways[gateway].formerRoom
                    && gateways[other].formerRoom == gateways[gateway].room
            }
            if let partner { found.formUnion([gateway, partner]) }
        }
        return found
    }

    /// Whether the gateway's room changed recently.
    private func hasMoved(_ gateway: GatewayIndex, at now: MonotonicInstant) -> Bool {
        guard gateways[gateway].formerRoom != nil, gateways[gateway].room != nil, let placed = gateways[gateway].placed
        else { return false }
        return placed.duration(to: now) < Self.recently
    }

    /// The gateway that heard the walks through a room clearly better than the room's own gateways, if there is one.
    private func strangerThatHearsBest(in room: RoomIndex) -> GatewayIndex? {
        let walks = rooms[room].labelled
        guard walks.seconds >= Self.leastWalk, !rooms[room].gateways.isEmpty else { return nil }
        let levels = walks.meanLevels(of: gateways.count, missing: tuning.missLevel)
        let own = rooms[room].gateways.compactMap { levels[$0] }
        // The room's own gateways must have taken part: what a gateway heard is forgotten when it moves.
        guard own.count == rooms[room].gateways.count, let loudest = own.max() else { return nil }
        let heard = gateways.indices.compactMap { gateway in
            gateways[gateway].room == nil ? nil : levels[gateway].map { (gateway: gateway, level: $0) }
        }
        guard let best = heard.max(by: { $0.level < $1.level }) else { return nil }
        return best.level - loudest > Self.clearlyWeaker ? best.gateway : nil
    }
}

extension RoomFingerprints {
    /// The mean level of each gateway, dBm; nil if it was unknown for half of the time or more.
    ///
    /// - Parameter missing: The level of a gateway that listened and heard nothing.
    fileprivate func meanLevels(of count: Int, missing: Float) -> Table<GatewayIndex, Float?> {
        var sums = Table<GatewayIndex, Float>([Float](repeating: 0, count: count))
        var unknown = sums
        for print in prints {
            for entry in print.levels where sums.contains(index: entry.gateway) {
                if let eighths = entry.eighths {
                    sums[entry.gateway] += (Float(eighths) / 8 - missing) * print.seconds
                } else {
                    unknown[entry.gateway] += print.seconds
                }
            }
        }
        return Table(
            zip(sums.elements, unknown.elements).map { sum, unknown in
                unknown < 0.5 * seconds ? missing + sum / (seconds - unknown) : nil
            })
    }
}
