import Base
import Beacon
import Encryption
import ProxyLink
import Testing

@testable import BluetoothProxy

/// A server with clients, in virtual time. Effects go to the clients at once, unless they are blocked.
struct ProxyHarness {
    static let key = [UInt8](1...32)
    static let settings = {
        var settings = ProxySettings(
            name: "kitchen", friendlyName: "Kitchen gateway",
            macAddress: DeviceAddress(value: 0xB827_EB00_1122, isRandom: false),
            bluetoothAddress: DeviceAddress(value: 0xAABB_CC00_1122, isRandom: false), projectVersion: "1.2")
        settings.area = "Kitchen"
        settings.manufacturer = "Raspberry Pi"
        settings.model = "Raspberry Pi 4"
        return settings
    }()

    let functions: NoiseFunctions
    var server: ProxyServer
    var now = MonotonicInstant.zero.advanced(by: .seconds(100))
    var clients: [ProxyClientID: TestClient] = [:]
    /// All effects that are not bytes, since `takeEffects`.
    private(set) var effects: [ProxyServer.Effect] = []
    private(set) var closed: Set<ProxyClientID> = []
    private(set) var bytesSent: [ProxyClientID: Int] = [:]
    private var lastNumber: UInt64 = 0

    init(_ settings: ProxySettings = Self.settings) throws {
        functions = try #require(NoiseFunctions())
        server = ProxyServer(settings, key: try #require(ProxyKey(Self.key)), primitives: functions)
    }

    mutating func input(_ input: ProxyServer.Input) {
        for effect in server.handle(input, at: now) {
            switch effect {
            case .send(let id, let bytes):
                bytesSent[id, default: 0] += bytes.count
                clients[id]?.receive(bytes)
            case .close(let id): closed.insert(id)
            default: break
            }
            if case .send = effect { continue }
            effects.append(effect)
        }
    }

    mutating func takeEffects() -> [ProxyServer.Effect] {
        defer { effects = [] }
        return effects
    }

    /// Lets time pass, and ticks whenever a tick is due.
    mutating func pass(_ duration: Duration) {
        let end = now.advanced(by: duration)
        var ticks = 0
        while let next = server.nextDeadline, next <= end {
            ticks += 1
            guard ticks < 100_000 else {
                Issue.record("a deadline that has passed stays for ever")
                break
            }
            now = max(now, next)
            input(.tick)
        }
        now = end
    }

    // MARK: Clients

    mutating func accept(
        from address: String = "192.0.2.1", refusal: String? = nil, key: [UInt8] = Self.key
    ) -> ProxyClientID {
        lastNumber += 1
        let id = ProxyClientID(lastNumber)
        clients[id] = TestClient(key: key, functions: functions)
        input(.accepted(id, ProxyPeer(address: address, refusal: refusal), secret: secret))
        return id
    }

    mutating func dialled(_ address: String, refusal: String? = nil) -> ProxyClientID {
        lastNumber += 1
        let id = ProxyClientID(lastNumber)
        clients[id] = TestClient(key: Self.key, functions: functions)
        input(.dialled(id, ProxyPeer(address: address, refusal: refusal), secret: secret))
        return id
    }

    private var secret: [UInt8] { [UInt8](repeating: UInt8(truncatingIfNeeded: lastNumber), count: 32) }

    /// The client's hello and handshake.
    mutating func join(_ id: ProxyClientID) {
        guard let bytes = clients[id]?.begin() else { return }
        input(.received(id, bytes))
    }

    mutating func ask(_ id: ProxyClientID, _ type: UInt16, _ payload: String = "") {
        guard let bytes = clients[id]?.send(type, BluetoothProxyTests.bytes(payload)) else { return }
        input(.received(id, bytes))
    }

    /// A client that is ready, and what it received is forgotten.
    mutating func ready(
        from address: String = "192.0.2.1", refusal: String? = nil, isDialTarget: Bool = false
    ) -> ProxyClientID {
        let id = accept(from: address, refusal: refusal)
        join(id)
        ask(id, 1, isDialTarget ? "0a024841" + "2001" : "0a024841")
        _ = messages(id)
        return id
    }

    /// A client that gets packets.
    mutating func subscribed(from address: String = "192.0.2.1") -> ProxyClientID {
        let id = ready(from: address)
        ask(id, 66, "0801")
        _ = messages(id)
        return id
    }

    /// The types of what a client received since the last call.
    mutating func messages(_ id: ProxyClientID) -> [UInt16] { taken(id).map(\.type) }

    mutating func taken(_ id: ProxyClientID) -> [(type: UInt16, payload: [UInt8])] { clients[id]?.takeMessages() ?? [] }

    // MARK: The radio

    mutating func hear(_ count: Int = 1, bytes: Int = 30) {
        for number in 0..<count {
            let report = AdvertisingReport(
                address: DeviceAddress(value: 0xC000_0000_0000 | UInt64(number), isRandom: true),
                rssi: RSSI(reported: -60))
            input(.heard(report, data: [UInt8](repeating: 0, count: bytes)))
        }
    }

    /// The number of packets that a client received since the last call.
    mutating func packets(_ id: ProxyClientID) throws -> Int {
        var count = 0
        for message in taken(id) where message.type == 93 {
            var reader = ProtobufReader(message.payload[...])
            while try reader.next() != nil { count += 1 }
        }
        return count
    }
}
