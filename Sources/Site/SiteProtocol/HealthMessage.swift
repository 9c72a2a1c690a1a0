package import JSON

/// The retained message about a gateway on `ibeacon-rooms/<site>/health/<gateway>`:
/// `{"v":1,"room":"Kitchen","listening":true,"problem":null}`.
package struct HealthMessage: Hashable, Sendable {
    /// The name of the gateway's room; nil if nothing else is known about the gateway.
    package var room: String?
    package var isListening: Bool
    package var trouble: GatewayHealth.Trouble?

    package init(room: String?, isListening: Bool, trouble: GatewayHealth.Trouble?) {
        (self.room, self.isListening, self.trouble) = (room, isListening, trouble)
    }

    package init(_ json: JSONValue) {
        self.init(
            room: json["room"]?.string, isListening: json["listening"]?.asBool == true,
            trouble: json["problem"]?.string.flatMap(GatewayHealth.Trouble.init(rawValue:)))
    }

    /// Reads the payload of a gateway's health; nil if the payload is not valid.
    package init?(_ payload: some Collection<UInt8>) {
        guard payload.count <= 8192, let json = try? JSONValue(parsing: payload), json["v"]?.asInteger == 1
        else { return nil }
        self.init(json)
    }

    package var json: JSONValue {
        .object([
            "v": 1, "room": room.map { .string($0) } ?? .null, "listening": .bool(isListening),
            "problem": trouble.map { .string($0.rawValue) } ?? .null,
        ])
    }
}
