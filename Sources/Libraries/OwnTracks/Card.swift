package import JSON

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
