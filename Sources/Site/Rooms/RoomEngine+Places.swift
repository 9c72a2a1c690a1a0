import Base
import SiteProtocol

/// The places of the tables of gateways and rooms.
///
/// Any client may name gateways and rooms, so both tables are bounded. An index is never moved, because what was learned
/// refers to it: once a table is full, a new entry takes the index of one that is of no use any more.
extension RoomEngine {
    /// A gateway that counts keeps its place in a full table until it has been silent for this long.
    private static let longestSilence: Duration = .seconds(86_400)
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
            let idle = idleGateways(at: now)
            if Self.isDue(&fullTables.gateways, at: now) {
                let all = idle.isEmpty ? Array(gateways.indices) : idle
                let names = all.sorted(by: isIdler).prefix(Self.mostNamed).map { gateways[$0].name }
                effects.append(.found(.tooManyGateways(newest: name, idle: names)))
            }
            guard let least = idle.min(by: isIdler) else { return nil }
            forget(least, at: now, &effects)
            gatewayIndices[gateways[least].name] = nil
            gateways[least] = GatewayState(name: name)
            gateway = least
        }
        gatewayIndices[name] = gateway
        return gateway
    }

    /// The gateways that may give way to a new one: those that do not count, and those that have been silent for a day.
    private func idleGateways(at now: MonotonicInstant) -> [GatewayIndex] {
        gateways.indices.filter { gateway in
            guard !gateways[gateway].isConfigured else { return false }
            return !gateways[gateway].isKnown || sign(of: gateway).duration(to: now) > Self.longestSilence
        }
    }

    /// Whether a gateway gives way before another: one without a room that does not count, then one that has only a card, then
    /// one that was heard and does not count yet. Among equals it is the one that has been silent for longer.
    private func isIdler(_ left: GatewayIndex, _ right: GatewayIndex) -> Bool {
        func rank(_ gateway: GatewayIndex) -> Int {
            switch gateways[gateway].acquaintance {
            case .known: 3
            case .unknown, .met: gateways[gateway].room == nil ? 0 : gateways[gateway].acquaintance == .unknown ? 1 : 2
            }
        }
        return (rank(left), sign(of: left), left) < (rank(right), sign(of: right), right)
    }

    /// When anything of the gateway last arrived; at the start, if nothing has arrived since.
    private func sign(of gateway: GatewayIndex) -> MonotonicInstant { gateways[gateway].lastSign ?? began ?? .zero }

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
        func latestSign(_ room: RoomIndex) -> MonotonicInstant {
            rooms[room].gateways.map(sign).max() ?? MonotonicInstant(nanoseconds: .min)
        }
        var taken = Set(trainings.values.filter { !$0.isOver && $0.until > now }.map(\.room))
        for tag in states.elements { if let room = tag.room { taken.insert(room) } }
        return rooms.indices.filter { room in
            !rooms[room].isLearned && !hasGatewayThatCounts(rooms[room]) && !taken.contains(room)
        }.min { (latestSign($0), $0) < (latestSign($1), $1) }
    }

    func hasGatewayThatCounts(_ room: Room) -> Bool {
        room.gateways.contains { gateways[$0].isKnown || gateways[$0].isConfigured }
    }

    /// Removes everything that refers to a room.
    private mutating func vacate(_ room: RoomIndex) {
        for gateway in gateways.indices {
            if gateways[gateway].room == room { gateways[gateway].room = nil }
            if gateways[gateway].formerRoom == room { gateways[gateway].formerRoom = nil }
        }
        rooms[room].gateways = []
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
