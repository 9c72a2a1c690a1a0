import Base
import Beacon
import BluetoothProxy
import DBus
import DBusSupport
import Health
import JSON
import Messaging
import Scanning
import ServiceSupport
import Shell
import Status
import System
import TestSupport
import Testing

@testable import GatewayApp

/// The Bluetooth proxies of the service.
@Suite struct ProxyServiceTests {
    private static let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n"
    private static let on = "bluetoothProxy: {keyFile: \"key\"},"
    private let directory: TemporaryDirectory
    private let machine = ProxyDouble()

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write(Self.key, to: "key")
    }

    private func start(_ members: String = on, adapters: [UInt16] = [0]) throws -> ServiceFixture {
        let fixture = try ServiceFixture(members, in: directory, proxies: machine.surroundings)
        show(adapters, fixture)
        return fixture
    }

    private func show(_ adapters: [UInt16], _ fixture: ServiceFixture) {
        fixture.radio.adapters = adapters.map { AdapterStatus(receiver: Receiver(index: $0), name: "hci\($0)") }
        fixture.wait(.seconds(2))
    }

    /// What stands at the broker on the topics of proxies, by topic; an empty text was emptied.
    private func announced(_ fixture: ServiceFixture) -> [String: String] {
        var found: [String: String] = [:]
        for message in fixture.availability.messages where message.topic.hasPrefix("esphome/") {
            found[message.topic] = message.isRetained ? String(decoding: message.payload, as: UTF8.self) : nil
        }
        return found
    }

    @Test func `Without the setting there is no port, no timer more, and no topic`() throws {
        let fixture = try start("")
        #expect(machine.endpoints.isEmpty && machine.buses.isEmpty)
        #expect(announced(fixture).isEmpty)
        #expect(fixture.radio.packets == nil)
        #expect(fixture.service.proxies.states.isEmpty)
    }

    @Test func `Each adapter has a proxy, as soon as it is there, with a port and a source of its own`() throws {
        let fixture = try start(adapters: [0])
        show([0, 1], fixture)
        #expect(machine.endpoints.map(\.port) == [6053, 6054])
        #expect(machine.endpoints.map(\.settings.name) == ["ibg-hall", "ibg-hall-hci1"])
        #expect(Set(machine.endpoints.map(\.settings.bluetoothAddress)).count == 2)
        #expect(Set(machine.endpoints.map(\.settings.macAddress)).count == 2)
        #expect(machine.endpoints.first?.settings.macAddress.description == "DC:A6:32:00:00:01")
    }

    @Test func `An adapter that is gone keeps its port, and the scanner is told as stopped`() throws {
        let fixture = try start()
        fixture.radio.adapters[0].isListening = true
        fixture.wait(.seconds(2))
        show([], fixture)
        #expect(machine.endpoints.map(\.isStopped) == [false])
        #expect(machine.endpoints.first?.inputs == ["homes []", "stopped", "running", "stopped"])
    }

    @Test func `A window of active scan is asked for at the adapter of the proxy, and what becomes of it is told`()
        throws
    {
        let fixture = try start(adapters: [0, 1])
        #expect(fixture.radio.offersActiveScan)
        fixture.radio.adapters[1].isListening = true
        fixture.radio.adapters[1].activeScan = .available
        fixture.wait(.seconds(2))
        machine.endpoints[1].onEffect(.scanActively(true))
        #expect(fixture.radio.activeScans == [Receiver(index: 1)])
        fixture.radio.adapters[1].activeScan = .running
        fixture.wait(.seconds(2))
        #expect(machine.endpoints[1].inputs == ["homes []", "stopped", "running, active is offered", "running active"])
        try fixture.reload("")
        #expect(fixture.radio.activeScans.isEmpty && !fixture.radio.offersActiveScan)
    }

    @Test func `Packets are heard while a client wants them, each by the proxy of its adapter`() throws {
        let fixture = try start(adapters: [0, 1])
        #expect(fixture.radio.packets == nil)
        machine.endpoints[1].onEffect(.listen(true))
        let report = AdvertisingReport(address: DeviceAddress(value: 7, isRandom: true), rssi: nil)
        let data: [UInt8] = [1, 2, 3]
        fixture.radio.packets?(report, data.span, Receiver(index: 0))
        fixture.radio.packets?(report, data.span, Receiver(index: 1))
        #expect(machine.endpoints.map(\.packets) == [[], ["00:00:00:00:00:07 3"]])
        machine.endpoints[1].onEffect(.listen(false))
        #expect(fixture.radio.packets == nil)
    }

    @Test func `A port that is taken is told, and tried again`() throws {
        machine.failure = SystemError("bind", code: 98)
        let fixture = try start()
        #expect(fixture.service.proxies.states.first?.problem?.hasPrefix("port 6053 cannot be opened") == true)
        let finding = fixture.service.snapshot(at: fixture.host.now).findings.first { $0.subject == "proxy" }
        #expect(finding?.level == .error)
        machine.failure = nil
        fixture.wait(.seconds(11))
        #expect(fixture.service.proxies.states.first?.problem == nil)
        #expect(machine.endpoints.count == 1)
    }

    @Test(
        arguments: [
            ("192.168.1.5", "it runs on this machine, and may use the same adapter"),
            ("127.0.0.1", "it runs on this machine, and may use the same adapter"),
            ("172.17.0.2", "it runs in a container of this machine (docker0), and may use the same adapter"),
            ("kitchen", "it has no address in figures"), ("192.168.1.6", nil),
        ] as [(String, String?)])
    func `Who runs on this machine gets no packets, and is told why`(peer: String, reason: String?) throws {
        _ = try start()
        #expect(machine.endpoints.first?.refusal(peer) == reason)
    }

    @Test func `An address that the settings allow gets packets, in whatever form it is written`() throws {
        _ = try start("bluetoothProxy: {keyFile: \"key\", allow: [\"172.17.0.2\"]},")
        let refusal = try #require(machine.endpoints.first?.refusal)
        #expect(refusal("172.17.0.2") == nil && refusal("::ffff:172.17.0.2") == nil)
        #expect(refusal("172.17.0.3") != nil)
    }

    @Test func `Home Assistant finds the proxy at the broker, at the address that others reach`() throws {
        let fixture = try start()
        let text = try #require(announced(fixture)["esphome/discover/ibg-hall"])
        let json = try JSONValue(parsing: Array(text.utf8))
        #expect(json["ip"] == "192.168.1.5" && json["port"] == 6053 && json["mac"] == "dca632000001")
        #expect(json["name"] == "ibg-hall" && json["friendly_name"] == "hall gateway")
        #expect(json["api_encryption"] == "Noise_NNpsk0_25519_ChaChaPoly_SHA256")
        #expect(fixture.service.proxies.states.first?.isAtBroker == true)
        machine.outwardAddress = "10.0.0.9"
        fixture.wait(.seconds(2))
        #expect(announced(fixture)["esphome/discover/ibg-hall"]?.contains("10.0.0.9") == true)
    }

    @Test func `An announcement that the broker refuses is not said to be at the broker`() throws {
        let fixture = try ServiceFixture(Self.on, in: directory, proxies: machine.surroundings)
        fixture.availability.refuses = { $0.hasPrefix("esphome/") }
        show([0], fixture)
        #expect(announced(fixture).count == 1)
        #expect(fixture.service.proxies.states.first?.isAtBroker == false)
        // The rule is gone, and the machine has another address.
        fixture.availability.refuses = { _ in false }
        machine.outwardAddress = "10.0.0.9"
        fixture.wait(.seconds(2))
        #expect(fixture.service.proxies.states.first?.isAtBroker == true)
    }

    @Test func `The answer to an announcement says nothing of the next one`() throws {
        let fixture = try start()
        fixture.availability.isReachable = false
        for address in ["10.0.0.8", "10.0.0.9"] {
            machine.outwardAddress = address
            fixture.wait(.seconds(2))
        }
        for (number, isThere) in [(2, false), (3, true)] {
            fixture.availability.send(.acknowledged(SideToken(.proxies, Int64(number)).message))
            fixture.settle()
            #expect(fixture.service.proxies.states.first?.isAtBroker == isThere)
        }
    }

    @Test func `An announcement that the broker refuses to remove is removed after the next start`() throws {
        let fixture = try start()
        fixture.availability.refuses = { _ in true }
        try fixture.reload("")
        fixture.settle()
        fixture.service.app.stop()
        let again = try start("")
        #expect(announced(again) == ["esphome/discover/ibg-hall": ""])
    }

    @Test(arguments: ["localhost:6053", "127.0.0.2:6053", "[::1]:6053"])
    func `A proxy that only this machine can reach is announced nowhere, and says why`(listen: String) throws {
        let fixture = try start("bluetoothProxy: {keyFile: \"key\", listen: \"\(listen)\"},")
        #expect(machine.endpoints.count == 1 && machine.buses.isEmpty)
        #expect(announced(fixture).isEmpty)
        let state = try #require(fixture.service.proxies.states.first)
        #expect(!state.isAtBroker && state.avahiProblem?.hasSuffix("where no other machine reaches it") == true)
    }

    @Test func `A proxy that is switched off is closed, and its announcement is emptied`() throws {
        let fixture = try start()
        try fixture.reload("")
        #expect(machine.endpoints.map(\.isStopped) == [true])
        #expect(announced(fixture) == ["esphome/discover/ibg-hall": ""])
        #expect(fixture.service.proxies.states.isEmpty)
    }

    @Test func `What was announced before a start under another name is emptied`() throws {
        let fixture = try start()
        fixture.service.app.stop()
        let renamed = try ServiceFixture(Self.on, in: directory, device: "attic", proxies: machine.surroundings)
        show([0], renamed)
        #expect(announced(renamed)["esphome/discover/ibg-hall"] == "")
        #expect(announced(renamed)["esphome/discover/ibg-attic"]?.contains("ibg-attic") == true)
    }

    @Test func `Another key needs no restart: the proxy is opened anew`() throws {
        let fixture = try start()
        try directory.write("HwECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n", to: "key")
        try fixture.reload(Self.on)
        fixture.wait(.seconds(2))
        #expect(machine.endpoints.map(\.isStopped) == [true, false])
    }

    @Test func `A machine that nothing tells from others is served no proxy, and told what to do`() throws {
        machine.facts = ProxyIdentity.Facts(networkAdapter: nil, installation: nil, bluetooth: nil)
        let fixture = try start()
        #expect(machine.endpoints.isEmpty)
        #expect(fixture.service.proxies.states.first?.problem?.contains("/etc/machine-id") == true)
        #expect(fixture.service.proxies.states.first?.remedy?.hasPrefix("make a machine-id") == true)
    }

    @Test func `What the kernel dropped before it was read is shown`() throws {
        let fixture = try start()
        fixture.radio.lostOfTap = 7
        #expect(fixture.service.proxies.states.map(\.lost) == [7])
    }

    @Test func `A reload that changes nothing of it leaves the clients connected`() throws {
        let fixture = try start()
        try fixture.reload(Self.on + "tag: \"x\",")
        fixture.wait(.seconds(2))
        #expect(machine.endpoints.map(\.isStopped) == [false])
    }

    @Test
    func `A Home Assistant that has adopted it is known after the next start, and its birth message is passed on`()
        throws
    {
        let fixture = try start()
        machine.endpoints.first?.onEffect(.adopted(["192.168.1.9"]))
        fixture.settle()
        fixture.service.app.stop()
        let again = try start()
        #expect(machine.endpoints.last?.inputs.first == #"homes ["192.168.1.9"]"#)
        let birth = ReceivedMessage(
            topic: "homeassistant/status", payload: Array("online".utf8), qos: .atLeastOnce, retained: false)
        again.availability.send(.message(birth))
        again.settle()
        #expect(machine.endpoints.last?.inputs.contains("birth") == true)
    }

    @Test func `Avahi announces it, with what Home Assistant reads`() throws {
        let fixture = try start()
        #expect(machine.buses.map(\.calls) == [["EntryGroupNew"]])
        machine.buses[0].answer("EntryGroupNew") { $0.path("/Client1/EntryGroup1") }
        machine.buses[0].answer("AddService")
        machine.buses[0].answer("Commit")
        #expect(fixture.service.proxies.states.first?.isAtAvahi == false)
        machine.buses[0].answer("GetState") { $0.int32(2) }
        #expect(fixture.service.proxies.states.first?.isAtAvahi == true)
        machine.buses[0].breaks()
        fixture.wait(.seconds(12))
        #expect(machine.buses.count == 2)
    }

    @Test func `A name that another device had is announced once that device has another one`() throws {
        let fixture = try start()
        machine.buses[0].refuse("EntryGroupNew", with: "org.freedesktop.Avahi.CollisionError")
        #expect(fixture.service.proxies.states.first?.avahiProblem?.contains("CollisionError") == true)
        fixture.wait(.seconds(12))
        #expect(machine.buses.map(\.calls) == [["EntryGroupNew"]])
        machine.buses[0].answer("EntryGroupNew") { $0.path("/Client1/EntryGroup1") }
        machine.buses[0].answer("AddService")
        machine.buses[0].answer("Commit")
        machine.buses[0].answer("GetState") { $0.int32(2) }
        #expect(fixture.service.proxies.states.first?.isAtAvahi == true)
    }
}
