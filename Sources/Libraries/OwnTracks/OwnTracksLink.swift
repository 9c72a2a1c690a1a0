import Base
import JSON
import Regions

/// A link that opens the apps of OwnTracks, as it is sent by mail or shown as a QR code (its pages *QR* and *Remote configuration*).
enum OwnTracksLink {
    static let scheme = "owntracks:"

    /// What the link holds: the file of `owntracks:///config?inline=BASE64`, or the waypoint of
    /// `owntracks:///beacon?rid=…&name=…&uuid=…&major=…&minor=…`.
    ///
    /// - Throws: What is wrong, in words for the person who has the link.
    static func json(_ link: Substring) throws(WaypointsError) -> JSONValue {
        let parts = link.split(separator: "?", maxSplits: 1)
        let path = parts[0].dropFirst(scheme.count).drop { $0 == "/" }
        var values: [String: [UInt8]] = [:]
        for pair in (parts.count > 1 ? parts[1] : "").split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1)
            if sides.count == 2 { values[String(sides[0])] = bytes(sides[1]) }
        }
        switch path {
        case "config":
            if values["url"] != nil {
                throw WaypointsError(description: "the link names another place; fetch that file, and import it")
            }
            guard let inline = values["inline"] else { throw WaypointsError(description: "the link has no 'inline'") }
            guard let file = Base64.bytes(inline), let json = try? JSONValue(parsing: file) else {
                throw WaypointsError(description: "what follows 'inline=' is not JSON in base64")
            }
            return json
        case "beacon": return try waypoint(values.mapValues { String(decoding: $0, as: UTF8.self) })
        default:
            throw WaypointsError(
                description:
                    "'\(JSON.shortened(String(path)))' is no link for waypoints; there are owntracks:///config and "
                    + "owntracks:///beacon")
        }
    }

    private static func waypoint(_ values: [String: String]) throws(WaypointsError) -> JSONValue {
        guard let name = values["name"], let uuid = values["uuid"] else {
            throw WaypointsError(description: "the link of a beacon has no name or no uuid")
        }
        var members: [String: JSONValue] = ["_type": "waypoint", "desc": .string(name), "uuid": .string(uuid)]
        for number in ["major", "minor"] { members[number] = values[number].map { .string($0) } }
        // Beacons of one name have links of their own.
        let beacon = [name, uuid, values["major"] ?? "", values["minor"] ?? ""].joined(separator: ":")
        members["rid"] = .string(values["rid"] ?? derivedRID(name: beacon, timestamp: 0))
        return .object(members)
    }

    /// The bytes of a value of the query, with its escapes decoded. `+` stays: base64 has it.
    private static func bytes(_ text: Substring) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16), digits.first != UInt8(ascii: "+")
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
