import Base
import JSON
import YAML

/// The broker of an address such as `mqtts://user:password@broker.lan:8883`.
struct RoomAssistantBroker: Equatable {
    var host: String
    var port: UInt16
    var usesTLS: Bool
    var username: String?
    var password: Secret?

    /// nil for anything else, such as MQTT over web sockets, which this program does not speak.
    init?(_ url: String) {
        guard let separator = url.firstIndex(ofPart: "://") else { return nil }
        switch url[..<separator].lowercased() {
        case "mqtt", "tcp": usesTLS = false
        case "mqtts", "tls", "ssl": usesTLS = true
        default: return nil
        }
        var place = url[separator...].dropFirst(3).prefix { !"/?#".contains($0) }
        if let at = place.lastIndex(of: "@") {
            let login = place[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(login[0]) else { return nil }
            username = name.isEmpty ? nil : name
            if login.count == 2 {
                guard let text = Self.decoded(login[1]) else { return nil }
                password = text.isEmpty ? nil : Secret(text)
            }
            place = place[place.index(after: at)...]
        }
        var (name, number) = (place, Substring())
        if place.first == "[" {
            guard let end = place.firstIndex(of: "]") else { return nil }
            name = place[place.index(after: place.startIndex)..<end]
            number = place[place.index(after: end)...]
        } else if let colon = place.lastIndex(of: ":") {
            name = place[..<colon]
            number = place[colon...]
        }
        guard !name.isEmpty, number.isEmpty || number.first == ":", !name.contains(where: \.isWhitespace) else {
            return nil
        }
        let standard: UInt16 = usesTLS ? 8883 : 1883
        guard let port = number.count < 2 ? standard : UInt16(number.dropFirst()), port > 0 else { return nil }
        host = String(name)
        self.port = port
    }

    /// The address without its login.
    var address: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    /// Replaces `%41` by its byte.
    private static func decoded(_ text: Substring) -> String? {
        percentDecoded(text.utf8).flatMap { String(validating: $0, as: UTF8.self) }
    }
}

extension RoomAssistantFile {
    mutating func readGlobal(_ member: YAMLNode.Member, _ path: String) {
        let line = member.value.line
        switch member.key {
        case "instanceName":
            guard let name = member.value.text, !name.isEmpty else { return add(.lost, path, line, "it is not a text") }
            room = name
            add(.translated, path, line, "the room '\(name.shortened)'")
        case "integrations": readIntegrations(member.value, path)
        case "apiPort": add(.needless, path, line, "the status page has its own address: http")
        default: add(.lost, path, line, "room-assistant has no such member")
        }
    }

    /// Those that have a section are named there.
    private mutating func readIntegrations(_ node: YAMLNode, _ path: String) {
        guard let names = node.sequence else { return add(.lost, path, node.line, "it is not a list") }
        for (position, name) in names.enumerated() {
            let (path, line) = ("\(path)[\(position)]", name.line)
            switch name.text {
            case "bluetoothLowEnergy": add(.needless, path, line, "a gateway always listens")
            case "homeAssistant": setDiscovery(prefix: nil, for: path, line)
            case "mqtt": add(.lost, path, line, Self.otherMessages)
            case let text?: add(.lost, path, line, "'\(text.shortened)' has no counterpart")
            case nil: add(.lost, path, line, "it is not a text")
            }
        }
    }

    private static let otherMessages = "the messages and their topics are others: Docs/rooms.md and Docs/owntracks.md"

    private mutating func setDiscovery(prefix: String?, for path: String, _ line: Int) {
        var value = settings.first { $0.name == "homeAssistant" }?.value.object ?? ["discovery": true]
        if let prefix { value["prefix"] = .string(prefix) }
        set("homeAssistant", .object(value), for: path, line)
    }

    mutating func readHomeAssistant(_ member: YAMLNode.Member, _ path: String) {
        let line = member.value.line
        switch member.key {
        case "mqttUrl":
            usesBrokerOfHomeAssistant = true
            readURL(member.value, path)
        case "mqttOptions":
            usesBrokerOfHomeAssistant = true
            readOptions(member.value, path)
        case "discoveryPrefix":
            guard let prefix = member.value.text else { return add(.lost, path, line, "it is not a text") }
            setDiscovery(prefix: prefix, for: path, line)
        case "sendAttributes": add(.needless, path, line, "there are few attributes")
        case "sendMqttRoom" where member.value.boolean == false: add(.needless, path, line, "it is the default")
        case "sendMqttRoom", "mqttRoomPrefix":
            add(.lost, path, line, "for mqtt_room write rooms: {espresense: true}; its topics are espresense/devices/…")
        default: add(.lost, path, line, "room-assistant has no such member")
        }
    }

    /// The integration `mqtt` may name a broker, too. A login must not go to the broker of the other section.
    mutating func readMQTT(_ member: YAMLNode.Member, _ path: String) {
        let line = member.value.line
        switch member.key {
        case "mqttUrl" where !usesBrokerOfHomeAssistant: readURL(member.value, path)
        case "mqttOptions" where !usesBrokerOfHomeAssistant: readOptions(member.value, path)
        case "mqttUrl", "mqttOptions": add(.needless, path, line, "the broker of homeAssistant is used")
        case "baseTopic", "qos", "retain": add(.lost, path, line, Self.otherMessages)
        default: add(.lost, path, line, "room-assistant has no such member")
        }
    }

    private mutating func readURL(_ node: YAMLNode, _ path: String) {
        guard let broker = node.text.flatMap({ RoomAssistantBroker($0) }) else {
            return add(.lost, path, node.line, "it is not mqtt://HOST[:PORT] or mqtts://…; name the broker with --host")
        }
        self.broker = broker
        add(.translated, path, node.line, "the broker \(broker.address)\(broker.usesTLS ? " with TLS" : "")")
        // The options come first where both have a login, as in node's client.
        username = username ?? broker.username
        password = password ?? broker.password
    }

    private mutating func readOptions(_ node: YAMLNode, _ path: String) {
        guard let members = node.mapping else {
            guard !node.isNull else { return }
            return add(.lost, path, node.line, "it has no members")
        }
        for member in members { readOption(member, "\(path).\(member.key.shortened)") }
    }

    private mutating func readOption(_ member: YAMLNode.Member, _ path: String) {
        let line = member.value.line
        switch member.key {
        case "username":
            guard let name = member.value.text, !name.isEmpty else { return add(.lost, path, line, "it is not a text") }
            username = name
            add(.translated, path, line, "username")
        case "password":
            guard let text = member.value.text, !text.isEmpty, !text.contains(where: \.isNewline) else {
                return add(.lost, path, line, "it is not a text of one line; give it with --password-file")
            }
            password = Secret(text)
            add(.translated, path, line, "passwordFile, for the service alone")
        case "rejectUnauthorized" where member.value.boolean == true: add(.needless, path, line, "it is always so")
        case "rejectUnauthorized":
            add(.lost, path, line, "the certificate is always checked; name your own authority with --ca-file")
        case "ca", "cert", "key":
            add(.lost, path, line, "write it to a file: caFile, clientCertificateFile, clientKeyFile")
        default: add(.lost, path, line, "it has no counterpart")
        }
    }
}
