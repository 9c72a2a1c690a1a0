// What a stranger sends to the Bluetooth proxy, and what a client with the key does: its requests, pauses, and packets of the radio.
import Base
import Beacon
import BluetoothProxy

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    guard let first = input.first else { return 0 }
    if first & 1 == 0 {
        stranger(input.dropFirst(), chunk: first >= 128 ? Int(first >> 1 & 0xf) + 1 : input.count)
    } else {
        client(input.dropFirst())
    }
    return 0
}

extension NoiseFunctions: NoisePrimitives {}

private let functions = NoiseFunctions()
private let secret = [UInt8](repeating: 5, count: 32)
private let psk = [UInt8](1...32)
private let start = MonotonicInstant.zero.advanced(by: .seconds(1000))

private func makeServer() -> ProxyServer {
    let address = DeviceAddress(value: 0xB827_EB00_1122, isRandom: false)
    let settings = ProxySettings(
        name: "kitchen", friendlyName: "Kitchen", macAddress: address, bluetoothAddress: address, projectVersion: "1")
    guard let key = ProxyKey(psk), let functions else { fatalError("libsodium") }
    return ProxyServer(settings, key: key, primitives: functions)
}

/// Bytes of somebody without the key. Nobody gets in, and a word of ours is a frame.
private func stranger(_ input: ArraySlice<UInt8>, chunk: Int) {
    var server = makeServer()
    let id = ProxyClientID(1)
    var isOpen = true
    var effects = server.handle(.accepted(id, ProxyPeer(address: "192.0.2.1"), secret: secret), at: start)
    var rest = input
    var sent = 0
    while !rest.isEmpty {
        effects += server.handle(.received(id, Array(rest.prefix(chunk))), at: start)
        rest = rest.dropFirst(chunk)
    }
    for effect in effects {
        switch effect {
        case .send(_, let bytes):
            require(isOpen, "nothing is sent after the end")
            require(bytes.first == 1)
            sent += bytes.count
        case .close: isOpen = false
        case .note: break
        default: require(false, "\(effect)")
        }
    }
    require(sent < 100, "a stranger learns a name and a reason")
    require(server.status.clients.isEmpty)
    _ = server.handle(.tick, at: start.advanced(by: .seconds(5)))
    require(server.nextDeadline == nil, "nothing is kept of a stranger")
}

/// A client that has ended its handshake. Each step is a byte that says what happens, one with a length, and so many bytes.
private func client(_ input: ArraySlice<UInt8>) {
    var server = joined.server
    var client = joined.client
    var state = Peer()
    var now = start
    var rest = input
    while rest.count >= 2, state.isOpen {
        let step = rest.removeFirst()
        let count = Int(rest.removeFirst())
        let part = Array(rest.prefix(count))
        rest = rest.dropFirst(count)
        let next: ProxyServer.Input
        switch step {
        case 0..<160: next = .received(joined.id, client.seal(type: UInt16(step), part))
        case 160..<200:
            let address = DeviceAddress(value: UInt64(count), isRandom: step & 1 == 0)
            next = .heard(AdvertisingReport(address: address, rssi: RSSI(reported: Int8(bitPattern: step))), data: part)
        case 200..<210 where !state.isBlocked:
            state.isBlocked = true
            next = .blocked(joined.id)
        case 210..<220 where state.isBlocked:
            state.isBlocked = false
            next = .drained(joined.id)
        case 220..<230:
            next = .scan(
                ProxyScan(
                    state: .running, mode: step & 1 == 0 ? .active : .passive,
                    configuredMode: step & 2 == 0 ? .active : .passive))
        case 230..<235: next = .received(joined.id, client.seal(plaintext: part))
        case 235..<238: next = .received(joined.id, part)
        case 238: next = .homeAssistantStarted
        case 239: next = .notDialled(address: "192.0.2.1")
        default:
            now = now.advanced(by: .milliseconds(count * count))
            next = .tick
        }
        let effects = server.handle(next, at: now)
        for effect in effects { state.take(effect) }
        require((server.status.clients.first?.queued ?? 0) <= 230 << 10, "the queue is bounded")
        require(server.status.clients.count == (state.isOpen ? 1 : 0))
    }
    // All that was sent is readable, in order, and of known kinds.
    client.read(state.received)
    let status = server.status
    require(status.counters.sent == client.packets, "each packet is counted when it is sent")
}

/// What the client's side of the connection shows.
private struct Peer {
    var isOpen = true
    var isBlocked = false
    var received: [UInt8] = []

    mutating func take(_ effect: ProxyServer.Effect) {
        switch effect {
        case .send(let id, let bytes):
            require(isOpen && !isBlocked && id == joined.id)
            require(bytes.count <= ProxyServer.mostUnwritten, "a turn is bounded")
            received += bytes
        case .close: isOpen = false
        default: break
        }
    }
}

/// The encryption of the client's side.
private struct Client {
    static let answers: Set<UInt16> = [2, 5, 6, 7, 8, 10, 19, 37, 69, 81, 82, 85, 86, 88, 93, 126, 146, 150]
    let sendingKey: [UInt8]
    let receivingKey: [UInt8]
    var sent: UInt64 = 0
    var read: UInt64 = 0
    var packets: UInt64 = 0

    static func nonce(_ number: UInt64) -> [UInt8] {
        [0, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    }

    mutating func seal(type: UInt16, _ payload: [UInt8]) -> [UInt8] {
        seal(plaintext: [UInt8(type >> 8), UInt8(type & 0xff), 0, UInt8(payload.count)] + payload)
    }

    mutating func seal(plaintext: [UInt8]) -> [UInt8] {
        guard let functions else { return [] }
        defer { sent += 1 }
        return frame(functions.seal(plaintext, beside: [], nonce: Self.nonce(sent), key: sendingKey))
    }

    mutating func read(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            require(rest.removeFirst() == 1)
            let count = Int(rest.removeFirst()) << 8 | Int(rest.removeFirst())
            require(rest.count >= count, "frames are whole")
            let sealed = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            guard let plain = functions?.open(sealed, beside: [], nonce: Self.nonce(read), key: receivingKey) else {
                fatalError("a message cannot be read")
            }
            read += 1
            let type = UInt16(plain[0]) << 8 | UInt16(plain[1])
            require(Self.answers.contains(type), "\(type)")
            require(Int(plain[2]) << 8 | Int(plain[3]) == plain.count - 4)
            if type == 93 { packets += elements(plain.dropFirst(4)) }
        }
    }

    /// The elements of a list that is a message's only field.
    private func elements(_ payload: ArraySlice<UInt8>) -> UInt64 {
        var (rest, count) = (payload, UInt64(0))
        while !rest.isEmpty {
            require(rest.removeFirst() == 0x0a)
            let length = Int(rest.removeFirst())
            require(length < 128 && rest.count >= length)
            rest = rest.dropFirst(length)
            count += 1
        }
        return count
    }
}

private func frame(_ content: [UInt8]) -> [UInt8] {
    [1, UInt8(content.count >> 8), UInt8(content.count & 0xff)] + content
}

/// A server with one client, whose handshake is done once.
private struct Joined {
    let server: ProxyServer
    let client: Client
    let id = ProxyClientID(1)

    init() {
        guard let functions else { fatalError("libsodium") }
        var server = makeServer()
        var effects = server.handle(.accepted(id, ProxyPeer(address: "192.0.2.1"), secret: secret), at: start)
        // The initiator of NNpsk0, with the server's secret as its own.
        var transcript = functions.hash(Array("Noise_NNpsk0_25519_ChaChaPoly_SHA256".utf8))
        var chain = transcript
        func derive(_ bytes: [UInt8]) -> [[UInt8]] {
            let key = functions.code(of: bytes, key: chain)
            let first = functions.code(of: [1], key: key)
            let second = functions.code(of: first + [2], key: key)
            return [first, second, functions.code(of: second + [3], key: key)]
        }
        transcript = functions.hash(transcript + Array("NoiseAPIInit\0\0".utf8))
        let keys = derive(psk)
        chain = keys[0]
        transcript = functions.hash(transcript + keys[1])
        let own = functions.publicKey(of: secret)
        transcript = functions.hash(transcript + own)
        let first = derive(own)
        chain = first[0]
        let sealed = functions.seal([], beside: transcript, nonce: Client.nonce(0), key: first[1])
        effects = server.handle(.received(id, [1, 0, 0] + frame([0] + own + sealed)), at: start)
        require(effects.count == 1 && server.status.clients.count == 1)
        chain = derive(own)[0]
        chain = derive(functions.agree(secret: secret, publicKey: own) ?? [])[0]
        let transport = derive([])
        client = Client(sendingKey: transport[0], receivingKey: transport[1])
        self.server = server
    }
}

private let joined = Joined()
