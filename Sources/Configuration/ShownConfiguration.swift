import Beacon
package import JSON
import OwnTracks
import Regions

extension Configuration {
    /// The settings in force as a configuration, every member written out, secrets hidden. Without
    /// secrets, loading it gives these settings again.
    package var shown: JSONValue {
        var members: [String: JSONValue] = ["_type": "configuration"]
        members.merge(shownBroker) { $1 }
        members.merge(trackers[0].shown) { $1 }
        members["trackers"] = .array(trackers.dropFirst().map { .object($0.shown.filter { $0.value != .null }) })
        members["lat"] = .degrees(position.coordinates.latitude)
        members["lon"] = .degrees(position.coordinates.longitude)
        members["acc"] = .integer(Int64(position.accuracy))
        members["monitoring"] = .integer(Int64(monitoring.rawValue))
        members["ping"] = .integer((ping?.components.seconds ?? 0) / 60)
        members["locatorInterval"] = seconds(locatorInterval ?? .zero)
        members["cmd"] = .bool(obeysCommands)
        members["remoteConfiguration"] = .bool(allowsRemoteConfiguration)
        members["remoteConfigurationTrial"] = seconds(remoteTrial)
        members["tag"] = text(tag)
        members["ranging"] = .bool(ranging)
        members["rangingInterval"] = seconds(rangingInterval)
        members["scanner"] = scanner.json
        members["adapter"] = adapters.isEmpty ? "all" : .array(adapters.map { .string($0.description) })
        members["leaveAfter"] = leaveRule.json
        members["enterRSSI"] = enterRSSI.map { .integer(Int64($0.dBm)) } ?? .null
        members["leaveRSSI"] = leaveRSSI.map { .integer(Int64($0.dBm)) } ?? .null
        members["homeAssistant"] = [
            "discovery": .bool(homeAssistant.discovery), "prefix": .string(homeAssistant.prefix),
        ]
        members["room"] = .string(room)
        members["rooms"] =
            rooms.map {
                [
                    "site": .string($0.site), "instance": text($0.instance),
                    "days": $0.historyDays.map { .integer(Int64($0)) } ?? .null, "http": page($0.statusPage),
                ]
            } ?? .null
        members["http"] = page(statusPage)
        members["days"] = .integer(Int64(historyDays))
        members["majorMinorBase"] = .string(numberBase.rawValue)
        members["card"] = card.map { ["name": text($0.name), "face": text($0.face)] } ?? .null
        members["reannounce"] = .bool(reannounces)
        return .object(members)
    }

    private var shownBroker: [String: JSONValue] {
        [
            "mode": broker.endpoint == nil ? 0 : 3, "url": text(broker.endpoint?.shown),
            "host": broker.shownHost, "port": .integer(Int64(broker.port)), "tls": .bool(broker.tls),
            "caFile": text(broker.caFile), "clientCertificateFile": text(broker.clientCertificateFile),
            "clientKeyFile": text(broker.clientKeyFile), "password": text(broker.password?.description),
            "passwordFile": text(broker.passwordFile), "clientId": .string(broker.clientID),
            "auth": .bool(broker.username != nil || trackers[0].username == nil),
            "keepalive": seconds(broker.keepalive), "cleanSession": .bool(broker.cleanSession),
            "mqttProtocolLevel": .integer(Int64(broker.protocolLevel.rawValue)),
            "pubQos": .integer(Int64(broker.qos)), "pubRetain": .bool(broker.retainsLocations),
            "publishWaypoints": .bool(broker.publishesWaypoints),
        ]
    }

    /// Whether the file itself contains a secret, so that other users must not read it.
    package var holdsSecret: Bool {
        broker.login != nil || trackers.contains { $0.encryptionKey != nil }
    }
}

extension TrackerConfiguration {
    fileprivate var shown: [String: JSONValue] {
        [
            "tid": .string(trackerID), "username": text(username), "deviceId": .string(deviceID), "name": text(name),
            "pubTopicBase": .string(topics.base),
            "away": away.map { .object($0.members) } ?? .null,
            // "" and not null, which would take the key of the top level.
            "encryptionKey": .string(encryptionKey?.description ?? ""), "encryptionKeyFile": text(encryptionKeyFile),
            "waypoints": .array(
                waypoints.changes.compactMap {
                    if case .set(let region, _) = $0 { region.waypoint() } else { nil }
                }),
        ]
    }
}

extension ScannerChoice {
    fileprivate var json: JSONValue {
        switch self {
        case .auto: "auto"
        case .mgmt: "mgmt"
        case .hci: "hci"
        case .bluez: "bluez"
        case .capture(let file, let speed): ["capture": .string(file), "speed": .plain(speed)]
        }
    }
}

private func page(_ address: ListenAddress?) -> JSONValue {
    address.map { ["listen": .string($0.description)] } ?? .null
}

private func text(_ text: String?) -> JSONValue {
    text.map(JSONValue.string) ?? .null
}

extension Broker {
    fileprivate var shownHost: JSONValue {
        hosts.count == 1 ? .string(hosts[0]) : .array(hosts.map { .string($0) })
    }
}
