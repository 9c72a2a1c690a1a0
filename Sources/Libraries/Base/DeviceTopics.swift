/// The topics of a gateway outside OwnTracks' tree, by its `deviceId` or that of a tracker: `ibeacon-gateway/<device>/…`.
package enum DeviceTopics {
    private static let parent = "ibeacon-gateway"

    /// The parent of all topics of a device.
    package static func root(_ device: String) -> String { "\(parent)/\(level(device))" }

    /// `online` or `offline`, retained. The broker publishes `offline` when the connection of the gateway ends.
    package static func availability(device: String) -> String { "\(root(device))/availability" }

    /// The availability of every gateway.
    package static let availabilities = "\(parent)/+/availability"

    /// Whether a topic is the availability of some gateway.
    package static func isAvailability(_ topic: String) -> Bool {
        topic.hasPrefix("\(parent)/") && topic.hasSuffix("/availability")
    }

    /// The retained state of a region.
    package static func region(device: String, rid: String) -> String { "\(root(device))/region/\(level(rid))" }

    /// The states of the gateway that its entities in Home Assistant show.
    package static func gateway(device: String) -> String { "\(root(device))/gateway" }

    /// Where the buttons of Home Assistant arrive.
    package static func command(device: String) -> String { "\(root(device))/command" }

    /// Whether a tracker is at home.
    ///
    /// - Parameter base: OwnTracks' topic of the tracker.
    package static func presence(device: String, of base: String) -> String {
        "\(root(device))/presence/\(level(base))"
    }

    /// RSSI and distance of a region's beacon.
    package static func signal(device: String, rid: String) -> String { "\(root(device))/signal/\(level(rid))" }

    /// The battery of a region's beacon.
    package static func battery(device: String, rid: String) -> String { "\(root(device))/battery/\(level(rid))" }

    /// Whether a topic is one of those of signals, batteries and presences, which end with their entities.
    package static func belongsToEntity(_ topic: String) -> Bool {
        topic.hasPrefix("\(parent)/") && ["/signal/", "/battery/", "/presence/"].contains(where: topic.hasPart)
    }

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
