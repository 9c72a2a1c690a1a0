import Base

/// The gateway's own topics.
package enum DeviceTopics {
    /// `online` or `offline`, retained. The broker publishes `offline` when the connection of the gateway ends.
    package static func availability(device: String) -> String { "\(root(device))/availability" }

    /// The retained state of a region.
    package static func region(device: String, rid: String) -> String { "\(root(device))/region/\(level(rid))" }

    /// The parent of all topics of a device.
    package static func root(_ device: String) -> String { "ibeacon-gateway/\(level(device))" }

    /// Any text as one level of a topic. Characters with a meaning in MQTT, `%` and control characters are
    /// percent-encoded.
    package static func level(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            // The UTF-8 encoding of some control characters begins with 0xC2.
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
