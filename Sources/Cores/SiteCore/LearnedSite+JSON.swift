import Base
package import JSON
package import Rooms
package import SiteProtocol

/// `{"v":1,"gateways":[["kitchen",0],…],"rooms":[{"id":"kitchen","name":"Kitchen",
/// "labelled":[[seconds,gateway,eighths,…],…],"own":{"seconds":…,"gateways":[[gateway,heard,unknown,mean,squares],…]},
/// "placed":…,"exits":[[room,count],…]},…],"unknown":[…]}`; an unknown level is null.
/// `placed` and `exits` may be missing. `unknown` has the indices of the gateways that do not count yet, and may be missing.
///
/// While it is not known whether gateways were carried, `former` has their indices, each with that of the room that they named before:
/// `[[gateway,room],…]`. A room then has `aside`, what counts for nothing meanwhile, with indices in `labelled`:
/// `{"labelled":[[moment,gateway,eighths],…],"placed":…,"exits":[[room,count],…]}`; here null is a gateway that heard nothing. `placed` and
/// `exits` are those of a room that a gateway left.
extension LearnedSite {
    package var json: JSONValue {
        .object([
            "v": 1, "gateways": Self.json(of: gateways), "unknown": Self.unknown(in: gateways),
            "rooms": .array(rooms.map(Self.json)), "former": Self.former(in: gateways),
        ])
    }

    /// The indices of gateways with those of their former rooms.
    fileprivate static func former(in gateways: [Gateway]) -> JSONValue {
        .array(
            gateways.enumerated().compactMap { index, gateway in
                gateway.formerRoom.map { .array([.integer(Int64(index)), .integer(Int64($0))]) }
            })
    }

    fileprivate static func json(of gateways: [Gateway]) -> JSONValue {
        .array(gateways.map { .array([.string($0.name), $0.room.map { .integer(Int64($0)) } ?? .null]) })
    }

    /// The indices of the gateways that do not count yet.
    fileprivate static func unknown(in gateways: [Gateway]) -> JSONValue {
        .array(gateways.indices.filter { !gateways[$0].isKnown }.map { .integer(Int64($0)) })
    }

    fileprivate static func json(of room: LearnedRoom) -> JSONValue {
        var members: [String: JSONValue] = [
            "id": .string(room.name.id), "name": .string(room.name.name),
            "labelled": .array(room.labelled.map(Self.json)), "own": Self.json(of: room.own),
            "placed": .number(Double(room.placed)), "exits": json(of: room.exits),
        ]
        members["aside"] = aside(of: room)
        return .object(members)
    }

    private static func json(of exits: [LearnedRoom.Exit]) -> JSONValue {
        .array(exits.map { .array([.integer(Int64($0.room)), .number(Double($0.count))]) })
    }

    /// nil if nothing of the room is set aside.
    private static func aside(of room: LearnedRoom) -> JSONValue? {
        var levels: [JSONValue] = []
        for (index, moment) in room.labelled.enumerated() {
            for level in moment.aside {
                let eighths = level.eighths.map { JSONValue.integer(Int64($0)) } ?? .null
                levels.append(.array([.integer(Int64(index)), .integer(Int64(level.gateway)), eighths]))
            }
        }
        guard !levels.isEmpty || room.aside != nil else { return nil }
        var members: [String: JSONValue] = ["labelled": .array(levels)]
        members["placed"] = (room.aside?.placed).map { .number(Double($0)) }
        members["exits"] = (room.aside?.exits).map(json)
        return .object(members)
    }

    private static func json(of moment: Moment) -> JSONValue {
        var values: [JSONValue] = [.number(Double(moment.seconds))]
        for level in moment.levels {
            values.append(.integer(Int64(level.gateway)))
            values.append(level.eighths.map { .integer(Int64($0)) } ?? .null)
        }
        return .array(values)
    }

    private static func json(of levels: Levels) -> JSONValue {
        .object([
            "seconds": .number(Double(levels.seconds)),
            "gateways": .array(
                levels.cells.map { cell in
                    .array(
                        [.integer(Int64(cell.gateway))]
                            + [cell.heard, cell.unknown, cell.mean, cell.squares].map { .number(Double($0)) })
                }),
        ])
    }

    /// - Throws: The first error in the JSON.
    package init(_ json: JSONValue) throws(FeedError) {
        self.init()
        guard json["v"]?.asInteger == 1 else { throw FeedError("'v' is not 1; another version wrote it") }
        guard let listedGateways = json["gateways"]?.array, listedGateways.count <= RoomEngine.mostGateways,
            let listedRooms = json["rooms"]?.array, listedRooms.count <= RoomEngine.mostRooms
        else { throw FeedError("'gateways' or 'rooms' is not a list, or too long") }
        for element in listedRooms {
            guard let id = element["id"]?.string, let text = element["name"]?.string,
                // An earlier version took a blank name.
                let name = RoomName(id: id, name: text) ?? RoomName(id: id, name: id)
            else { throw FeedError("an element of 'rooms' has no id and name") }
            var room = LearnedRoom(
                name: name, labelled: try Self.moments(element["labelled"]), own: try Self.levels(element["own"]),
                placed: Self.probability(element["placed"]), exits: try Self.exits(element["exits"]))
            if let aside = element["aside"] { try Self.setAside(aside, in: &room) }
            rooms.append(room)
        }
        for element in listedGateways {
            guard let pair = element.array, pair.count == 2, let name = pair[0].string,
                (1...FeedDecoder.mostNameBytes).contains(name.utf8.count)
            else { throw FeedError("an element of 'gateways' is not a name with a room") }
            let room = pair[1].asInteger.flatMap { Int(exactly: $0) }
            gateways.append(Gateway(name: name, room: room.flatMap { rooms.indices.contains($0) ? $0 : nil }))
        }
        for index in (json["unknown"]?.array ?? []).compactMap(\.asInteger).compactMap(Int.init(exactly:)) {
            if gateways.indices.contains(index) { gateways[index].isKnown = false }
        }
        for element in json["former"]?.array ?? [] {
            let pair = (element.array ?? []).compactMap(\.asInteger).compactMap(Int.init(exactly:))
            guard pair.count == 2, gateways.indices.contains(pair[0]), rooms.indices.contains(pair[1]) else { continue }
            gateways[pair[0]].formerRoom = pair[1]
        }
    }

    private static func setAside(_ json: JSONValue, in room: inout LearnedRoom) throws(FeedError) {
        for element in json["labelled"]?.array ?? [] {
            guard let values = element.array, values.count == 3,
                let moment = values[0].asInteger.flatMap({ Int(exactly: $0) }), room.labelled.indices.contains(moment),
                let gateway = values[1].asInteger.flatMap({ Int(exactly: $0) })
            else { throw FeedError("what is set aside of a room is not a moment, a gateway and a level") }
            room.labelled[moment].aside.append(
                Moment.Level(gateway: gateway, eighths: values[2].asInteger.flatMap { Int(exactly: $0) }))
        }
        guard json["placed"] != nil else { return }
        room.aside = LearnedRoom.Aside(placed: probability(json["placed"]), exits: try exits(json["exits"]))
    }

    /// 0 if it is missing or impossible.
    private static func probability(_ json: JSONValue?) -> Float {
        guard let number = json?.asNumber, (0...1).contains(number) else { return 0 }
        return Float(number)
    }

    private static func exits(_ json: JSONValue?) throws(FeedError) -> [LearnedRoom.Exit] {
        var exits: [LearnedRoom.Exit] = []
        for element in json?.array ?? [] {
            guard let pair = element.array, pair.count == 2, let count = pair[1].asNumber,
                let room = pair[0].asInteger.flatMap({ Int(exactly: $0) }), count.isFinite
            else { throw FeedError("an exit of a room is not a room with a number of changes") }
            exits.append(LearnedRoom.Exit(room: room, count: Float(count)))
        }
        return exits
    }

    private static func levels(_ json: JSONValue?) throws(FeedError) -> Levels {
        guard let seconds = json?["seconds"]?.asNumber, seconds.isFinite, let listed = json?["gateways"]?.array else {
            throw FeedError("what was learned of a room by itself has no seconds and gateways")
        }
        var levels = Levels(seconds: Float(seconds))
        for element in listed {
            guard let values = element.array, values.count == 5,
                let gateway = values[0].asInteger.flatMap({ Int(exactly: $0) })
            else { throw FeedError("a gateway's levels in a room are not a gateway and four numbers") }
            let numbers = values.dropFirst().compactMap(\.asNumber).map { Float($0) }
            guard numbers.count == 4, numbers.allSatisfy(\.isFinite) else {
                throw FeedError("a gateway's levels in a room are not a gateway and four numbers")
            }
            levels.cells.append(
                Levels.Cell(
                    gateway: gateway, heard: numbers[0], unknown: numbers[1], mean: numbers[2], squares: numbers[3]))
        }
        return levels
    }

    private static func moments(_ json: JSONValue?) throws(FeedError) -> [Moment] {
        guard let elements = json?.array else { throw FeedError("what was learned of a room is not a list") }
        var moments: [Moment] = []
        for element in elements {
            guard let values = element.array, values.count % 2 == 1, let seconds = values[0].asNumber else {
                throw FeedError("a moment is not a list of seconds, gateways and levels")
            }
            var levels: [Moment.Level] = []
            for index in stride(from: 1, to: values.count, by: 2) {
                guard let gateway = values[index].asInteger.flatMap({ Int(exactly: $0) }) else {
                    throw FeedError("a moment names a gateway by something other than a number")
                }
                levels.append(
                    Moment.Level(gateway: gateway, eighths: values[index + 1].asInteger.flatMap { Int(exactly: $0) })
                )
            }
            moments.append(Moment(seconds: Float(seconds), levels: levels))
        }
        return moments
    }
}

extension LearnedSource {
    /// The bytes of `site.json`, made room by room: the values of all rooms at once take several times their memory.
    package var bytes: [UInt8] {
        var bytes = Array(#"{"former":"#.utf8)
        bytes += LearnedSite.former(in: learnedGateways).bytes
        bytes += #","gateways":"#.utf8
        bytes += LearnedSite.json(of: learnedGateways).bytes
        bytes += #","rooms":["#.utf8
        for index in 0..<roomCount {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += LearnedSite.json(of: room(at: index)).bytes
        }
        bytes += #"],"unknown":"#.utf8
        bytes += LearnedSite.unknown(in: learnedGateways).bytes
        bytes += #","v":1}"#.utf8
        return bytes
    }
}
