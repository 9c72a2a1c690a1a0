package import JSON

/// `_type: lwt`: the message that the broker publishes when the connection is lost. Topic: the base, never retained (it
/// would overwrite the retained location) and never encrypted (the broker sends it unchanged).
package struct LastWill: Hashable, Sendable {
    /// When the connection began, epoch seconds.
    package var timestamp: Int64

    package init(timestamp: Int64) { self.timestamp = timestamp }

    package var payload: JSONValue { ["_type": "lwt", "tst": .integer(timestamp)] }
}

/// `_type: status`: the state of the device. Topic `/status`, only on request, because Home Assistant logs a warning
/// for each.
package struct Status: Hashable, Sendable {
    /// The gateway's description of itself. Phones have a member `iOS` or `android` instead.
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

    /// - Parameter trackerID: The `tid` of the card's tracker.
    package func payload(trackerID: String) -> JSONValue {
        var members: [String: JSONValue] = ["_type": "card", "tid": .string(trackerID)]
        if let name { members["name"] = .string(name) }
        if let face { members["face"] = .string(face) }
        return .object(members)
    }
}

/// `_type: encrypted`: any other message, encrypted. Only the owner of the key can read it.
package struct EncryptedMessage: Hashable, Sendable {
    /// Nonce and box, base64.
    package var data: String

    package init(data: String) { self.data = data }

    /// - Returns: nil if this is not such a message. Without `data` the result has empty data, which cannot be decrypted.
    package init?(_ json: JSONValue) {
        guard json["_type"] == "encrypted" else { return nil }
        data = json["data"]?.string ?? ""
    }

    package var payload: JSONValue { ["_type": "encrypted", "data": .string(data)] }
}
