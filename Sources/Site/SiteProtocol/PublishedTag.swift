import Base
package import JSON

/// The retained state of a tag on `ibeacon-rooms/<site>/tag/<tag>`:
/// `{"name":"Jane","room":"kitchen","roomName":"Kitchen","since":1700000000,"confidence":0.97,"home":true}`; while the tag is in
/// no room also `"lastRoom":"kitchen","lastRoomName":"Kitchen"`, while it is away `"lastHeard":1700000000`, and while its battery is low
/// `"lowBattery":8`.
package struct PublishedTag: Hashable, Sendable {
    /// The name of the tag.
    package var name: String
    package var room: RoomName?
    package var isHome: Bool
    /// Epoch seconds; 0: no state of the tag was published.
    package var since: Int64
    /// Probability of the room, 0 … 100 %. A whole number, so that its text is the same on every machine.
    package var percent: Int
    /// While the tag is in no room: the last room in which it was; nil if none is known.
    package var lastRoom: RoomName?
    /// While the tag is away: when a gateway last heard it, epoch seconds; nil if that is not known.
    package var lastHeard: Int64?
    /// While the battery of the tag is low: the lowest level since it became low, per cent.
    package var lowBattery: UInt8?

    /// - Parameter confidence: 0 … 1
    package init(
        name: String, room: RoomName? = nil, isHome: Bool = false, since: Int64 = 0, confidence: Float = 1
    ) {
        (self.name, self.room, self.isHome, self.since) = (name, room, isHome, since)
        percent = Int((confidence * 100).rounded())
    }

    /// Whether no gateway has heard the tag, as far as its state tells: it is away, and no room and no time of it are known.
    package var wasNeverHeard: Bool { !isHome && room == nil && lastRoom == nil && lastHeard == nil }

    /// Reads the payload of a tag's state; nil if the payload is not a state.
    package init?(_ payload: some Collection<UInt8>) {
        guard payload.count <= 8192, let json = try? JSONValue(parsing: payload), let isHome = json["home"]?.asBool
        else { return nil }
        self.init(
            name: json["name"]?.string ?? "", isHome: isHome, since: json["since"]?.asInteger ?? 0,
            confidence: json["confidence"]?.asNumber.map { Float(max(0, min(1, $0))) } ?? 1)
        lowBattery = json["lowBattery"]?.asInteger.flatMap { (0...100).contains($0) ? UInt8($0) : nil }
        room = Self.room(json["room"], named: json["roomName"])
        guard room == nil else { return }
        lastRoom = Self.room(json["lastRoom"], named: json["lastRoomName"])
        lastHeard = isHome ? nil : json["lastHeard"]?.asInteger.flatMap { $0 > 0 ? $0 : nil }
    }

    private static func room(_ id: JSONValue?, named name: JSONValue?) -> RoomName? {
        guard let id = id?.string, let name = name?.string else { return nil }
        return RoomName(id: id, name: name)
    }

    package var json: JSONValue {
        var members: [String: JSONValue] = [
            "name": .string(name),
            "room": room.map { .string($0.id) } ?? .null,
            "roomName": room.map { .string($0.name) } ?? .null,
            "since": .integer(since),
            "confidence": .number(Double(percent) / 100),
            "home": .bool(isHome),
        ]
        members["lastRoom"] = lastRoom.map { .string($0.id) }
        members["lastRoomName"] = lastRoom.map { .string($0.name) }
        members["lastHeard"] = lastHeard.map { .integer($0) }
        members["lowBattery"] = lowBattery.map { .integer(Int64($0)) }
        return .object(members)
    }
}
