import Base

/// One connection of a client: frames, handshake and encryption, and what waits to be sent. What a request means, the server decides.
struct ProxySession: Sendable {
    /// The longest time from the connection to the end of the handshake.
    static let handshakeTime: Duration = .seconds(5)
    /// A client that says nothing for so long is asked whether it lives.
    static let pingAfter: Duration = .seconds(60)
    /// Home Assistant asks every 20 seconds, and takes a device for dead after this time, too.
    static let deadAfter: Duration = .seconds(90)
    /// A handshake has a hundred bytes. Of an unknown client no more is kept than this.
    private static let longestHandshake = 256
    /// Bytes that are encrypted in one turn, and one message more.
    private static let turnSize = 16 << 10

    private enum Stage: Sendable {
        /// The client's hello is expected.
        case hello
        /// The first message of the handshake is expected.
        case handshake(prologue: [UInt8])
        /// Both sides have the key.
        case ready
    }

    /// Why a session ends.
    enum End: Error {
        /// Before the handshake had ended.
        case failed(ProxyFailure)
        case broken
    }

    let id: ProxyClientID
    let peer: ProxyPeer
    let isDialled: Bool
    let since: MonotonicInstant
    /// What the client calls itself.
    var name = ""
    var isSubscribed = false
    var wantsActiveScan = false
    /// Whether the refusal of packets was counted.
    var isRefused = false
    /// Whether what was sent last could not be written yet.
    var isBlocked = false
    private(set) var sent: UInt64 = 0
    private(set) var dropped: UInt64 = 0

    /// Used for one handshake.
    private var secret: [UInt8]
    private var stage = Stage.hello
    private var frames = FrameReader()
    private var receiving: NoiseCipher?
    private var sending: NoiseCipher?
    /// The frames of the handshake that wait to be sent.
    private var clear: [UInt8] = []
    private var queue = PacketQueue()
    private var lastHeard: MonotonicInstant
    private var isPinged = false

    /// - Parameters:
    ///   - greeting: Our side of the hello. A client that was dialled gets it at once: by it Home Assistant chooses the key.
    init(
        _ id: ProxyClientID, _ peer: ProxyPeer, isDialled: Bool, secret: [UInt8], greeting: [UInt8],
        at now: MonotonicInstant
    ) {
        (self.id, self.peer, self.isDialled, self.secret) = (id, peer, isDialled, secret)
        (since, lastHeard) = (now, now)
        if isDialled { clear = greeting }
    }

    /// Whether the client has shown that it knows the key.
    var isReady: Bool { sending != nil }
    /// Bytes that wait.
    var queued: Int { queue.bytes }
    /// Whether there is something to write, and the client can take it.
    var hasOutput: Bool { !isBlocked && (!clear.isEmpty || !queue.isEmpty) }
    /// Whether the client asks for more than it reads.
    var isOverfull: Bool { queue.isOverfull }

    // MARK: Receiving

    /// Takes what the client has sent.
    ///
    /// - Parameter mayJoin: Whether there is room for one more client.
    /// - Returns: Its requests, in order.
    mutating func receive(
        _ bytes: [UInt8], key: ProxyKey, greeting: [UInt8], mayJoin: Bool, by primitives: any NoisePrimitives,
        at now: MonotonicInstant
    ) throws(End) -> [ProxyRequest] {
        (lastHeard, isPinged) = (now, false)
        frames.add(bytes)
        var requests: [ProxyRequest] = []
        while let frame = try nextFrame() {
            switch stage {
            case .hello: hear(frame, greeting)
            case .handshake(let prologue):
                try join(frame, NoiseHandshake(key: key.bytes, prologue: prologue, primitives: primitives), mayJoin)
            case .ready: requests.append(try request(frame, primitives))
            }
        }
        // What is longer than a handshake is none, whatever its frame says of its length.
        guard isReady || frames.waiting <= Self.longestHandshake else { throw .failed(.malformed) }
        return requests
    }

    private mutating func nextFrame() throws(End) -> [UInt8]? {
        do throws(ProxyFailure) {
            return try frames.next()
        } catch {
            throw isReady ? .broken : .failed(error)
        }
    }

    /// Both sides take the client's hello, which is empty in all known clients, for the beginning of what they have said.
    private mutating func hear(_ hello: [UInt8], _ greeting: [UInt8]) {
        let length = [UInt8(truncatingIfNeeded: hello.count >> 8), UInt8(truncatingIfNeeded: hello.count)]
        stage = .handshake(prologue: Array("NoiseAPIInit".utf8) + length + hello)
        if !isDialled { clear += greeting }
    }

    private mutating func join(_ frame: [UInt8], _ unread: NoiseHandshake, _ mayJoin: Bool) throws(End) {
        var handshake = unread
        // The first byte is the version of the handshake.
        guard frame.count >= NoiseHandshake.firstMessageLength + 1, frame[0] == 0 else { throw .failed(.malformed) }
        guard handshake.read(Array(frame[1...])) != nil, let answer = handshake.write([], secret: secret) else {
            throw .failed(.wrongKey)
        }
        guard mayJoin else { throw .failed(.tooManyClients) }
        clear += FrameReader.frame([0] + answer)
        let ciphers = handshake.split()
        (receiving, sending, stage, secret) = (ciphers.receiving, ciphers.sending, .ready, [])
    }

    private mutating func request(_ frame: [UInt8], _ primitives: any NoisePrimitives) throws(End) -> ProxyRequest {
        guard let plaintext = receiving?.open(frame, by: primitives), let parts = ProxyMessage.parts(of: plaintext)
        else { throw .broken }
        do throws(ProtobufReader.Malformed) {
            return try ProxyRequest(type: parts.type, payload: parts.payload)
        } catch {
            throw .broken
        }
    }

    // MARK: Sending

    mutating func answer(_ message: ProxyMessage, at now: MonotonicInstant) { queue.add(message, at: now) }

    mutating func add(_ batch: PacketBatch) { queue.add(batch) }

    /// Tells the client why it is refused.
    mutating func sayFarewell(_ failure: ProxyFailure) {
        guard let text = failure.farewell else { return }
        clear += FrameReader.frame([1] + text.utf8)
    }

    /// The client wants no packets any more.
    mutating func unsubscribe() {
        (isSubscribed, wantsActiveScan) = (false, false)
        queue.dropPackets()
    }

    /// Drops the packets that are too many or too old.
    ///
    /// - Returns: Their number.
    mutating func dropOld(at now: MonotonicInstant) -> Int {
        let count = queue.dropOld(at: now)
        dropped += UInt64(count)
        return count
    }

    /// Encrypts what waits, as much as one turn may take.
    ///
    /// - Returns: What is to be written now, and the number of packets in it.
    mutating func output(by primitives: any NoisePrimitives) -> (bytes: [UInt8], packets: Int) {
        guard !isBlocked else { return ([], 0) }
        var bytes = clear
        var packets = 0
        clear = []
        while bytes.count < Self.turnSize, isReady, let element = queue.popFirst() {
            guard let sealed = sending?.seal(element.message.plaintext, by: primitives) else { break }
            bytes += FrameReader.frame(sealed)
            packets += element.packets
        }
        sent += UInt64(packets)
        return (bytes, packets)
    }

    // MARK: Time

    /// When `isDead` or `ping` has to be asked again.
    var deadline: MonotonicInstant {
        guard isReady else { return since.advanced(by: Self.handshakeTime) }
        return lastHeard.advanced(by: isPinged ? Self.deadAfter : Self.pingAfter)
    }

    /// Whether the client has been silent for too long.
    func isDead(at now: MonotonicInstant) -> Bool {
        isReady ? lastHeard.duration(to: now) >= Self.deadAfter : deadline <= now
    }

    /// Asks a silent client whether it lives, once.
    mutating func ping(at now: MonotonicInstant) {
        guard isReady, !isPinged, deadline <= now else { return }
        isPinged = true
        answer(.ping, at: now)
    }
}
