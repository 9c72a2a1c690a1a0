import SiteProtocol

/// What was learned, in the engine's own form. A copy shares its memory with the engine.
package struct LearnedSource: Sendable {
    let gateways: Table<GatewayIndex, GatewayState>
    let rooms: Table<RoomIndex, Room>
    let learned: Table<RoomIndex, RoomKnowledge>

    package var site: LearnedSite {
        var site = LearnedSite()
        site.gateways = learnedGateways
        site.rooms = (0..<roomCount).map(room(at:))
        return site
    }

    package var learnedGateways: [LearnedSite.Gateway] {
        gateways.elements.map { gateway in
            var learned = LearnedSite.Gateway(
                name: gateway.name, room: gateway.room?.number, isKnown: gateway.isKnown)
            learned.formerRoom = gateway.askedRoom?.number
            return learned
        }
    }

    package var roomCount: Int { rooms.count }

    /// One room, so that not all of them are in memory in another form at once.
    package func room(at index: Int) -> LearnedSite.LearnedRoom {
        let room = learned.elements[index]
        var kept = LearnedSite.LearnedRoom(
            name: rooms.elements[index].name, labelled: room.labelled.moments, own: room.own.kept,
            placed: room.placed, exits: room.exits.kept)
        kept.aside = room.aside.map { LearnedSite.LearnedRoom.Aside(placed: $0.placed, exits: $0.exits.kept) }
        return kept
    }
}
