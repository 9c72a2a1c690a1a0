package import Base
import Beacon
import Regions
package import SiteProtocol

/// What was reported about a tag before the service ended.
package struct ReportedTag: Hashable, Sendable {
    package var id: String
    package var isHome: Bool
    /// nil if the room was not known.
    package var room: RoomName?
    /// For how long the tag was heard in that room before the service ended; zero if that is not known.
    package var stay: Duration

    package init(id: String, isHome: Bool, room: RoomName?, stay: Duration = .zero) {
        (self.id, self.isHome, self.room, self.stay) = (id, isHome, room, stay)
    }
}

extension RoomEngine {
    /// Whether the tag at a position in `tags` is at home, and its room, as currently decided.
    package func decided(ofTag position: Int) -> (isHome: Bool, room: RoomName?) {
        guard let tag = states.index(at: position) else { return (false, nil) }
        return (states[tag].isHome, roomName(states[tag].room))
    }

    /// When the tag at a position in `tags` sent the latest packet that a gateway heard; nil if none was heard since the start.
    package func latestPacket(ofTag position: Int) -> MonotonicInstant? {
        states.index(at: position).flatMap { states[$0].latestPacket }
    }

    /// Continues from what another service reported about tags for which this engine has decided less: nothing, or that the tag
    /// is at home but not its room.
    package mutating func adopt(_ reported: [ReportedTag], at now: MonotonicInstant) {
        let tags = tagIndices
        let undecided = reported.filter { tag in
            guard tag.isHome, let index = tags[tag.id] else { return false }
            let state = states[index]
            return state.isHome ? state.room == nil && tag.room != nil : state.since == nil
        }
        restore(undecided, at: now)
    }

    /// All that was learned.
    package var learned: LearnedSite { learnedSource.site }

    /// The same, to be converted on another thread: at the limits of a site its JSON has tens of MB and takes seconds.
    package var learnedSource: LearnedSource {
        LearnedSource(gateways: hearing.gateways, rooms: hearing.rooms, learned: learning.rooms)
    }
}

/// What was learned, in the engine's own form. A copy shares its memory with the engine.
package struct LearnedSource: Sendable {
    fileprivate let gateways: Table<GatewayIndex, GatewayState>
    fileprivate let rooms: Table<RoomIndex, Room>
    fileprivate let learned: Table<RoomIndex, RoomKnowledge>

    package var site: LearnedSite {
        var site = LearnedSite()
        site.gateways = learnedGateways
        site.rooms = (0..<roomCount).map(room(at:))
        return site
    }

    package var learnedGateways: [LearnedSite.Gateway] {
        gateways.elements.map { gateway in
            var learned = LearnedSite.Gateway(
                name: gateway.name, room: gateway.room?.position, isKnown: gateway.isKnown)
            learned.formerRoom = gateway.askedRoom?.position
            return learned
        }
    }

    package var roomCount: Int { rooms.count }

    /// One room, so that not all of them are in memory in another form at once.
    package func room(at position: Int) -> LearnedSite.LearnedRoom {
        let room = learned.elements[position]
        var kept = LearnedSite.LearnedRoom(
            name: rooms.elements[position].name, labelled: room.labelled.moments, own: room.own.kept,
            placed: room.placed, exits: room.exits.kept)
        kept.aside = room.aside.map { LearnedSite.LearnedRoom.Aside(placed: $0.placed, exits: $0.exits.kept) }
        return kept
    }
}
