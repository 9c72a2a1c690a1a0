import Base
package import JSON

/// The retained state of a tag on `ibeacon-rooms/<site>/tag/<tag>`:
/// `{"name":"Jane","room":"kitchen","roomName":"Kitchen","since":1700000000,"confidence":0.97,"home":true}`.
package struct PublishedTag: Hashable, Sendable {
    package var room: RoomName?
    package var isHome = false
    /// Epoch seconds; 0: no state of the tag was published.
    package var since: Int64 = 0
    /// 0 … 1
    package var confidence: Float = 1

    package init(room: RoomName? = nil, isHome: Bool = false, since: Int64 = 0, confidence: Float = 1) {
        (self.room, self.isHome, self.since, self.confidence) = (room, isHome, since, confidence)
    }

    /// Reads the payload of a tag's state; nil if the payload is not a state.
    package init?(_ payload: some Collection<UInt8>) {
        guard payload.count <= 8192, let json = try? JSONValue(parsing: payload), let isHome = json["home"]?.asBool
        else { return nil }
        let confidence = json["confidence"]?.asNumber.map { Float(max(0, min(1, $0))) } ?? 1
        self.init(isHome: isHome, since: json["since"]?.asInteger ?? 0, confidence: confidence)
        if let id = json["room"]?.string, let name = json["roomName"]?.string, TopicIdentifier.isIdentifier(id),
            (1...FeedDecoder.mostNameBytes).contains(name.utf8.count)
        {
            room = RoomName(id: id, name: name)
        }
    }

    /// - Parameter name: The name of the tag.
    package func json(name: String) -> JSONValue {
        .object([
            "name": .string(name),
            "room": room.map { .string($0.id) } ?? .null,
            "roomName": room.map { .string($0.name) } ?? .null,
            "since": .integer(since),
            // Rounded to hundredths from an integer, so that the text is the same on every machine.
            "confidence": .number(Double(Int((confidence * 100).rounded())) / 100),
            "home": .bool(isHome),
        ])
    }
}
