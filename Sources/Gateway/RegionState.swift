import Base
import Beacon
import JSON
import OwnTracks

/// The retained state of a region, outside OwnTracks' tree: for homes that want to know, at any time,
/// who is where.
struct RegionState {
    let isInside: Bool
    /// Seconds since 1970.
    let since: Int64
    let description: String
    /// The sighting's that decided it, if the controller gave one.
    let rssi: RSSI?

    var payload: JSONValue {
        var members: [String: JSONValue] = [
            "state": isInside ? "inside" : "outside", "since": .integer(since), "desc": .string(description),
        ]
        if let rssi { members["rssi"] = .integer(Int64(rssi.dBm)) }
        return .object(members)
    }

    /// `ibeacon-gateway/<device>/region/<rid>`.
    static func topic(device: String, rid: String) -> String {
        DeviceTopics.region(device: device, rid: rid)
    }
}

/// The gateway's own topics.
package enum DeviceTopics {
    /// `online` or `offline`, retained; the broker itself says `offline` when the gateway is gone.
    package static func availability(device: String) -> String { "\(root(device))/availability" }

    /// The retained state of a region.
    package static func region(device: String, rid: String) -> String { "\(root(device))/region/\(level(rid))" }

    /// The level above all of a device's own topics.
    package static func root(_ device: String) -> String { "ibeacon-gateway/\(level(device))" }

    /// Any text as one level of a topic: what means something to MQTT is percent-encoded, as are `%`
    /// itself and control characters.
    package static func level(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            // 0xC2 begins the encoded control characters, among others.
            byte > 0x20 && byte < 0x7f && byte != UInt8(ascii: "/") && byte != UInt8(ascii: "+")
                && byte != UInt8(ascii: "#") && byte != UInt8(ascii: "%")
        }
        guard !isPlain else { return text }
        var level = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "/", "+", "#", "%", "\0"..."\u{1F}", "\u{7F}"..."\u{9F}":
                for byte in String(scalar).utf8 { level += "%" + hexadecimal(byte) }
            default: level.unicodeScalars.append(scalar)
            }
        }
        return level
    }
}
