/// Gateways whose rooms seem to be exchanged.
///
/// Nothing that gateways hear tells a house from the same house with two names exchanged. Two things do: people who say in
/// which room they walk, and a change of the rooms themselves.
extension RoomEngine {
    /// A walk of at least this many seconds speaks for where a gateway stands.
    private static let leastWalk: Float = 60
    /// In a room, its own gateway hears the tag at most this many dB weaker than the strongest one: the tag may be near the
    /// door, or the antennas differ.
    private static let clearlyWeaker: Float = 6
    /// For so long an exchange of two rooms is called by its name, in nanoseconds. Who moved the gateways knows that by then.
    private static let recently: Int64 = 86_400_000_000_000

    /// The places of the gateways that seem to stand in the room of another one, whose room they have.
    func exchangedGateways(at now: Int64) -> Set<Int> {
        let strangers = rooms.indices.map(strangerThatHearsBest(in:))
        var found: Set<Int> = []
        for (room, stranger) in strangers.enumerated() {
            guard let stranger, let other = strangers[Int(gateways[stranger].room)], gateways[other].room == room else {
                continue
            }
            found.insert(stranger)
        }
        for (place, gateway) in gateways.enumerated() where gateway.formerRoom >= 0 && gateway.room >= 0 {
            guard isRecent(gateway, now) else { continue }
            let partner = gateways.indices.first { other in
                gateways[other].room == gateway.formerRoom && gateways[other].formerRoom == gateway.room
                    && isRecent(gateways[other], now)
            }
            if let partner { found.formUnion([place, partner]) }
        }
        return found
    }

    /// Whether the gateway said not long ago where it stands.
    private func isRecent(_ gateway: GatewayState, _ now: Int64) -> Bool {
        gateway.placed > .min && now - gateway.placed < Self.recently
    }

    /// The gateway that heard the walks through a room clearly better than the room's own gateways, if there is one.
    private func strangerThatHearsBest(in room: Int) -> Int? {
        let walks = rooms[room].labelled
        guard walks.seconds >= Self.leastWalk, !rooms[room].gateways.isEmpty else { return nil }
        let levels = walks.meanLevels(of: gateways.count, missing: tuning.missLevel)
        let own = rooms[room].gateways.map { levels[$0] }
        let placed = gateways.indices.filter { gateways[$0].room >= 0 && !levels[$0].isNaN }
        // The own gateway must have been there: what a gateway heard is forgotten when it moves.
        guard !own.contains(where: \.isNaN), let best = placed.max(by: { levels[$0] < levels[$1] }) else { return nil }
        return levels[best] - (own.max() ?? 0) > Self.clearlyWeaker ? best : nil
    }
}

extension RoomFingerprints {
    /// The mean level of each gateway, by its place; NaN: nothing is known of it.
    ///
    /// - Parameter missing: The level of a gateway that listened and heard nothing.
    fileprivate func meanLevels(of count: Int, missing: Float) -> [Float] {
        var sums = [Float](repeating: 0, count: count)
        var unknown = [Float](repeating: 0, count: count)
        for print in prints {
            for entry in print.levels where Int(entry.gateway) < count {
                let isKnown = entry.eighths != FingerprintLevel.unknown
                if isKnown { sums[Int(entry.gateway)] += (Float(entry.eighths) / 8 - missing) * print.seconds }
                if !isKnown { unknown[Int(entry.gateway)] += print.seconds }
            }
        }
        return zip(sums, unknown).map { sum, unknown in
            unknown < 0.5 * seconds ? missing + sum / (seconds - unknown) : .nan
        }
    }
}
