import JSON

/// The retained card of a rooms service on `ibeacon-rooms/<site>/service/<instance>`:
/// `{"v":1,"active":true,"counter":17,"version":"…"}`.
package struct ServiceCard: Hashable, Sendable {
    package var isActive: Bool
    /// The active service increments it with each card.
    package var counter: UInt64
    /// The version of the program; empty if the card has none.
    package var version: String
    /// Whether the service does not know the site's list of tags and waits until a person lets it adopt the list
    /// (`"adopt":true`).
    package var asksToAdopt: Bool

    package init(isActive: Bool, counter: UInt64, version: String, asksToAdopt: Bool = false) {
        (self.isActive, self.counter, self.version) = (isActive, counter, version)
        self.asksToAdopt = asksToAdopt
    }

    /// Reads a card; nil if the payload is not a card.
    package init?(_ payload: some Collection<UInt8>) {
        guard payload.count <= 4096, let json = try? JSONValue(parsing: payload), json["v"]?.asInteger == 1,
            let isActive = json["active"]?.asBool, let counter = json["counter"]?.asInteger, counter >= 0
        else { return nil }
        self.init(
            isActive: isActive, counter: UInt64(counter),
            version: String((json["version"]?.string ?? "").prefix(GatewayCard.longestVersion)),
            asksToAdopt: json["adopt"]?.asBool == true)
    }

    package var payload: [UInt8] {
        var members: [String: JSONValue] = [
            "v": 1, "active": .bool(isActive), "counter": .integer(Int64(clamping: counter)),
            "version": .string(version),
        ]
        if asksToAdopt { members["adopt"] = true }
        return JSONValue.object(members).bytes
    }
}
