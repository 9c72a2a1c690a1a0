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

    /// Continues from what was reported. Set the tags first; call this before anything is heard of these tags.
    ///
    /// A tag that was at home stays at home, in its room, until listening gateways have been silent about it for as long as for
    /// a beacon of which nothing is known.
    package mutating func restore(_ reported: [ReportedTag], at now: MonotonicInstant) {
        var atHome: [(tag: TagDescription, beacon: BeaconID)] = []
        var ignored: [Effect] = []
        let tags = tagIndices
        for report in reported where report.isHome {
            guard let tag = tags[report.id] else { continue }
            states[tag].isHome = true
            // What it showed of its room is learned already. A stored time may be wrong.
            let stay = max(0, min(report.stay.inSeconds, Double(tuning.longestStaySeconds)))
            states[tag].since = now.advanced(by: .seconds(-stay))
            if let name = report.room?.name, let room = roomIndex(name, at: now, &ignored) {
                states[tag].room = room
                states[tag].belief = [RoomBelief(room: room, support: 0, probability: 1)]
            }
            atHome.append((states[tag].description, standIn(for: tag)))
        }
        presence.restore(atHome, at: now)
    }

    /// The beacon of a tag that stands for it until a real one is heard. Which beacon a tag without major or minor was is not
    /// known, so it is one that no other tag has.
    private mutating func standIn(for tag: TagIndex) -> BeaconID {
        let pattern = states[tag].description.pattern
        var standIn = BeaconID(uuid: pattern.uuid, major: pattern.major ?? 0, minor: pattern.minor ?? 0)
        guard pattern.major == nil || pattern.minor == nil else { return standIn }
        // The others have one beacon each at most, so that a free one is among these.
        for offset in 0...states.count {
            let number = UInt16(truncatingIfNeeded: tag.position + offset)
            standIn = BeaconID(uuid: pattern.uuid, major: pattern.major ?? number, minor: pattern.minor ?? number)
            if presence.tag(of: standIn) == tag { break }
        }
        return standIn
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

    private var tagIndices: [String: TagIndex] {
        Dictionary(states.indices.map { (states[$0].description.id, $0) }) { first, _ in first }
    }

    /// All that was learned.
    package var learned: LearnedSite { learnedSource.site }

    /// The same, to be converted on another thread: at the limits of a site its JSON has tens of MB and takes seconds.
    package var learnedSource: LearnedSource { LearnedSource(gateways: gateways, rooms: rooms) }
}

/// What was learned, in the engine's own form. A copy shares its memory with the engine.
package struct LearnedSource: Sendable {
    fileprivate let gateways: Table<GatewayIndex, GatewayState>
    fileprivate let rooms: Table<RoomIndex, Room>

    package var site: LearnedSite {
        var site = LearnedSite()
        site.gateways = learnedGateways
        site.rooms = (0..<roomCount).map(room(at:))
        return site
    }

    package var learnedGateways: [LearnedSite.Gateway] {
        gateways.elements.map { LearnedSite.Gateway(name: $0.name, room: $0.room?.position, isKnown: $0.isKnown) }
    }

    package var roomCount: Int { rooms.count }

    /// One room, so that not all of them are in memory in another form at once.
    package func room(at position: Int) -> LearnedSite.LearnedRoom {
        let room = rooms.elements[position]
        return LearnedSite.LearnedRoom(
            name: room.name, labelled: room.labelled.moments, own: room.own.kept, placed: room.placed,
            exits: room.exits.exits.map { LearnedSite.LearnedRoom.Exit(room: $0.room.position, count: $0.count) })
    }
}

extension RoomEngine {
    /// Restores what was learned. Call it once, before anything else. Entries that do not fit are left out, and so are gateways
    /// that did not count, which come back with their cards, and rooms in which neither a gateway is nor anything was learned.
    package mutating func restore(_ learned: LearnedSite) {
        var ignored: [Effect] = []
        roomsWithoutGateway = nil
        let inhabited = Set(learned.gateways.filter(\.isKnown).compactMap(\.room))
        let roomIndices = learned.rooms.enumerated().map { position, room in
            let isOfUse = !room.labelled.isEmpty || room.own.seconds > 0 || inhabited.contains(position)
            return isOfUse ? roomIndex(room.name.name, at: nil, &ignored) : nil
        }
        let gatewayIndices = learned.gateways.map {
            $0.isKnown ? gatewayIndex($0.name, at: nil, &ignored) : nil
        }
        for (gateway, index) in zip(learned.gateways, gatewayIndices) {
            guard let index else { continue }
            gateways[index].acquaintance = .known
            guard let room = gateway.room, learned.rooms.indices.contains(room) else { continue }
            place(gateway.name, in: learned.rooms[room].name.name, &ignored)
        }
        for (room, index) in zip(learned.rooms, roomIndices) {
            guard let index else { continue }
            for exit in room.exits.prefix(RoomExits.most) where roomIndices.indices.contains(exit.room) {
                guard let target = roomIndices[exit.room], target != index, exit.count <= RoomExits.mostChanges else {
                    continue
                }
                rooms[index].exits.count(target, exit.count)
            }
            for moment in room.labelled.prefix(tuning.mostFingerprints) {
                order += 1
                rooms[index].labelled.restore(moment, gatewayIndices, order: order)
            }
            rooms[index].own = RoomLevels(room.own, gatewayIndices, tuning)
            rooms[index].placed = (0...1).contains(room.placed) ? room.placed : 0
        }
    }
}
