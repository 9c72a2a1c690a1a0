import Base
import SiteProtocol

/// Tells a room that is renamed from a gateway that is carried to another room: in both cases a gateway names another room than before.
///
/// Where all gateways of a trained room follow each other to a new name, the room is renamed. Where only some do, a person must say which it
/// is. Until then they are treated as carried, and what they measured is set aside, so that no answer loses it.
enum RoomRenaming {
    // MARK: A gateway names another room

    /// Renames the room of a gateway that names another one, if it is the last of that room's gateways.
    ///
    /// - Returns: Whether it did.
    static func follow(
        _ gateway: GatewayIndex, to name: RoomName, _ hearing: inout Hearing, _ learning: inout Learning,
        _ states: inout Tags, at now: MonotonicInstant, _ effects: inout [RoomEngine.Effect]
    ) -> Bool {
        guard let room = room(of: gateway, to: name, hearing, learning, at: now) else { return false }
        effects.append(.found(rename(room, to: name, lastOf: gateway, &hearing, &learning, &states)))
        return true
    }

    /// The room that gets another name because the last of its gateways names that one: then what was learned stays right. A gateway that is
    /// carried into another room looks the same. If the other room has another gateway or is trained, it stays another room.
    ///
    /// - Returns: nil if no room is renamed.
    private static func room(
        of gateway: GatewayIndex, to name: RoomName, _ hearing: Hearing, _ learning: Learning, at now: MonotonicInstant
    ) -> RoomIndex? {
        // A card of a gateway that does not count must not change anything.
        guard hearing.gateways[gateway].isKnown, let room = hearing.gateways[gateway].room,
            hearing.rooms[room].gateways == [gateway]
        else { return nil }
        let isTrained = learning.rooms[room].labelled.count > 0
        guard let other = hearing.roomIndices[name] else { return isTrained ? room : nil }
        guard other != room, !Self.isTrained(other, learning, at: now) else { return nil }
        let others = hearing.rooms[other].gateways
        guard !others.isEmpty else { return isTrained && !learning.rooms[other].isLearned ? room : nil }
        return others.allSatisfy { hearing.gateways[$0].askedRoom == room } ? room : nil
    }

    /// A gateway that counts stands in another room now, by name. What it measured is set aside; if it again names the room that it left,
    /// that counts again.
    static func move(
        _ gateway: GatewayIndex, from former: RoomIndex, to room: RoomIndex, _ hearing: inout Hearing,
        _ learning: inout Learning, at now: MonotonicInstant?, _ effects: inout [RoomEngine.Effect]
    ) {
        let asked = hearing.gateways[gateway].askedRoom
        if asked == room {
            learning.forgetDecisions(with: gateway, in: [former, room])
            return stays(gateway, &hearing, &learning)
        }
        learning.move(gateway, from: former, to: room, isFirst: asked == nil)
        guard learning.hasAside(of: gateway) else { return }
        hearing.setAskedRoom(asked ?? former, of: gateway)
        guard let now, let question = question(about: gateway, hearing, learning, at: now) else { return }
        effects.append(.found(.asked(question)))
    }

    /// Gives a room another name. If another room has that name, it gets the former one, and loses what the engine learned of it by
    /// itself.
    ///
    /// - Parameter last: The gateway whose new name it is, so that it stays in the room; nil if a person says so.
    static func rename(
        _ room: RoomIndex, to name: RoomName, lastOf last: GatewayIndex?, _ hearing: inout Hearing,
        _ learning: inout Learning, _ states: inout Tags
    ) -> RoomEngine.Finding {
        let former = hearing.rooms[room].name
        if let other = hearing.roomIndices[name] {
            for tag in states.indices {
                // Tags may be where the new name was reported already.
                if states[tag].room == other { states[tag].settle(in: room) }
                if learning.rooms[other].isLearned { states[tag].belief.remove(other) }
            }
            learning.setSurveyed([])
            let (left, come) = (hearing.rooms[room].gateways, hearing.rooms[other].gateways)
            hearing.exchangeNames(room, other)
            if learning.rooms[other].isLearned { learning.replace(other) }
            for gateway in come { hearing.assign(gateway, to: room) }
            for gateway in left where gateway != last { hearing.assign(gateway, to: other) }
        } else {
            hearing.rename(room, to: name)
        }
        for gateway in asked(about: room, hearing) where hearing.gateways[gateway].room == room {
            stays(gateway, &hearing, &learning)
        }
        return .renamed(from: former, to: name, byPerson: last == nil)
    }

    // MARK: The question, and its answers

    /// A person says that a room has another name now.
    static func answer(
        _ former: RoomName, isNow name: RoomName, _ hearing: inout Hearing, _ learning: inout Learning,
        _ states: inout Tags, at now: MonotonicInstant
    ) -> RoomEngine.Finding {
        let refusal = refusal(of: former, to: name, hearing, learning, at: now)
        guard refusal == nil, let room = hearing.roomIndices[idOrName: former] else {
            return .notRenamed(from: former, to: name, refusal ?? .noRoom)
        }
        guard learning.rooms[room].labelled.count == 0 else {
            return rename(room, to: name, lastOf: nil, &hearing, &learning, &states)
        }
        let gateways = followers(of: room, to: hearing.roomIndices[name], hearing)
        for gateway in gateways { stays(gateway, &hearing, &learning) }
        return .stay(gateways: gateways.map { hearing.gateways[$0].name })
    }

    /// The question.
    static func questions(_ hearing: Hearing, _ learning: Learning, at now: MonotonicInstant) -> [RoomQuestion] {
        var questions: [RoomQuestion] = []
        for gateway in hearing.gateways.indices where hearing.gateways[gateway].askedRoom != nil {
            guard let question = question(about: gateway, hearing, learning, at: now), !questions.contains(question)
            else { continue }
            questions.append(question)
        }
        return questions
    }

    /// Why a room is not renamed when a person says so; nil if it is.
    static func refusal(
        of former: RoomName, to name: RoomName, _ hearing: Hearing, _ learning: Learning, at now: MonotonicInstant
    ) -> RenamingRefusal? {
        guard let room = hearing.roomIndices[idOrName: former] else { return .noRoom }
        let other = hearing.roomIndices[name]
        guard other != room else { return .sameRoom }
        let isTrained = learning.rooms[room].labelled.count > 0
        if followers(of: room, to: other, hearing).isEmpty {
            let naming = hearing.rooms[room].gateways.filter { hearing.gateways[$0].isTrusted }
            guard naming.isEmpty else { return .named(by: naming.map { hearing.gateways[$0].name }) }
            guard isTrained else { return .notTrained }
        }
        guard isTrained, let other, Self.isTrained(other, learning, at: now) else { return nil }
        return .otherIsTrained
    }

    /// The gateways that stood in a room and stand in another one now, by name.
    static func followers(of room: RoomIndex, to other: RoomIndex?, _ hearing: Hearing) -> [GatewayIndex] {
        guard let other else { return [] }
        return asked(about: room, hearing).filter { hearing.gateways[$0].room == other }
    }

    /// The gateways that named this room before, while it is unknown whether they were carried.
    private static func asked(about room: RoomIndex, _ hearing: Hearing) -> [GatewayIndex] {
        hearing.gateways.indices.filter { hearing.gateways[$0].askedRoom == room }
    }

    /// The question about a gateway; nil if there is none, because no answer would change anything.
    static func question(
        about gateway: GatewayIndex, _ hearing: Hearing, _ learning: Learning, at now: MonotonicInstant
    ) -> RoomQuestion? {
        guard let former = hearing.gateways[gateway].askedRoom, let room = hearing.gateways[gateway].room,
            !isTrained(room, learning, at: now)
        else { return nil }
        return RoomQuestion(
            from: hearing.rooms[former].name, to: hearing.rooms[room].name,
            gateways: followers(of: former, to: room, hearing).map { hearing.gateways[$0].name })
    }

    /// The gateway stands where it stood.
    static func stays(_ gateway: GatewayIndex, _ hearing: inout Hearing, _ learning: inout Learning) {
        guard let former = hearing.gateways[gateway].askedRoom else { return }
        hearing.setAskedRoom(nil, of: gateway)
        learning.bringBack(gateway, of: former)
    }

    /// The gateway was carried to another room.
    static func leaves(_ name: String, _ hearing: inout Hearing, _ learning: inout Learning) {
        guard let gateway = hearing.gateway(named: name), let former = hearing.gateways[gateway].askedRoom else {
            return
        }
        hearing.setAskedRoom(nil, of: gateway)
        learning.dropAside(gateway, of: asked(about: former, hearing).isEmpty ? former : nil)
    }

    private static func isTrained(_ room: RoomIndex, _ learning: Learning, at now: MonotonicInstant) -> Bool {
        learning.rooms[room].labelled.count > 0 || learning.trainedRooms(at: now).contains(room)
    }
}
