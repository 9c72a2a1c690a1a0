import Base
import SiteProtocol

/// The places of the tables of gateways and rooms.
///
/// Any client may name gateways and rooms, so both tables are bounded. An index is never moved, because what was learned
/// refers to it: once a table is full, a new entry takes the index of one that is of no use any more.
extension RoomEngine {
    /// Time between two findings about a full table.
    private static let findingPeriod: Duration = .seconds(600)
    /// Largest number of entries that a finding names.
    private static let mostNamed = 5

    /// When full tables were last reported.
    struct FullTables: Sendable {
        var gateways: MonotonicInstant?
        var rooms: MonotonicInstant?
    }

    // MARK: Gateways

    /// The index of a gateway, which is added if it is new; nil if there is no place.
    ///
    /// - Parameter now: nil before the first input.
    mutating func gatewayIndex(_ name: String, at now: MonotonicInstant?, _ effects: inout [Effect]) -> GatewayIndex? {
        if let gateway = gatewayIndices[name] { return gateway }
        let gateway: GatewayIndex
        if gateways.count < bounds.gateways {
            gateway = gateways.append(GatewayState(name: name))
            scratch.resize(to: gateways.count)
        } else {
            guard let now else { return nil }
            let idlest = idlestGateway(at: now)
            if Self.isDue(&fullTables.gateways, at: now) {
                let idle = idleGateways(at: now)
                let all = idle.isEmpty ? Array(gateways.indices) : idle
                let names = all.sorted(by: isIdler).prefix(Self.mostNamed).map { gateways[$0].name }
                effects.append(.found(.tooManyGateways(newest: name, idle: names)))
            }
            guard let least = idlest else { return nil }
            forget(least, at: now, &effects)
            gatewayIndices[gateways[least].name] = nil
            gateways[least] = GatewayState(name: name)
            gateway = least
        }
        gatewayIndices[name] = gateway
        return gateway
    }

    /// The gateways that may give way to a new one.
    private func idleGateways(at now: MonotonicInstant) -> [GatewayIndex] {
        gateways.indices.filter { gateways[$0].givesWay(at: now, since: began) }
    }

    /// The first of them to give way; nil if there is none. Each message with an invented name may look for it in a full table,
    /// so it is found in one pass.
    private func idlestGateway(at now: MonotonicInstant) -> GatewayIndex? {
        let began = began
        var idlest: (rank: Int, sign: MonotonicInstant, gateway: GatewayIndex)?
        for gateway in gateways.indices where gateways[gateway].givesWay(at: now, since: began) {
            let (rank, sign) = (gateways[gateway].rank, gateways[gateway].sign(since: began))
            // Of equals, the first found stays.
            if let idlest, (idlest.rank, idlest.sign) <= (rank, sign) { continue }
            idlest = (rank, sign, gateway)
        }
        return idlest?.gateway
    }

    /// Whether a gateway gives way before another: by its rank, and among equals the one that has been silent for longer.
    private func isIdler(_ left: GatewayIndex, _ right: GatewayIndex) -> Bool {
        (gateways[left].rank, gateways[left].sign(since: began), left)
            < (gateways[right].rank, gateways[right].sign(since: began), right)
    }

    // MARK: Rooms

    /// The index of the room with this name or its id. A new room is added; nil if there is no place.
    ///
    /// - Parameter now: nil before the first input.
    mutating func roomIndex(_ name: String, at now: MonotonicInstant?, _ effects: inout [Effect]) -> RoomIndex? {
        let id = RoomName.id(of: name)
        if let room = roomIndices[id] { return room }
        let new = Room(name: RoomName(id: id, name: name))
        let room: RoomIndex
        if rooms.count < bounds.rooms {
            room = rooms.append(new)
        } else {
            guard let now else { return nil }
            let idle = idleRoom(at: now)
            if Self.isDue(&fullTables.rooms, at: now) {
                // The rooms that a request or a card can have added: those without a gateway that counts.
                let names = rooms.elements.filter { !hasGatewayThatCounts($0) }.prefix(Self.mostNamed).map(\.name.name)
                effects.append(.found(.tooManyRooms(newest: name, idle: names)))
            }
            guard let idle else { return nil }
            vacate(idle)
            rooms[idle] = new
            room = idle
        }
        roomIndices[id] = room
        return room
    }

    /// A room that gives way to a new one: nothing was learned of it, no tag is in it, it is not trained, and it has no gateway
    /// that counts. A room without any gateway is preferred, then the one whose gateways have been silent for longest.
    private func idleRoom(at now: MonotonicInstant) -> RoomIndex? {
        var isTaken = roomsOfTags
        for training in trainings.values where !training.isOver && training.until > now {
            isTaken[training.room] = true
        }
        var idlest: (sign: MonotonicInstant, room: RoomIndex)?
        for room in rooms.indices where !isTaken[room] && !rooms[room].isLearned {
            guard !hasGatewayThatCounts(rooms[room]) else { continue }
            var latest = MonotonicInstant(nanoseconds: .min)
            for gateway in rooms[room].gateways { latest = max(latest, gateways[gateway].sign(since: began)) }
            if let idlest, idlest.sign <= latest { continue }
            idlest = (latest, room)
        }
        return idlest?.room
    }

    /// For each room, whether a tag is in it.
    var roomsOfTags: Table<RoomIndex, Bool> {
        var found = Table<RoomIndex, Bool>([Bool](repeating: false, count: rooms.count))
        for tag in states.indices { if let room = states[tag].room { found[room] = true } }
        return found
    }

    func hasGatewayThatCounts(_ room: Room) -> Bool {
        room.gateways.contains { gateways[$0].isTrusted }
    }

    /// Removes everything that refers to a room.
    private mutating func vacate(_ room: RoomIndex) {
        for gateway in gateways.indices {
            if gateways[gateway].room == room { gateways[gateway].room = nil }
            if gateways[gateway].formerRoom == room { gateways[gateway].formerRoom = nil }
        }
        rooms[room].gateways = []
        roomsWithoutGateway = nil
        for tag in states.indices {
            learnRest(of: tag)
            states[tag].belief.removeAll { $0.room == room }
        }
        trainings = trainings.filter { $0.value.room != room }
        forgetExits(of: room)
        roomIndices[rooms[room].name.id] = nil
    }

    /// Whether a finding about a full table is due, and records it.
    private static func isDue(_ last: inout MonotonicInstant?, at now: MonotonicInstant) -> Bool {
        if let last, last.duration(to: now) < findingPeriod { return false }
        last = now
        return true
    }
}

extension GatewayState {
    /// A gateway that counts keeps its place in a full table until it has been silent for this long.
    private static let longestSilence: Duration = .seconds(86_400)

    /// Whether it may give way to a new one: it does not count, or has been silent for a day.
    ///
    /// - Parameter began: When the first input came.
    fileprivate func givesWay(at now: MonotonicInstant, since began: MonotonicInstant?) -> Bool {
        !isConfigured && (!isKnown || sign(since: began).duration(to: now) > Self.longestSilence)
    }

    /// One without a room that does not count gives way first, then one that has only a card, then one that was heard and does
    /// not count yet.
    fileprivate var rank: Int {
        switch acquaintance {
        case .known: 3
        case .unknown: room == nil ? 0 : 1
        case .met: room == nil ? 0 : 2
        }
    }

    /// When anything of it last arrived; at the start, if nothing has arrived since.
    fileprivate func sign(since began: MonotonicInstant?) -> MonotonicInstant { lastSign ?? began ?? .zero }
}
