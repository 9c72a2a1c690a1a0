import Base
import Beacon
import Presence
import SiteProtocol

/// A gateway as the engine knows it.
struct GatewayState: Sendable {
    var name: String
    /// -1: it has not said where it stands.
    var room: Int16 = -1
    var clock = GatewayClock()
    var isAvailable = true
    /// Whether its silence says something: it is there, and listens.
    var isListening = false
    var isDeaf = false
    /// Several gateways have its name.
    var isShared = false
    /// It heard nothing at all in its last second: that it did not hear a tag says nothing.
    var isQuiet = false
    /// Nanoseconds of the service's clock; `.min`: nothing yet.
    var lastMessage = Int64.min
    /// When it last reported a tag.
    var lastReading = Int64.min
    /// Whether it sends messages without readings, too. An ESPresense node does not: its silence may mean anything.
    var sendsAlways = false
    /// When it last received any advertisement at all.
    var lastReport = Int64.min
    /// Where it stood before; -1: nowhere else since the start.
    var formerRoom: Int16 = -1
    /// When it said where it stands.
    var placed = Int64.min

    func silentAt(_ tuning: RoomTuning) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: lastMessage &+ Int64(tuning.gatewaySilenceSeconds * 1e9))
    }
}

extension RoomEngine {
    /// The place of a gateway, which is made if it is new and there is room.
    mutating func gatewayPlace(_ name: String, _ effects: inout [Effect]) -> Int? {
        if let place = gatewayPlaces[name] { return place }
        guard gateways.count < bounds.gateways else {
            if counters.refused == 0 { effects.append(.found(.tooManyGateways)) }
            return nil
        }
        let place = gateways.count
        gateways.append(GatewayState(name: name))
        gatewayPlaces[name] = place
        for room in rooms.indices {
            rooms[room].labelled.welcome(gateway: UInt16(place))
            rooms[room].own.welcome(gateway: UInt16(place))
        }
        scratch.resize(to: gateways.count)
        return place
    }

    /// The place of the room with this name, or with the id of this name.
    mutating func roomPlace(_ name: String, _ effects: inout [Effect]) -> Int16? {
        let id = RoomName.id(of: name)
        if let place = roomPlaces[id] { return Int16(place) }
        guard rooms.count < bounds.rooms else {
            counters.refused += 1
            return nil
        }
        if rooms.count + 1 == bounds.rooms { effects.append(.found(.tooManyRooms)) }
        roomPlaces[id] = rooms.count
        rooms.append(Room(name: RoomName(id: id, name: name)))
        return Int16(rooms.count - 1)
    }

    /// A gateway says, or a person says for it, where it stands. One that moved is learned anew.
    mutating func place(_ name: String, in roomName: String, at now: Int64 = .min, _ effects: inout [Effect]) {
        guard let gateway = gatewayPlace(name, &effects), let room = roomPlace(roomName, &effects) else {
            counters.refused += 1
            return
        }
        let old = gateways[gateway].room
        guard old != room else { return }
        if old >= 0 {
            rooms[Int(old)].gateways.removeAll { $0 == gateway }
            for place in rooms.indices {
                rooms[place].labelled.forget(gateway: UInt16(gateway))
                rooms[place].own.forget(gateway: UInt16(gateway))
            }
            // What was decided by it while it stood elsewhere may be wrong altogether.
            rooms[Int(old)].own.removeAll()
            rooms[Int(room)].own.removeAll()
            forgetExits(of: old)
            forgetExits(of: room)
        }
        gateways[gateway].formerRoom = old
        gateways[gateway].room = room
        gateways[gateway].placed = now
        rooms[Int(room)].gateways.append(gateway)
    }

    mutating func setAvailable(
        _ name: String, _ isAvailable: Bool, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        guard let gateway = gatewayPlaces[name] else { return }
        gateways[gateway].isAvailable = isAvailable
        if !isAvailable { setListening(gateway, false, at: now, &effects) }
    }

    mutating func forget(_ name: String, at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard let gateway = gatewayPlaces[name] else { return }
        setListening(gateway, false, at: now, &effects)
        let room = gateways[gateway].room
        if room >= 0 { rooms[Int(room)].gateways.removeAll { $0 == gateway } }
        gateways[gateway].room = -1
        gateways[gateway].clock.forget()
        for place in rooms.indices {
            rooms[place].labelled.forget(gateway: UInt16(gateway))
            rooms[place].own.forget(gateway: UInt16(gateway))
        }
    }

    /// A message came from the gateway: it is there, and it listens or says that it does not.
    mutating func recordMessage(
        of gateway: Int, _ second: HeardSecond, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        endInterruption(at: now.nanoseconds)
        gateways[gateway].lastMessage = now.nanoseconds
        if !second.readings.isEmpty { gateways[gateway].lastReading = now.nanoseconds }
        if !second.boot.isEmpty { gateways[gateway].sendsAlways = true }
        let isShared = gateways[gateway].clock.isShared(at: now.nanoseconds)
        if isShared, !gateways[gateway].isShared {
            effects.append(.found(.shared(gateway: gateways[gateway].name)))
        }
        gateways[gateway].isShared = isShared
        // A message is proof, whatever the retained availability says.
        gateways[gateway].isAvailable = true
        if second.reports > 0 || !second.readings.isEmpty {
            gateways[gateway].lastReport = now.nanoseconds
            if gateways[gateway].isDeaf {
                gateways[gateway].isDeaf = false
                effects.append(.found(.hears(gateway: gateways[gateway].name)))
            }
        } else if gateways[gateway].lastReport == .min {
            gateways[gateway].lastReport = now.nanoseconds
        } else if !gateways[gateway].isDeaf, now.nanoseconds - gateways[gateway].lastReport > Self.deafAfter,
            gateways.contains(where: { $0.lastReport != .min && now.nanoseconds - $0.lastReport < 5_000_000_000 })
        {
            gateways[gateway].isDeaf = true
            effects.append(.found(.deaf(gateway: gateways[gateway].name)))
        }
        gateways[gateway].isQuiet = second.reports == 0 && second.readings.isEmpty
        setListening(gateway, second.listening > .zero && !gateways[gateway].isDeaf, at: now, &effects)
    }

    /// Without one advertisement for this long a gateway is deaf, if others hear.
    private static let deafAfter: Int64 = 40_000_000_000
    mutating func setListening(
        _ gateway: Int, _ isListening: Bool, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        guard gateways[gateway].isListening != isListening else { return }
        gateways[gateway].isListening = isListening
        pass(
            .listening(Receiver(index: UInt8(gateway % Self.mostGateways)), isListening), at: now, &effects)
    }

    /// Gateways that have sent nothing for long cease to listen.
    mutating func silence(at now: MonotonicInstant, _ effects: inout [Effect]) {
        for place in gateways.indices where gateways[place].isListening && gateways[place].silentAt(tuning) <= now {
            setListening(place, false, at: now, &effects)
        }
    }
}
