import Base

/// Finds gateways that seem to have swapped rooms.
///
/// Readings alone cannot tell a house from the same house with two names swapped. Two other sources can: people who say in which room
/// they walk, and a recorded change of the gateways' rooms.
struct ExchangedGateways {
    private let gateways: Table<GatewayIndex, GatewayState>
    private let rooms: Table<RoomIndex, Room>
    private let learned: Table<RoomIndex, RoomKnowledge>
    /// The level of a gateway that listened and heard nothing, dBm.
    private let missLevel: Float

    init(_ hearing: Hearing, _ learned: Table<RoomIndex, RoomKnowledge>, missLevel: Float) {
        (gateways, rooms) = (hearing.gateways, hearing.rooms)
        (self.learned, self.missLevel) = (learned, missLevel)
    }

    /// A training walk of at least this many seconds shows where a gateway is.
    private static let leastWalk: Float = 60
    /// In a room, its own gateway hears the tag at most this many dB weaker than the strongest one: the tag may be near the
    /// door, or the antennas differ.
    private static let clearlyWeaker: Float = 6
    /// A swap of two rooms is reported for this long. After that, whoever moved the gateways knows about it.
    private static let recently: Duration = .seconds(86_400)

    /// The gateways that seem to have swapped rooms with another gateway.
    func found(at now: MonotonicInstant) -> Set<GatewayIndex> {
        var sums = LevelSums(gateways: gateways.count)
        let strangers = Table<RoomIndex, GatewayIndex?>(rooms.indices.map { strangerThatHearsBest(in: $0, &sums) })
        var found: Set<GatewayIndex> = []
        for room in strangers.indices {
            guard let stranger = strangers[room], let home = gateways[stranger].room, let other = strangers[home],
                gateways[other].room == room
            else { continue }
            found.insert(stranger)
        }
        let moved = gateways.indices.filter { hasMoved($0, at: now) }
        var byMove: [Move: GatewayIndex] = [:]
        for gateway in moved.reversed() { if let move = move(of: gateway) { byMove[move] = gateway } }
        for gateway in moved {
            guard let move = move(of: gateway), let partner = byMove[Move(from: move.to, to: move.from)] else {
                continue
            }
            found.formUnion([gateway, partner])
        }
        return found
    }

    private struct Move: Hashable {
        var from: RoomIndex
        var to: RoomIndex
    }

    private func move(of gateway: GatewayIndex) -> Move? {
        guard let from = gateways[gateway].formerRoom, let to = gateways[gateway].room else { return nil }
        return Move(from: from, to: to)
    }

    /// Whether the gateway's room changed recently.
    private func hasMoved(_ gateway: GatewayIndex, at now: MonotonicInstant) -> Bool {
        guard gateways[gateway].formerRoom != nil, gateways[gateway].room != nil, let placed = gateways[gateway].placed
        else { return false }
        return placed.duration(to: now) < Self.recently
    }

    /// The gateway that heard the walks through a room clearly better than the room's own gateways, if there is one.
    private func strangerThatHearsBest(in room: RoomIndex, _ sums: inout LevelSums) -> GatewayIndex? {
        guard learned[room].labelled.seconds >= Self.leastWalk, !rooms[room].gateways.isEmpty else { return nil }
        sums.add(learned[room].labelled, missing: missLevel)
        defer { sums.removeAll() }
        var loudest = -Float.infinity
        for gateway in rooms[room].gateways {
            // The room's own gateways must have taken part: what a gateway heard is forgotten when it moves.
            guard let level = sums.meanLevel(of: gateway, missing: missLevel) else { return nil }
            loudest = max(loudest, level)
        }
        // A gateway that is in no fingerprint heard nothing, so it cannot be the one that hears best.
        var best: (gateway: GatewayIndex, level: Float)?
        for gateway in sums.gateways.sorted() where gateways[gateway].room != nil {
            guard let level = sums.meanLevel(of: gateway, missing: missLevel) else { continue }
            if best.map({ $0.level < level }) ?? true { best = (gateway, level) }
        }
        guard let best else { return nil }
        return best.level - loudest > Self.clearlyWeaker ? best.gateway : nil
    }
}

/// Sums of the gateways' levels in the fingerprints of one room. The memory covers all gateways and is reused for each room. The work
/// for a room depends only on the gateways in its fingerprints.
private struct LevelSums {
    /// dB above the level of a gateway that heard nothing, times seconds.
    private var sums: Table<GatewayIndex, Float>
    /// Seconds in which the gateway was not listening.
    private var unknown: Table<GatewayIndex, Float>
    private var isFound: Table<GatewayIndex, Bool>
    private var seconds: Float = 0
    /// Those in the fingerprints.
    private(set) var gateways: [GatewayIndex] = []

    init(gateways count: Int) {
        sums = Table([Float](repeating: 0, count: count))
        unknown = sums
        isFound = Table([Bool](repeating: false, count: count))
    }

    /// - Parameter missing: The level of a gateway that listened and heard nothing.
    mutating func add(_ fingerprints: RoomFingerprints, missing: Float) {
        seconds = fingerprints.seconds
        for print in fingerprints.prints {
            for entry in print.levels where sums.contains(index: entry.gateway) {
                if !isFound[entry.gateway] {
                    isFound[entry.gateway] = true
                    gateways.append(entry.gateway)
                }
                if let eighths = entry.eighths {
                    sums[entry.gateway] += (Float(eighths) / 8 - missing) * print.seconds
                } else {
                    unknown[entry.gateway] += print.seconds
                }
            }
        }
    }

    /// The mean level of a gateway, dBm; nil if it was unknown for half of the time or more.
    func meanLevel(of gateway: GatewayIndex, missing: Float) -> Float? {
        unknown[gateway] < 0.5 * seconds ? missing + sums[gateway] / (seconds - unknown[gateway]) : nil
    }

    mutating func removeAll() {
        for gateway in gateways { (sums[gateway], unknown[gateway], isFound[gateway]) = (0, 0, false) }
        gateways.removeAll(keepingCapacity: true)
    }
}
