import Base
package import Beacon
import BluetoothProxy
package import Configuration
import JSON

/// As whom the proxy of one adapter is found in the network.
package struct ProxyIdentity: Hashable, Sendable {
    /// What a machine and its adapter are called outside of the configuration.
    package struct Facts: Hashable, Sendable {
        /// The address of the first network adapter, such as `dc:a6:32:00:00:01`; nil: none is shown, as in a container.
        package var networkAdapter: String?
        /// What stays the same on this installation: its machine-id; nil: it has none.
        package var installation: String?
        /// The address of the Bluetooth adapter; nil: there is none, as for a recording.
        package var bluetooth: DeviceAddress?

        package init(networkAdapter: String?, installation: String?, bluetooth: DeviceAddress?) {
            (self.networkAdapter, self.installation, self.bluetooth) = (networkAdapter, installation, bluetooth)
        }
    }

    /// The longest name that Home Assistant and mDNS take, bytes.
    static let longestName = 31

    /// In the form of a host name.
    package let name: String
    package let friendlyName: String
    /// The room, if the user named it.
    package let area: String
    /// The unique id of the device, for ever.
    package let mac: DeviceAddress
    /// The source of the packets: no other scanner of Home Assistant has it.
    package let bluetooth: DeviceAddress
    package let port: UInt16
    /// Whether anything of the machine tells it from others. Of what nothing is known, nothing is made: all such machines would be
    /// one device.
    package let isDistinct: Bool

    /// - Parameter receiver: The adapter. The first has the port of the settings, the next the next one.
    package init(_ configuration: Configuration, _ proxy: BluetoothProxySettings, _ receiver: Receiver, _ facts: Facts)
    {
        let suffix = receiver.index == 0 ? "" : "-hci\(receiver.index)"
        name = Self.hostName(of: configuration.trackers[0].deviceID, suffix: suffix)
        let title = "\(configuration.room) gateway"
        friendlyName = receiver.index == 0 ? title : "\(title) hci\(receiver.index)"
        area = configuration.namedRoom ?? ""
        let own = facts.networkAdapter.flatMap(Self.address)
        let seed = facts.installation ?? own.map { "\($0)" }
        isDistinct = seed != nil
        let derived = Self.derived("\(seed ?? "") \(receiver.index)")
        // A second adapter is a second device, and the machine has one network address for both.
        mac = receiver.index == 0 ? own ?? derived : derived
        bluetooth = facts.bluetooth ?? Self.derived("\(seed ?? "") \(receiver.index) bluetooth")
        port = proxy.listen.port &+ receiver.index
    }

    /// `ibg-` and the name of the gateway, with `-` for what a host name cannot have.
    private static func hostName(of device: String, suffix: String) -> String {
        let isAllowed = { (byte: UInt8) in (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte) }
        let parts = device.lowercased().utf8.split { !isAllowed($0) }
        let text = parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-")
        var name = "ibg-" + (text.isEmpty ? "gateway" : text)
        name = String(decoding: name.utf8.prefix(longestName - suffix.utf8.count), as: UTF8.self)
        while name.hasSuffix("-") { name.removeLast() }
        return name + suffix
    }

    private static func address(_ text: String) -> DeviceAddress? {
        let octets = text.split(separator: ":")
        guard octets.count == 6, let value = UInt64(octets.joined(), radix: 16), value != 0 else { return nil }
        return DeviceAddress(value: value, isRandom: false)
    }

    /// An address that is marked as given by software, and not for a group (IEEE 802, 8.2): the second lowest bit of the first octet
    /// is set, and the lowest is not.
    private static func derived(_ text: String) -> DeviceAddress {
        let words = SHA1.digest(of: "ibeacon-gateway bluetooth proxy \(text)".utf8)
        let value = (UInt64(words[0]) << 16 | UInt64(words[1] >> 16)) & 0xfcff_ffff_ffff | 0x0200_0000_0000
        return DeviceAddress(value: value, isRandom: false)
    }

    /// The unique id as 12 digits in lower case.
    private var macDigits: String { hexadecimal(mac.value, digits: 12) }

    static let project = "ibeacon.gateway"

    /// Where Home Assistant looks for devices of ESPHome at its broker.
    var topic: String { Self.topic(of: name) }

    static func topic(of name: String) -> String { parent + name }
    /// Whether a topic is one on which such a proxy is announced.
    static func isTopic(_ topic: String) -> Bool { topic.hasPrefix(parent) }

    private static let parent = "esphome/discover/"

    /// What stands there.
    ///
    /// - Parameter host: Where the proxy is reached.
    func announcement(at host: String) -> [UInt8] {
        let json: JSONValue = [
            "ip": .string(host), "name": .string(name), "friendly_name": .string(friendlyName),
            "port": .integer(Int64(port)), "mac": .string(macDigits),
            "api_encryption": .string(ProxySettings.encryption),
        ]
        return json.bytes
    }

    /// The records of `_esphomelib._tcp`, as ESPHome's devices have them.
    ///
    /// - Parameters:
    ///   - version: The program's.
    ///   - esphome: The version of ESPHome whose interface is offered.
    func records(version: String, esphome: String) -> [String] {
        [
            "mac=\(macDigits)", "friendly_name=\(friendlyName)", "version=\(esphome)", "platform=Linux",
            "board=ibeacon-gateway", "network=ethernet", "api_encryption=\(ProxySettings.encryption)",
            "project_name=\(Self.project)", "project_version=\(version)",
        ]
    }
}
