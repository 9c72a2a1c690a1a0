import Beacon
package import JSON
package import Regions

extension Region {
    /// The region as a waypoint, for `/waypoint` and `.otrw` files. Reading it gives this region again.
    ///
    /// - Parameter base: How the numbers of descriptions are read here; phones read only decimal.
    package func waypoint(base: NumberBase = .auto) -> JSONValue {
        var members = extensionObject
        members["_type"] = "waypoint"
        members["desc"] = .string(description.text(base: base))
        members["lat"] = .degrees(coordinates.latitude)
        members["lon"] = .degrees(coordinates.longitude)
        members["rad"] = .whole(radius)
        members["tst"] = .integer(timestamp)
        members[Self.creationMember] = .integer(creationTimestamp)
        members["rid"] = .string(rid)
        if let leaveRule { members["leaveAfter"] = leaveRule.json }
        if let enterRSSI { members["enterRSSI"] = .integer(Int64(enterRSSI.dBm)) }
        if let leaveRSSI { members["leaveRSSI"] = .integer(Int64(leaveRSSI.dBm)) }
        return .object(members)
    }

    /// The extension members as an object.
    var extensionObject: [String: JSONValue] {
        guard !extensionMembers.isEmpty, let json = try? JSONValue(parsing: extensionMembers) else { return [:] }
        return json.object ?? [:]
    }
}

/// The bytes of `waypointsMessage`, made one region after the other: of ten thousand regions the whole tree
/// would take many times the memory of its text.
package func waypointsBytes(_ regions: some Sequence<Region>, base: NumberBase = .auto) -> [UInt8] {
    var bytes = Array(#"{"_type":"waypoints","waypoints":["#.utf8)
    for (index, region) in regions.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        bytes += region.waypoint(base: base).bytes
    }
    return bytes + "]}".utf8
}

/// The regions as the message on `/waypoints` and the content of an `.otrw` file, in their order.
package func waypointsMessage(_ regions: some Sequence<Region>, base: NumberBase = .auto) -> JSONValue {
    ["_type": "waypoints", "waypoints": .array(regions.map { $0.waypoint(base: base) })]
}
