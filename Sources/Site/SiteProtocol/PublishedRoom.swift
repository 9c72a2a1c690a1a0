import Base
import JSON

/// The retained state of a room on `ibeacon-rooms/<site>/room/<room>`: `{"name":"Kitchen","count":1,"tags":["Jane"]}`, and where it is
/// known `"floor":0`.
package struct PublishedRoom: Hashable, Sendable {
    /// Largest number of tags that the message names.
    package static let mostNamed = 50

    package var name: String
    /// Number of tags in the room.
    package var count: Int
    /// Names of the first `mostNamed` of them, in order of arrival.
    package var tags: [String]

    /// The floor of the room; nil if it is unknown.
    package var floor: Int?

    package init(name: String, count: Int, tags: [String], floor: Int? = nil) {
        (self.name, self.count, self.tags, self.floor) = (name, count, tags, floor)
    }

    /// Reads the payload of a room's state; nil if the payload is not a state.
    package init?(_ payload: some Collection<UInt8>) {
        guard payload.count <= 65_536, let json = try? JSONValue(parsing: payload), let name = json["name"]?.string,
            let count = json["count"]?.asInteger.flatMap({ Int(exactly: $0) }), let tags = json["tags"]?.array
        else { return nil }
        let floor = json["floor"]?.asInteger.flatMap { roomFloors.contains($0) ? Int($0) : nil }
        self.init(name: name, count: count, tags: tags.compactMap(\.string), floor: floor)
    }

    package var payload: [UInt8] {
        var members: [String: JSONValue] = [
            "name": .string(name), "count": .integer(Int64(count)),
            "tags": .array(tags.prefix(Self.mostNamed).map { .string($0) }),
        ]
        members["floor"] = floor.map { .integer(Int64($0)) }
        return JSONValue.object(members).bytes
    }
}
