import Base
import JSON
import YAML

extension RoomAssistantFile {
    mutating func readGlobal(_ member: YAMLNode.Member, _ path: String) {
        let line = member.value.line
        switch member.key {
        case "instanceName":
            guard let name = member.value.text, !name.isEmpty else {
                return report.add(.lost, path, line, "it is not a text")
            }
            room = name
            report.add(.translated, path, line, "the room '\(name.shortened)'")
        case "integrations": readIntegrations(member.value, path)
        case "apiPort": report.add(.needless, path, line, "the status page has its own address: http")
        default: report.add(.lost, path, line, "room-assistant has no such member")
        }
    }

    /// Those that have a section are named there.
    private mutating func readIntegrations(_ node: YAMLNode, _ path: String) {
        guard let names = node.sequence else { return report.add(.lost, path, node.line, "it is not a list") }
        for (index, name) in names.enumerated() {
            let (path, line) = ("\(path)[\(index)]", name.line)
            switch name.text {
            case "bluetoothLowEnergy": report.add(.needless, path, line, "a gateway always listens")
            case "homeAssistant": setDiscovery(prefix: nil, for: path, line)
            case "mqtt": report.add(.lost, path, line, Self.otherMessages)
            case let text?: report.add(.lost, path, line, "'\(text.shortened)' has no counterpart")
            case nil: report.add(.lost, path, line, "it is not a text")
            }
        }
    }

    private static let otherMessages = "the messages and their topics are others: Docs/rooms.md and Docs/owntracks.md"

    private mutating func setDiscovery(prefix: String?, for path: String, _ line: Int) {
        var value = settings.first { $0.name == "homeAssistant" }?.value.object ?? ["discovery": true]
        if let prefix { value["prefix"] = .string(prefix) }
        report.set("homeAssistant", .object(value), for: path, line)
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
            guard let prefix = member.value.text else { return report.add(.lost, path, line, "it is not a text") }
            setDiscovery(prefix: prefix, for: path, line)
        case "sendAttributes": report.add(.needless, path, line, "there are few attributes")
        case "sendMqttRoom" where member.value.boolean == false: report.add(.needless, path, line, "it is the default")
        case "sendMqttRoom", "mqttRoomPrefix":
            report.add(
                .lost, path, line, "for mqtt_room write rooms: {espresense: true}; its topics are espresense/devices/…")
        default: report.add(.lost, path, line, "room-assistant has no such member")
        }
    }

    /// The integration `mqtt` may name a broker, too. A login must not go to the broker of the other section.
    mutating func readMQTT(_ member: YAMLNode.Member, _ path: String) {
        let line = member.value.line
        switch member.key {
        case "mqttUrl" where !usesBrokerOfHomeAssistant: readURL(member.value, path)
        case "mqttOptions" where !usesBrokerOfHomeAssistant: readOptions(member.value, path)
        case "mqttUrl", "mqttOptions": report.add(.needless, path, line, "the broker of homeAssistant is used")
        case "baseTopic", "qos", "retain": report.add(.lost, path, line, Self.otherMessages)
        default: report.add(.lost, path, line, "room-assistant has no such member")
        }
    }

    private mutating func readURL(_ node: YAMLNode, _ path: String) {
        guard let broker = node.text.flatMap({ RoomAssistantBroker($0) }) else {
            return report.add(
                .lost, path, node.line, "it is not mqtt://HOST[:PORT] or mqtts://…; name the broker with --host")
        }
        self.broker = broker
        report.add(.translated, path, node.line, "the broker \(broker.address)\(broker.usesTLS ? " with TLS" : "")")
        // The options come first where both have a login, as in node's client.
        username = username ?? broker.username
        password = password ?? broker.password
    }

    private mutating func readOptions(_ node: YAMLNode, _ path: String) {
        guard let members = node.mapping else {
            guard !node.isNull else { return }
            return report.add(.lost, path, node.line, "it has no members")
        }
        for member in members { readOption(member, "\(path).\(member.key.shortened)") }
    }

    private mutating func readOption(_ member: YAMLNode.Member, _ path: String) {
        let line = member.value.line
        switch member.key {
        case "username":
            guard let name = member.value.text, !name.isEmpty else {
                return report.add(.lost, path, line, "it is not a text")
            }
            username = name
            report.add(.translated, path, line, "username")
        case "password":
            guard let text = member.value.text, !text.isEmpty, !text.contains(where: \.isNewline) else {
                return report.add(.lost, path, line, "it is not a text of one line; give it with --password-file")
            }
            password = Secret(text)
            report.add(.translated, path, line, "passwordFile, for the service alone")
        case "rejectUnauthorized" where member.value.boolean == true:
            report.add(.needless, path, line, "it is always so")
        case "rejectUnauthorized":
            report.add(.lost, path, line, "the certificate is always checked; name your own authority with --ca-file")
        case "ca", "cert", "key":
            report.add(.lost, path, line, "write it to a file: caFile, clientCertificateFile, clientKeyFile")
        default: report.add(.lost, path, line, "it has no counterpart")
        }
    }
}
