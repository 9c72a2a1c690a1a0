package import Base
import Beacon
import Presence
import Regions
package import SiteProtocol

/// What was reported of a tag before the service ended.
package struct ReportedTag: Hashable, Sendable {
    package var id: String
    package var isHome: Bool
    /// nil: the room was not known.
    package var room: RoomName?

    package init(id: String, isHome: Bool, room: RoomName?) {
        (self.id, self.isHome, self.room) = (id, isHome, room)
    }
}

extension RoomEngine {
    /// Whether a tag is at home, and its room, as they are decided now.
    package func decided(ofTag tag: Int) -> (isHome: Bool, room: RoomName?) {
        guard states.indices.contains(tag) else { return (false, nil) }
        return (states[tag].isHome, roomName(states[tag].room))
    }

    /// Goes on from what was reported. Give the tags first; call it before anything is heard of these tags.
    ///
    /// A tag that was at home is at home, in its room, until gateways that listen have been silent about it for as long as
    /// about a beacon of which nothing is known.
    package mutating func restore(_ reported: [ReportedTag], at now: MonotonicInstant) {
        var occupied: [(region: RegionKey, beacon: BeaconID)] = []
        var ignored: [Effect] = []
        for tag in reported where tag.isHome {
            guard let place = states.firstIndex(where: { $0.description.id == tag.id }) else { continue }
            let pattern = states[place].description.pattern
            guard let major = pattern.major, let minor = pattern.minor else { continue }
            states[place].isHome = true
            states[place].since = now.nanoseconds
            if let name = tag.room?.name, let room = roomPlace(name, &ignored) {
                states[place].room = room
                states[place].belief = [RoomBelief(room: room, support: 0, probability: 1)]
            }
            occupied.append(
                (
                    RegionKey(tracker: place, rid: tag.id),
                    BeaconID(uuid: pattern.uuid, major: major, minor: minor)
                ))
        }
        presence.restore(occupied: occupied, at: now)
    }

    /// Goes on from what another service reported, where this engine has decided less: nothing about the tag, or that it is at
    /// home, but not its room.
    package mutating func adopt(_ reported: [ReportedTag], at now: MonotonicInstant) {
        let undecided = reported.filter { tag in
            guard tag.isHome, let state = states.first(where: { $0.description.id == tag.id }) else { return false }
            return state.isHome ? state.room < 0 && tag.room != nil : state.since == 0
        }
        restore(undecided, at: now)
    }

    /// All that was learned.
    package var learned: LearnedSite { learnedSource.site }

    /// The same, to be made on another thread: at the limits of a site its JSON has 10 MB and takes a third of a second.
    package var learnedSource: LearnedSource { LearnedSource(gateways: gateways, rooms: rooms) }
}

/// What was learned, in the engine's own form. A copy shares its memory with the engine.
package struct LearnedSource: Sendable {
    fileprivate let gateways: [GatewayState]
    fileprivate let rooms: [Room]

    package var site: LearnedSite {
        var site = LearnedSite()
        site.gateways = gateways.map { LearnedSite.Gateway(name: $0.name, room: $0.room < 0 ? nil : Int($0.room)) }
        site.rooms = rooms.map {
            LearnedSite.LearnedRoom(
                name: $0.name, labelled: $0.labelled.moments, own: $0.own.kept,
                exits: $0.exits.exits.map { LearnedSite.LearnedRoom.Exit(room: Int($0.room), count: $0.count) })
        }
        return site
    }
}

extension RoomEngine {
    /// Goes on from what was learned. Call it once, before anything else. What does not fit is left out.
    package mutating func restore(_ learned: LearnedSite) {
        var ignored: [Effect] = []
        let roomPlaces = learned.rooms.map { roomPlace($0.name.name, &ignored) }
        let places = learned.gateways.map { gatewayPlace($0.name, &ignored).map(UInt16.init(truncatingIfNeeded:)) }
        for (gateway, place) in zip(learned.gateways, places) {
            guard place != nil, let room = gateway.room, learned.rooms.indices.contains(room) else { continue }
            self.place(gateway.name, in: learned.rooms[room].name.name, &ignored)
        }
        for (room, place) in zip(learned.rooms, roomPlaces) {
            guard let place else { continue }
            for exit in room.exits.prefix(RoomExits.most) where roomPlaces.indices.contains(exit.room) {
                guard let target = roomPlaces[exit.room], target != place, exit.count <= RoomExits.mostChanges else {
                    continue
                }
                rooms[Int(place)].exits.count(target, exit.count)
            }
            for moment in room.labelled.prefix(tuning.mostFingerprints) {
                order += 1
                rooms[Int(place)].labelled.restore(moment, places, order: order)
            }
            rooms[Int(place)].own = RoomLevels(room.own, places, tuning)
        }
    }
}
