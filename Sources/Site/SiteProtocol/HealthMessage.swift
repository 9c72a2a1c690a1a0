package import JSON

/// The retained message about a gateway on `ibeacon-rooms/<site>/health/<gateway>`:
/// `{"v":1,"room":"Kitchen","listening":true,"problem":null}`; while it is not known whether the gateway was carried from another room or
/// that room was renamed, also `"formerRoom":"Hall"`; while the site asks it to send a beacon, also `survey` (`SurveyHealth`).
package struct HealthMessage: Hashable, Sendable {
    /// The name of the gateway's room; nil if nothing else is known about the gateway.
    package var room: String?
    package var isListening: Bool
    package var trouble: GatewayHealth.Trouble?
    /// The room that the gateway named before, if a person must say whether that room was renamed (`GatewayHealth.formerRoom`).
    package var formerRoom: String?
    /// What the survey says of it.
    package var survey: SurveyHealth?

    package init(
        room: String?, isListening: Bool, trouble: GatewayHealth.Trouble?, formerRoom: String? = nil,
        survey: SurveyHealth? = nil
    ) {
        (self.room, self.isListening, self.trouble) = (room, isListening, trouble)
        (self.formerRoom, self.survey) = (formerRoom, survey)
    }

    package init(_ json: JSONValue) {
        self.init(
            room: json["room"]?.string, isListening: json["listening"]?.asBool == true,
            trouble: json["problem"]?.string.flatMap(GatewayHealth.Trouble.init(rawValue:)),
            formerRoom: json["formerRoom"]?.string, survey: json["survey"].flatMap { SurveyHealth($0) })
    }

    /// Reads the payload of a gateway's health; nil if the payload is not valid.
    package init?(_ payload: some Collection<UInt8>) {
        guard payload.count <= 8192, let json = try? JSONValue(parsing: payload), json["v"]?.asInteger == 1
        else { return nil }
        self.init(json)
    }

    package var json: JSONValue {
        var members: [String: JSONValue] = [
            "v": 1, "room": room.map { .string($0) } ?? .null, "listening": .bool(isListening),
            "problem": trouble.map { .string($0.rawValue) } ?? .null,
        ]
        members["formerRoom"] = formerRoom.map { .string($0) }
        members["survey"] = survey?.json
        return .object(members)
    }
}
