import Base
import SiteProtocol

/// Which gateways and rooms a site has, where each gateway stands, and what was learned of each room.
///
/// It joins `Hearing` and `Learning`, which share the indices of gateways and rooms: an index that is given to another gateway or room is
/// freed in both. A gateway that names another room changes both, too (`RoomRenaming`).
package struct SitePlan: Sendable {
    var hearing: Hearing
    var learning: Learning
    /// The trained rooms in which no gateway listens, first those without any gateway; nil: they are to be found again.
    private(set) var roomsWithoutGateway: [RoomIndex]?
    private var surveyed = SurveyedSite()
    /// The levels between gateways that the rooms know; nil: gateways or rooms may have changed since.
    private var taken: SurveyedLevels?
    private(set) var floors = Floors()
    let tuning: RoomTuning

    init(_ tuning: RoomTuning, bounds: RoomEngine.Bounds) {
        hearing = Hearing(bounds: bounds, tuning.hearing)
        learning = Learning(tuning)
        self.tuning = tuning
    }

    // MARK: Gateways

    /// Adds a gateway; nil if the table is full.
    mutating func addGateway(_ name: String) -> GatewayIndex? {
        // The survey may know what it hears already.
        taken = nil
        return hearing.addGateway(name)
    }

    /// Records that a message of the gateway arrived, and returns whether its messages count.
    mutating func acquaint(_ gateway: GatewayIndex, startID: String, at now: MonotonicInstant) -> Bool {
        switch hearing.acquaint(gateway, startID: startID, at: now) {
        case .counts: return true
        case .unknown: return false
        case .countsFromNow:
            learning.welcome(gateway)
            return true
        }
    }

    /// Forgets a gateway and all that it measured. Another gateway may take its index.
    mutating func forget(_ gateway: GatewayIndex, _ tags: inout Tags) {
        forgetPlaces()
        // Nothing was learned from a gateway that did not count.
        surveyed.forget(gateway)
        learning.setSurveyed([])
        guard hearing.forget(gateway) else { return }
        learning.learnRest(hearing.rooms)
        tags.forget(gateway)
        learning.remove(gateway)
    }

    /// Sets the room of a gateway, as the gateway or a person says. What a moved gateway measured is learned again.
    ///
    /// - Parameters:
    ///   - isConfigured: Whether the configuration names the room.
    ///   - now: nil if the room was known before this start.
    /// - Returns: false if there is no place for the room.
    mutating func place(
        _ gateway: GatewayIndex, in name: RoomName, isConfigured: Bool = false, _ tags: inout Tags,
        at now: MonotonicInstant?, _ effects: inout [RoomEngine.Effect]
    ) -> Bool {
        hearing.recordCard(of: gateway, isConfigured: isConfigured, at: now)
        if let now, RoomRenaming.follow(gateway, to: name, &hearing, &learning, &tags, at: now, &effects) {
            forgetPlaces()
        }
        guard let room = room(named: name, &tags, at: now, &effects) else { return false }
        let known = hearing.rooms[room].name
        let (isMoved, former) = hearing.place(gateway, in: room, named: name, at: now)
        // Most cards say what is known already, and then nothing is to be found again.
        guard isMoved else {
            if hearing.rooms[room].name != known { forgetPlaces() }
            return true
        }
        // A card of a gateway that does not count must not erase anything.
        if let former, hearing.gateways[gateway].isKnown {
            learning.setSurveyed([])
            RoomRenaming.move(gateway, from: former, to: room, &hearing, &learning, at: now, &effects)
            tags.forgetRest { $0.levels.contains { $0.gateway == gateway } }
        }
        forgetPlaces()
        return true
    }

    /// The gateway began or ceased to listen, or to be a node.
    mutating func setListeningChanged(of gateway: GatewayIndex) {
        floors.setStale()
        if let room = hearing.gateways[gateway].room, learning.rooms[room].labelled.count > 0 {
            roomsWithoutGateway = nil
        }
    }

    /// The gateways' clocks are learned anew: what comes next was recorded at another time.
    mutating func endRecording() {
        hearing.forgetClocks()
        learning.learnRest(hearing.rooms)
    }

    // MARK: What gateways hear of each other

    mutating func take(_ levels: SurveyedLevels) {
        // The service says them every few seconds, and they take time in proportion to the gateways' square.
        guard levels != taken else { return }
        taken = levels
        learning.setSurveyed(surveyed.take(levels, hearing, tuning))
    }

    /// Whether what the gateway and others hear of each other was measured before it was carried to the room where it is.
    package func wasCarried(gateway name: String) -> Bool {
        guard let gateway = hearing.gateway(named: name), hearing.gateways[gateway].askedRoom == nil else {
            return false
        }
        return surveyed.wasCarried(gateway, hearing)
    }

    // MARK: Rooms

    /// The index of the room with a form of this name. A new room is added; nil if there is no place.
    ///
    /// - Parameter now: nil before the first input.
    mutating func room(
        named new: RoomName, _ tags: inout Tags, at now: MonotonicInstant?, _ effects: inout [RoomEngine.Effect]
    ) -> RoomIndex? {
        if let room = hearing.roomIndices[new] { return room }
        floors.setStale()
        if let room = hearing.addRoom(new) {
            learning.addRoom()
            return room
        }
        guard let now else { return nil }
        let idle = idlestRoom(tags, at: now)
        if let finding = hearing.findFullRooms(newest: new.name, at: now) { effects.append(.found(finding)) }
        guard let idle else { return nil }
        learning.learnRest(hearing.rooms)
        learning.vacate(idle)
        tags.removeBelief(in: idle)
        forgetPlaces()
        hearing.replace(idle, by: new)
        return idle
    }

    /// A room that gives way to a new one: nothing was learned of it, no tag is in it, it is not trained, and it has no gateway
    /// that counts.
    private func idlestRoom(_ tags: Tags, at now: MonotonicInstant) -> RoomIndex? {
        var isTaken = tags.areInRooms(of: hearing.rooms.count)
        for room in learning.trainedRooms(at: now) { isTaken[room] = true }
        for asked in hearing.gateways.elements.compactMap(\.askedRoom) { isTaken[asked] = true }
        return hearing.idlestRoom { isTaken[$0] || learning.rooms[$0].isLearned }
    }

    /// Forgets what was learned of the room with this id or name.
    mutating func forget(_ name: RoomName, _ tags: inout Tags) {
        guard let room = hearing.roomIndices[idOrName: name] else { return }
        learning.forget(room)
        forgetPlaces()
        tags.forgetRest { $0.room == room }
    }

    /// A person says that the room, given by its id or name, has another name now.
    mutating func rename(
        _ room: RoomName, to name: RoomName, _ tags: inout Tags, at now: MonotonicInstant
    ) -> RoomEngine.Finding {
        forgetPlaces()
        return RoomRenaming.answer(room, isNow: name, &hearing, &learning, &tags, at: now)
    }

    /// A person says that the gateway names another room because it was carried there.
    mutating func recordMove(of gateway: String) { RoomRenaming.leaves(gateway, &hearing, &learning) }

    /// Rooms, their names or their gateways have changed, or what was trained.
    private mutating func forgetPlaces() {
        taken = nil
        roomsWithoutGateway = nil
        floors.setStale()
    }

    // MARK: Floors

    mutating func tell(_ told: [RoomName: RoomFloor]) { floors.tell(told) }

    /// Finds again where the floor can be changed, if anything of that may have changed.
    @inline(__always)
    mutating func arrangeFloors() { if floors.isStale { arrangeStaleFloors() } }

    private mutating func arrangeStaleFloors() {
        let (gateways, rooms, learned) = (hearing.gateways, hearing.rooms, learning.rooms)
        // A node sends once in some seconds, and a tag may pass the stairs between two of its messages.
        func hearsEachSecond(_ gateway: GatewayIndex) -> Bool {
            gateways[gateway].isListening && !gateways[gateway].isNode
        }
        let isOneQuick = gateways.indices.contains(where: hearsEachSecond)
        floors.arrange(rooms) { room in
            isOneQuick && learned[room].labelled.count > 0 || rooms[room].gateways.contains(where: hearsEachSecond)
        }
    }

    /// The finding that a tag came to its room from another floor where it cannot; nil if it did not, or that was told. It counts as told.
    mutating func findFloorChange(
        of tag: borrowing Tag, from: RoomIndex?, at now: MonotonicInstant
    ) -> RoomEngine.Finding? {
        guard tag.floorDoubt.isBroken, let from, let room = tag.room, floors.isFinding(from: from, to: room, at: now)
        else { return nil }
        return .floorChanged(
            tag: tag.description.name, from: hearing.rooms[from].name, to: hearing.rooms[room].name)
    }

    // MARK: Training

    /// Adds a window to a training run.
    mutating func train(_ tag: TagIndex, _ seen: borrowing Observation, at now: MonotonicInstant) -> Learning.Lesson {
        let lesson = learning.train(tag, seen, hearing.gateways, at: now)
        if case .learned(_, let isFirst) = lesson, isFirst { forgetPlaces() }
        return lesson
    }

    /// The trained rooms in which no gateway listens. With few rooms all are weighed anyway, and these are not asked for.
    @inline(__always)
    mutating func findRoomsWithoutGateway() -> [RoomIndex] {
        guard hearing.rooms.count > Tag.mostRooms else { return [] }
        if let roomsWithoutGateway { return roomsWithoutGateway }
        let found = trainedWithoutGateway
        roomsWithoutGateway = found
        return found
    }

    /// The rooms that are known from training alone, always or while their gateways have failed. There is not always a place for all, so
    /// those that never have a gateway come first. A node that says nothing has not necessarily failed; a gateway that has sent nothing
    /// since the start has.
    var trainedWithoutGateway: [RoomIndex] {
        let trained = hearing.rooms.indices.filter { learning.rooms[$0].labelled.count > 0 }
        let failed = trained.filter { room in
            let gateways = hearing.rooms[room].gateways
            return !gateways.isEmpty
                && !gateways.contains { hearing.gateways[$0].isListening || hearing.gateways[$0].isNode }
        }
        return trained.filter { hearing.rooms[$0].gateways.isEmpty } + failed
    }

    // MARK: After a restart

    /// Adds the rooms of what was learned. Rooms without a gateway about which nothing was learned are left out.
    ///
    /// - Returns: The index of each; nil for one without an index.
    mutating func restoreRooms(of learned: LearnedSite, _ tags: inout Tags) -> [RoomIndex?] {
        var ignored: [RoomEngine.Effect] = []
        forgetPlaces()
        let inhabited = Set(learned.gateways.filter(\.isKnown).flatMap { [$0.room, $0.formerRoom] })
        return learned.rooms.enumerated().map { index, room in
            let isOfUse = !room.labelled.isEmpty || room.own.seconds > 0 || inhabited.contains(index)
            return isOfUse ? self.room(named: room.name, &tags, at: nil, &ignored) : nil
        }
    }

    /// Restores what was learned.
    ///
    /// - Parameters:
    ///   - rooms: The index of each room; nil for one without an index.
    ///   - gateways: The same of the gateways.
    mutating func restore(
        _ learned: LearnedSite, _ rooms: [RoomIndex?], _ gateways: [GatewayIndex?], _ tags: inout Tags
    ) {
        var ignored: [RoomEngine.Effect] = []
        for (gateway, index) in zip(learned.gateways, gateways) {
            guard let index else { continue }
            hearing.restore(index)
            guard let room = gateway.room, learned.rooms.indices.contains(room) else { continue }
            _ = place(index, in: learned.rooms[room].name, &tags, at: nil, &ignored)
            guard let former = gateway.formerRoom, rooms.indices.contains(former) else { continue }
            hearing.setAskedRoom(rooms[former], of: index)
        }
        for (room, index) in zip(learned.rooms, rooms) {
            if let index { learning.restore(room, as: index, rooms, gateways) }
        }
    }
}
