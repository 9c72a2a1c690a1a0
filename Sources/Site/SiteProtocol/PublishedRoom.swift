import JSON

/// The retained state of a room on `ibeacon-rooms/<site>/room/<room>`: `{"name":"Kitchen","count":1,"tags":["Jane"]}`.
package struct PublishedRoom: Hashable, Sendable {
    /// Largest number of tags that the message names.
    package static let mostNamed = 50

    package var name: String
    /// Number of tags in the room.
    package var count: Int
    /// Names of the first `mostNamed` of them, in order of arrival.
    package var tags: [String]

    package init(name: String, count: Int, tags: [String]) { (self.name, self.count, self.tags) = (name, count, tags) }

    /// Reads the payload of a room's state; nil if the payload is not a state.
    package init?(_ payload: some Collection<UInt8>) {
        guard payload.count <= 65_536, let json = try? JSONValue(parsing: payload), let name = json["name"]?.string,
            let count = json["count"]?.asInteger.flatMap({ Int(exactly: $0) }), let tags = json["tags"]?.array
        else { return nil }
        self.init(name: name, count: count, tags: tags.compactMap(\.string))
    }

    package var payload: [UInt8] {
        JSONValue.object([
            "name": .string(name), "count": .integer(Int64(count)),
            "tags": .array(tags.prefix(Self.mostNamed).map { .string($0) }),
        ]).bytes
    }
}
