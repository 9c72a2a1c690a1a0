import Base
import JSON

extension Setting {
    /// `ConfigurationReader` reads the settings that depend on others: the address, TLS and the login.
    static let broker: [Setting] = [
        setting(
            "mode", .both(.reconnect), "0",
            """
            0 is an MQTT broker. 3 is HTTP: each message is posted to `url` instead, and commands come with the
            answers. libcurl must be installed for it. Home Assistant's discovery and the rooms service need MQTT.
            """
        ) {
            $0.broker.endpoint == nil ? 0 : 3
        },
        example(
            "url", .gateway(.reconnect), "\"https://recorder.lan/pub\"",
            """
            For `mode` 3. The login is `username` and `password`, or part of the URL. https: means TLS, which uses
            `caFile` and the gateway's certificate if they are set.
            """
        ) { .text($0.broker.endpoint?.shown) }
        .secrets { [$0.broker.endpoint?.login?.password] },
        setting(
            "host", .both(.reconnect), "\"localhost\"",
            """
            Name or address of the MQTT broker, or a list of them: the nodes of a cluster. A broker that does not
            accept a connection, or loses it within ten seconds, is followed by the next one of the list.
            """
        ) {
            let hosts = $0.broker.hosts.map { JSONValue.string($0) }
            return hosts.count == 1 ? hosts[0] : .array(hosts)
        },
        setting(
            "port", .both(.reconnect), "1883",
            """
            1883, or 8883 with `tls`. 0 is offline: everything works and is kept in the history, but nothing is sent.
            """
        ) { .integer(Int64($0.broker.port)) }
        .own { $0.broker.port == ($0.broker.tls ? 8883 : 1883) ? .null : .integer(Int64($0.broker.port)) },
        flag(
            "tls", .both(.reconnect), \.broker.tls,
            "Encrypt the connection and check the broker's certificate."),
        file(
            "caFile", .both(.reconnect), \.broker.caFile, example: "\"/etc/ibeacon-gateway/ca.pem\"",
            """
            The broker's own certificate authority, PEM. Without it the system's are used. What replaces the file
            counts from the next connection on. The service cannot read this file, `clientCertificateFile` or
            `clientKeyFile` in a home directory.
            """),
        file(
            "clientCertificateFile", .both(.reconnect), \.broker.clientCertificateFile,
            example: "\"/etc/ibeacon-gateway/client.pem\"",
            "A certificate of the gateway, PEM. It needs `clientKeyFile`."),
        file(
            "clientKeyFile", .both(.reconnect), \.broker.clientKeyFile, example: "\"/etc/ibeacon-gateway/client.key\"",
            "The key of `clientCertificateFile`, PEM. It is refused if all users can read it."),
        // Part of the topics of tags, which the rooms service keeps.
        identity(
            "username", SettingEffects(gateway: .reconnect, rooms: .restart), "\"jane\"",
            "The login at the broker, and %u in the topic."
        ) { tracker, _ in .text(tracker.username) }
        // A login can be switched off (`auth`).
        .own { [.text($0.trackers[0].username), .text($0.broker.username)] }
        .keep { running, new in
            let isDerived = new.hasDerivedClientID
            new.trackers[0].username = running.trackers[0].username
            // The password of another name is wrong for this one.
            if new.broker.username != running.broker.username {
                new.broker.username = running.broker.username
                new.broker.password = running.broker.password
            }
            if isDerived { new.broker.clientID = new.trackers[0].derivedClientID }
        },
        example(
            "password", .both(.reconnect), "\"…\"",
            """
            The password at the broker. Better in a file that only the service can read: `passwordFile`.
            """
        ) { .text($0.broker.password.inline?.description) }
        .secrets { [$0.broker.password.inline] },
        example(
            "passwordFile", .both(.reconnect), "\"/etc/ibeacon-gateway/password\"",
            """
            A file whose first line is the password. Without it and `password`: the systemd credential
            `ibeacon-gateway.password`.
            """
        ) {
            .text($0.broker.password.path)
        }
        .secrets { [$0.broker.password.inFile] },
        example(
            "clientId", .both(.reconnect), "\"janekitchen\"",
            "Unique at the broker. Without it: user and device, letters and digits only."
        ) { .string($0.broker.clientID) }
        .own { $0.hasDerivedClientID ? .null : .string($0.broker.clientID) },
        setting(
            "keepalive", .both(.reconnect), "60",
            "Seconds, 5 to 65535.",
            read: { reader, configuration in
                // libmosquitto accepts no shorter time.
                guard let seconds = reader.whole("keepalive", 5...65_535, ", in seconds") else { return }
                configuration.broker.keepalive = .seconds(seconds)
            },
            shown: { .plain($0.broker.keepalive.inSeconds) }),
        flag(
            "cleanSession", .gateway(.reconnect), \.broker.cleanSession,
            "false: the broker keeps commands that come while the gateway is away."),
        setting(
            "mqttProtocolLevel", .both(.reconnect), "5",
            "5 is MQTT 5, or 3.1.1 with a broker that does not speak 5; 4 is 3.1.1, 3 is 3.1.",
            read: { reader, configuration in
                let level = reader.read("mqttProtocolLevel", "3 (MQTT 3.1), 4 (3.1.1) or 5") {
                    $0.asInteger.flatMap { UInt8(exactly: $0) }.flatMap { MQTTProtocolLevel(rawValue: $0) }
                }
                if let level { configuration.broker.protocolLevel = level }
            },
            shown: { .integer(Int64($0.broker.protocolLevel.rawValue)) }),
        setting(
            "pubQos", .gateway(.reconnect), "1",
            """
            0, 1 or 2, for OwnTracks' messages and the states of regions. Readings for a rooms service have QoS 0, and
            messages for Home Assistant QoS 1. 1 is recommended: with 2 a message can be lost if the service restarts
            at the wrong moment.
            """,
            read: { reader, configuration in
                guard let number = reader.whole("pubQos", 0...2), let qos = QoS(rawValue: UInt8(number)) else { return }
                configuration.broker.qos = qos
            },
            shown: { .integer(Int64($0.broker.qos.rawValue)) }),
        flag(
            "pubRetain", .gateway(.live), \.broker.retainsLocations,
            "Locations are retained. Transitions never are."),
        flag(
            "publishWaypoints", .gateway(.live), \.broker.publishesWaypoints,
            "Publish a region on /waypoint when it changes. Home Assistant makes zones of them."),
    ]
}

extension Configuration {
    /// Whether user and device give the client id.
    fileprivate var hasDerivedClientID: Bool {
        broker.clientID.hasSameBytes(as: trackers[0].derivedClientID)
    }
}
