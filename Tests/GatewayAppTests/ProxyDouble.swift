import Base
import Beacon
import BluetoothProxy
import Configuration
import DBus
import DBusSupport
import ServiceDiscovery
import System

@testable import GatewayApp

/// A machine on which proxies are served, without sockets: each proxy notes what it is given.
final class ProxyDouble {
    final class Endpoint: ProxyEndpoint {
        let settings: ProxySettings
        let port: UInt16
        let refusal: (String) -> String?
        var onEffect: (ProxyServer.Effect) -> Void = { _ in }
        private(set) var inputs: [String] = []
        private(set) var packets: [String] = []
        private(set) var isStopped = false

        private let server: ProxyServer

        init(
            _ settings: ProxySettings, _ key: ProxyKey, _ port: UInt16, _ refusal: @escaping (String) -> String?
        ) {
            (self.settings, self.port, self.refusal) = (settings, port, refusal)
            server = ProxyServer(settings, key: key, primitives: Nothing())
        }

        var status: ProxyStatus { server.status }

        func handle(_ input: ProxyServer.Input) {
            switch input {
            case .heard(let report, let data): packets.append("\(report.address) \(data.count)")
            case .scan(let scan):
                let isOffered = scan.configuredMode == .active
                inputs.append(
                    "\(scan.state)\(scan.mode == .active ? " active" : isOffered ? ", active is offered" : "")")
            case .homes(let homes): inputs.append("homes \(homes)")
            case .homeAssistantStarted: inputs.append("birth")
            default: break
            }
        }

        func stop() { isStopped = true }
    }

    /// No cryptography: nobody connects.
    private struct Nothing: NoisePrimitives {
        func hash(_ bytes: [UInt8]) -> [UInt8] { [] }
        func code(of bytes: [UInt8], key: [UInt8]) -> [UInt8] { [] }
        func publicKey(of secret: [UInt8]) -> [UInt8] { [] }
        func agree(secret: [UInt8], publicKey: [UInt8]) -> [UInt8]? { nil }
        func seal(_ plaintext: [UInt8], beside data: [UInt8], nonce: [UInt8], key: [UInt8]) -> [UInt8] { [] }
        func open(_ sealed: [UInt8], beside data: [UInt8], nonce: [UInt8], key: [UInt8]) -> [UInt8]? { nil }
    }

    /// All that were opened, in their order.
    private(set) var endpoints: [Endpoint] = []
    private(set) var buses: [ScriptedBus] = []
    /// Why no port can be opened.
    var failure: SystemError?
    /// What the machine is called; nil: as one that has a network adapter and a machine-id.
    var facts: ProxyIdentity.Facts?
    var outwardAddress: String? = "192.168.1.5"
    var machine = MachineAddresses(
        trie: "|-- 192.168.1.5\n/32 host LOCAL", routes: "docker0 000011AC 00000000 1 0 0 0 0000FFFF", ipv6: "",
        bridges: ["docker0"])

    var surroundings: ProxySurroundings {
        ProxySurroundings(
            open: { [unowned self] settings, key, address, refusal in
                if let failure { return .failure(failure) }
                let endpoint = Endpoint(settings, key, address.port, refusal)
                endpoints.append(endpoint)
                return .success(endpoint)
            },
            publish: { [unowned self] service, onChange in
                let bus = ScriptedBus()
                buses.append(bus)
                return AvahiPublication(service, bus: bus, onChange: onChange)
            },
            facts: { [unowned self] receiver in
                facts
                    ?? ProxyIdentity.Facts(
                        networkAdapter: "dc:a6:32:00:00:01", installation: "installation",
                        bluetooth: DeviceAddress(value: 0xdca6_3200_0010 + UInt64(receiver.index), isRandom: false))
            },
            machine: { [unowned self] in machine }, outwardAddress: { [unowned self] in outwardAddress })
    }
}
