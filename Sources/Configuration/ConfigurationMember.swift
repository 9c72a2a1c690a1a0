/// One setting as its user sees it.
struct ConfigurationMember {
    let name: String
    /// As it would be written in JSON5; for a setting without a default, an example.
    let value: String
    /// Whether writing `value` changes nothing.
    let isDefault: Bool
    /// Plain words, one line each.
    let explanation: [String]

    private init(_ name: String, _ value: String, _ explanation: String..., isDefault: Bool = true) {
        self.name = name
        self.value = value
        self.explanation = explanation
        self.isDefault = isDefault
    }

    private static func example(_ name: String, _ value: String, _ explanation: String...) -> ConfigurationMember {
        ConfigurationMember(name, value, explanation: explanation)
    }

    private init(_ name: String, _ value: String, explanation: [String]) {
        self.name = name
        self.value = value
        self.explanation = explanation
        isDefault = false
    }

    /// Every name that is no error, whether it is in the default file or only a phone's.
    static let names = sections.flatMap { $0.members.map(\.name) } + alsoRead

    /// Read, but not worth a line in the default file: they come from phones.
    private static let alsoRead = [
        "_type", "auth", "usePassword", "ws", "allowinvalidcerts", "allowUntrustedCertificates", "clientpkcs",
        "passphrase", "servercer", "tlsCaCrt", "tlsCaCrtPath", "tlsClientCrt", "tlsClientCrtPath",
        "tlsClientCrtPassword",
    ]

    /// The default file, in its order.
    static let sections: [(title: String, members: [ConfigurationMember])] = [
        ("The broker", broker), ("Who this gateway is", identity), ("Where it stands", place),
        ("What it listens to", listening), ("Near and gone", presence), ("What it does with it", services),
    ]

    private static let broker: [ConfigurationMember] = [
        ConfigurationMember("mode", "0", "0: an MQTT broker. 3: each message is posted to url over HTTP instead."),
        example(
            "url", "\"https://recorder.lan/pub\"", "For mode 3; the login is username and password, or stands in it.",
            "TLS goes by its https:, and uses caFile and the gateway's certificate if they are set."),
        ConfigurationMember(
            "host", "\"localhost\"", "Name or address of the MQTT broker, or a list: the nodes of a cluster."),
        ConfigurationMember(
            "port", "1883", "1883, or 8883 with tls. 0 is offline: everything works and is kept in the",
            "history, but nothing is sent."),
        ConfigurationMember("tls", "false", "Encrypt the connection and check the broker's certificate."),
        example("caFile", "\"/etc/ibeacon-gateway/ca.pem\"", "The broker's own CA. Without it, the system's are used."),
        example(
            "clientCertificateFile", "\"/etc/ibeacon-gateway/client.pem\"",
            "A certificate of the gateway, with its key."),
        example("clientKeyFile", "\"/etc/ibeacon-gateway/client.key\""),
        example("username", "\"jane\"", "The login at the broker, and %u in the topic."),
        example("password", "\"…\"", "Better in a file that only the service can read: passwordFile."),
        example("passwordFile", "\"/etc/ibeacon-gateway/password\""),
        example(
            "clientId", "\"janekitchen\"", "Unique at the broker. Without it: user and device, letters and digits only."
        ),
        ConfigurationMember("keepalive", "60", "Seconds, 5 to 65535."),
        ConfigurationMember(
            "cleanSession", "false", "false: the broker keeps commands that come while the gateway is away."),
        ConfigurationMember(
            "mqttProtocolLevel", "5", "5 is MQTT 5, or 3.1.1 with a broker that does not speak 5; 4 is 3.1.1, 3 is 3.1."
        ),
        ConfigurationMember("pubQos", "1", "0, 1 or 2, for all that is published."),
        ConfigurationMember("pubRetain", "true", "Locations are retained. Transitions never are."),
        ConfigurationMember(
            "publishWaypoints", "false",
            "Publish a region on /waypoint when it changes. Home Assistant makes zones of them."),
    ]

    private static let identity: [ConfigurationMember] = [
        example("tid", "\"KI\"", "Tracker id. Without it: the last two characters of the topic, upper case."),
        example("deviceId", "\"kitchen\"", "%d in the topic. Without it: the name of this computer."),
        example(
            "name", "\"Anna\"", "What Home Assistant calls it: sensor.anna_kitchen_rssi. Without it: user and device."),
        ConfigurationMember(
            "pubTopicBase", "\"owntracks/%u/%d\"",
            "%u is the user (or \"user\"), %d the device. Commands are read from …/cmd."),
        example(
            "encryptionKey", "\"…\"",
            "Encrypts what is sent as OwnTracks does; at most 32 bytes. With it, plain commands",
            "are refused. Better in a file that only the service can read: encryptionKeyFile."),
        example("encryptionKeyFile", "\"/etc/ibeacon-gateway/key\""),
        ConfigurationMember(
            "waypoints", "[]", "Regions, merged by rid at every start and reload:",
            "{_type: \"waypoint\", rid: \"keys\", desc: \"Keys:UUID:1:2\", tst: 1700000000}"),
        ConfigurationMember(
            "trackers", "[]", "Further identities on the same radio, one for each keyfob or person. Each has tid,",
            "username, deviceId, name, pubTopicBase, away, encryptionKey and waypoints of its own, and",
            "takes what it leaves out, but for the name, from here (write waypoints: [] for none)."),
        example("card", "{name: \"Kitchen\"}", "A name and a face (base64 of a picture), published on …/info."),
    ]

    private static let place: [ConfigurationMember] = [
        example("room", "\"Kitchen\"", "The room, for a rooms service. Without it: deviceId."),
        ConfigurationMember("lat", "0", "Where this gateway stands, in degrees; in every transition."),
        ConfigurationMember("lon", "0"),
        ConfigurationMember("acc", "10", "Metres, at least 1."),
        example(
            "away", "{lat: 48.87069, lon: 2.34916, acc: 10}",
            "Put into a leave instead, since Home Assistant moves a tracker",
            "only to a place outside the zone."),
        example("tag", "\"Spain 2023\"", "Put into every location."),
    ]

    private static let listening: [ConfigurationMember] = [
        ConfigurationMember(
            "scanner", "\"auto\"", "The way to Bluetooth: \"auto\", \"mgmt\", \"hci\" or \"bluez\"; or a recording,",
            "{capture: \"FILE\", speed: 1}, played once in real time."),
        ConfigurationMember(
            "adapter", "\"all\"", "An adapter such as \"hci0\" or \"00:11:22:33:44:55\", or an array of these."),
        ConfigurationMember(
            "majorMinorBase", "\"auto\"",
            "How numbers in descriptions are read: \"decimal\", \"hex\", or by their look."),
    ]

    private static let presence: [ConfigurationMember] = [
        ConfigurationMember(
            "leaveAfter", "\"auto\"",
            "Seconds of silence before a leave, or \"auto\": learned from the beacon's own rhythm.",
            "A region can have its own."),
        example(
            "enterRSSI", "-75", "A beacon is near from this strength (dBm), and gone below leaveRSSI.",
            "A region can have its own."),
        example("leaveRSSI", "-85"),
        ConfigurationMember("monitoring", "1", "-1 is quiet: no region events are sent. 0, 1 and 2 send them."),
        ConfigurationMember(
            "ping", "15", "Minutes: in monitoring 1 and 2, a tracker of which no location was published for so",
            "long publishes one (t: p). 0 is off."),
        ConfigurationMember(
            "locatorInterval", "300", "Seconds: the same in monitoring 2 while the tracker is inside a region."),
    ]

    private static let services: [ConfigurationMember] = [
        ConfigurationMember(
            "cmd", "true", "Commands are obeyed: setWaypoints, clearWaypoints, waypoints, reportLocation, status, dump."
        ),
        ConfigurationMember(
            "remoteConfiguration", "false", "setConfiguration too (never scanner, file paths, TLS or keys)."),
        ConfigurationMember(
            "remoteConfigurationTrial", "60",
            "Seconds for which settings from afar are tried: if the broker cannot be reached with",
            "them, the old ones come back."),
        ConfigurationMember("ranging", "false", "Publish how far each beacon is, on …/beacon."),
        ConfigurationMember("rangingInterval", "5", "Seconds, at least, between two such messages of one beacon."),
        ConfigurationMember(
            "reannounce", "false", "Send the enter of every occupied region again after Home Assistant has",
            "started, or after a broker has forgotten the session."),
        ConfigurationMember(
            "homeAssistant", "{discovery: false, prefix: \"homeassistant\"}",
            "Let Home Assistant find the regions by itself."),
        ConfigurationMember(
            "rooms", "{site: \"home\"}",
            "Where a rooms service runs, what this gateway hears of the tags of the site is published",
            "for it; null is never."),
        ConfigurationMember("http", "{listen: \"127.0.0.1:8080\"}", "Status page and /metrics; null is off."),
        ConfigurationMember(
            "days", "30", "Days of history (transitions, locations); 0 keeps none, -1 sets no limit by days."),
    ]
}

extension Configuration {
    /// A file that sets nothing and explains everything: each setting is commented out with its
    /// default, or with an example where it has none.
    package static var commentedDefault: String {
        var lines = [
            "// The configuration of ibeacon-gateway. Remove the slashes before a setting to change it.",
            "// This is JSON5: comments and trailing commas are welcome. An OwnTracks .otrc file works too.",
            "{",
            "    _type: \"configuration\",",
        ]
        for section in ConfigurationMember.sections {
            lines += ["", "    // ==== \(section.title) ===="]
            for member in section.members {
                lines.append("")
                lines += member.explanation.map { "    // \($0)" }
                let note = member.isDefault ? "" : "  // example"
                lines.append("    //\(member.name): \(member.value),\(note)")
            }
        }
        lines += ["}", ""]
        return lines.joined(separator: "\n")
    }
}
