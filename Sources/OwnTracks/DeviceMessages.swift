package import JSON

/// `_type: lwt`: what the broker tells when the connection is lost. Topic: the base, never retained
/// (it would overwrite the retained location) and never encrypted (the broker sends it as it is).
package struct LastWill: Hashable, Sendable {
    /// When the connection was begun, epoch seconds.
    package var timestamp: Int64

    package init(timestamp: Int64) { self.timestamp = timestamp }

    package var payload: JSONValue { ["_type": "lwt", "tst": .integer(timestamp)] }
}

/// `_type: status`: how the device does. Topic `/status`, only when asked: Home Assistant logs a
/// warning for each.
package struct Status: Hashable, Sendable {
    /// What the gateway says of itself. Phones write `iOS` or `android` where this stands.
    package var gateway: [String: JSONValue]

    package init(gateway: [String: JSONValue]) { self.gateway = gateway }

    package var payload: JSONValue { ["_type": "status", "gateway": .object(gateway)] }
}

/// `_type: dump`: the settings in force, without secrets. Topic `/dump`, only when asked.
package struct Dump: Hashable, Sendable {
    /// As `Configuration.shown` gives it.
    package var configuration: JSONValue

    package init(configuration: JSONValue) { self.configuration = configuration }

    package var payload: JSONValue { ["_type": "dump", "configuration": configuration] }
}

/// `_type: card`: a name and a face for the maps of friends. Topic `/info`, retained.
package struct Card: Hashable, Sendable {
    package var name: String?
    /// A picture (PNG or JPEG), base64.
    package var face: String?

    package init(name: String?, face: String?) {
        self.name = name
        self.face = face
    }

    /// - Parameter trackerID: Whose card it is.
    package func payload(trackerID: String) -> JSONValue {
        var members: [String: JSONValue] = ["_type": "card", "tid": .string(trackerID)]
        if let name { members["name"] = .string(name) }
        if let face { members["face"] = .string(face) }
        return .object(members)
    }
}

/// `_type: encrypted`: any other message, sealed. Which bytes are in it is the business of whoever
/// holds the key.
package struct EncryptedMessage: Hashable, Sendable {
    /// Nonce and box, base64.
    package var data: String

    package init(data: String) { self.data = data }

    /// - Returns: nil if this is no such message; one without `data` has it empty, which fails to open.
    package init?(_ json: JSONValue) {
        guard json["_type"] == "encrypted" else { return nil }
        data = json["data"]?.string ?? ""
    }

    package var payload: JSONValue { ["_type": "encrypted", "data": .string(data)] }
}
