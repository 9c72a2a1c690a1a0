import Beacon
import Testing

@testable import Configuration
@testable import GatewayApp

@Suite struct ProxyIdentityTests {
    private func identity(
        _ members: String, receiver: UInt16 = 0, network: String? = "dc:a6:32:00:00:01", installation: String? = "abc"
    ) throws -> ProxyIdentity {
        let configuration = try Configuration(parsing: "{\(members)}".utf8, hostName: "pi")
        let proxy = BluetoothProxySettings(listen: .proxy, key: .absent)
        let facts = ProxyIdentity.Facts(networkAdapter: network, installation: installation, bluetooth: nil)
        return ProxyIdentity(configuration, proxy, Receiver(index: receiver), facts)
    }

    @Test(
        "The name of a gateway becomes the name of a host",
        arguments: [
            ("kitchen", "ibg-kitchen"), ("Living Room", "ibg-living-room"), ("a_b.c", "ibg-a-b-c"),
            ("Küche", "ibg-k-che"),
            ("--x--", "ibg-x"), ("客厅", "ibg-gateway"),
            ("a-very-long-name-of-a-gateway-in-the-attic", "ibg-a-very-long-name-of-a-gatew"),
            ("twenty-six-characters-abc-d", "ibg-twenty-six-characters-abc-d"),
            ("twenty-six-characters-abcd-e", "ibg-twenty-six-characters-abcd"),
        ])
    func name(device: String, name: String) throws {
        let identity = try identity("deviceId: '\(device)'")
        #expect(identity.name == name)
        #expect(identity.name.utf8.count <= 31)
    }

    @Test("The name of a second adapter is not cut off a long name")
    func second() throws {
        let name = try identity("deviceId: 'a-very-long-name-of-a-gateway-in-the-attic'", receiver: 1).name
        #expect(name == "ibg-a-very-long-name-of-a-hci1" || name == "ibg-a-very-long-name-of-a-g-hci1".prefix(31))
        #expect(name.hasSuffix("-hci1") && name.utf8.count <= 31)
    }

    @Test(
        "The address is that of the network adapter; of a second adapter, and in a container, one that stays and is its own"
    )
    func address() throws {
        #expect(try identity("deviceId: 'k'").mac.description == "DC:A6:32:00:00:01")
        let container = try identity("deviceId: 'k'", network: nil).mac
        #expect(try identity("deviceId: 'other'", network: nil).mac == container)
        #expect(try identity("deviceId: 'k'", network: nil, installation: "def").mac != container)
        #expect(try identity("deviceId: 'k'", receiver: 1).mac != container)
        // Given by software, and not of a group.
        #expect(container.value >> 40 & 3 == 2)
    }

    @Test(
        "A machine that shows neither a network adapter nor a machine-id is refused: all such machines would be one device"
    )
    func nothingStable() throws {
        #expect(try !identity("deviceId: 'k'", network: nil, installation: nil).isDistinct)
        #expect(try identity("deviceId: 'k'", network: nil).isDistinct)
        let second = try identity("deviceId: 'k'", receiver: 1, installation: nil)
        #expect(second.isDistinct)
        let other = try identity("deviceId: 'k'", receiver: 1, network: "dc:a6:32:00:00:02", installation: nil)
        #expect(second.mac != other.mac && second.bluetooth != other.bluetooth)
    }

    @Test("The room is suggested only if the user named it")
    func area() throws {
        #expect(try identity("deviceId: 'k'").area.isEmpty)
        #expect(try identity("deviceId: 'k', room: 'Kitchen'").area == "Kitchen")
        #expect(try identity("deviceId: 'k', room: 'Kitchen'").friendlyName == "Kitchen gateway")
    }

    @Test("The records of mDNS are those of ESPHome's devices")
    func records() throws {
        let records = try identity("deviceId: 'k', room: 'Kitchen'").records(version: "1.0", esphome: "2026.5.1")
        let keys = records.compactMap { $0.split(separator: "=").first.map(String.init) }
        #expect(
            keys == [
                "mac", "friendly_name", "version", "platform", "board", "network", "api_encryption", "project_name",
                "project_version",
            ])
        #expect(records.first == "mac=dca632000001")
    }
}
