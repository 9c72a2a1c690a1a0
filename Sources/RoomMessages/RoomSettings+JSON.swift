package import JSON
import OwnTracks
import Regions
import Rooms

extension RoomSettings {
    /// Reads the member `rooms` of a configuration: `{site, tags: [waypoints], gateways: {gateway: room}}`.
    ///
    /// - Throws: The first thing that is wrong, with its place.
    package init(configuration json: JSONValue) throws(FeedError) {
        guard let members = json.object else { throw FeedError("the configuration is no object") }
        if let latitude = members["lat"]?.asNumber, let longitude = members["lon"]?.asNumber {
            position = Position(
                coordinates: Coordinates(latitude: latitude, longitude: longitude),
                accuracy: Int(max(1, min(100_000, members["acc"]?.asNumber ?? 10))))
        }
        guard let rooms = members["rooms"] else { return }
        if case .null = rooms { return }
        guard rooms.object != nil else { throw FeedError("'rooms' is not an object") }
        if let value = rooms["site"] {
            guard let text = value.string, Self.isTopicLevel(text) else {
                throw FeedError("'rooms.site' is not a text of the characters A-Z, a-z, 0-9, '_' and '-'")
            }
            site = text
        }
        if let list = rooms["tags"] { try readTags(list) }
        if let list = rooms["gateways"] {
            guard let members = list.object else { throw FeedError("'rooms.gateways' is not an object") }
            for (gateway, room) in members.sorted(by: { $0.key < $1.key }) {
                guard let room = room.string, !room.isEmpty, room.utf8.count <= FeedDecoder.mostNameBytes else {
                    throw FeedError("'rooms.gateways.\(gateway.prefix(64))' is not the name of a room")
                }
                gateways.append((gateway, room))
            }
        }
    }

    private mutating func readTags(_ list: JSONValue) throws(FeedError) {
        guard let elements = list.array else { throw FeedError("'rooms.tags' is not a list of waypoints") }
        let waypoints = elements.map { element in
            // A bare description is enough.
            if case .string = element { JSONValue.object(["desc": element]) } else { element }
        }
        let reading: WaypointsReading
        do throws(WaypointsError) {
            reading = try WaypointsReading(.array(waypoints))
        } catch {
            throw FeedError("'rooms.tags': \(error)")
        }
        if let problem = reading.problems.first { throw FeedError("'rooms.tags': \(problem)") }
        for change in reading.changes {
            guard case .set(let region, let isDerived) = change else { continue }
            guard case .beacon(let pattern) = region.kind else {
                throw FeedError("'rooms.tags': \(region.displayName) names no beacon; write 'Name:UUID:major:minor'")
            }
            let id = isDerived || !Self.isTopicLevel(region.rid) ? RoomName.id(of: region.displayName) : region.rid
            tags.append(TagIdentity(id: id, name: region.displayName, pattern: pattern))
        }
    }

    /// Topic levels of our own use these characters alone.
    package static func isTopicLevel(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            }
    }
}
