import Glibc
import Synchronization

/// A small broker of MQTT 3.1.1 and 5 for many clients, which refuses what its policy says, in the way that it says.
///
/// It has what the brokers of large providers and of home automation do and mosquitto does not: one client id for a login, ends of
/// connections in place of answers, and versions that are not spoken. It delivers messages with QoS 0 and retains none.
package final class PolicyBroker: Sendable {
    /// How something is refused, or not.
    package enum Verdict: Hashable, Sendable {
        case allowed
        /// With this code; a publication of MQTT 3.1.1 is taken and dropped, as such brokers do.
        case refused(UInt8)
        /// The connection ends without a word.
        case ends
        /// No answer comes.
        case silence
    }

    package struct Client: Hashable, Sendable {
        /// As the client says it.
        package let id: String
        /// 4 or 5.
        package let level: UInt8
    }

    package struct Message: Hashable, Sendable {
        package let topic: String
        package let payload: [UInt8]
        package let qos: UInt8
        package let isRetained: Bool

        package var text: String { String(decoding: payload, as: UTF8.self) }
    }

    package struct Policy: Sendable {
        package var connect: @Sendable (Client) -> Verdict = { _ in .allowed }
        package var subscribe: @Sendable (String) -> Verdict = { _ in .allowed }
        package var publish: @Sendable (Message) -> Verdict = { _ in .allowed }
        /// The client id that the broker uses. A client with that of another ends the other's connection.
        package var identity: @Sendable (Client) -> String = { $0.id }
        /// Properties of CONNACK in MQTT 5, such as the maximum QoS.
        package var properties: [UInt8] = []

        package init() {}
    }

    private struct State {
        var policy: Policy
        var connects: [Client] = []
        var messages: [Message] = []
        /// Descriptors and filters, by identity.
        var sessions: [String: (descriptor: Int32, level: UInt8, filters: Set<String>)] = [:]
    }

    private let listener: LoopbackPort.Listener
    private let state: Mutex<State>

    package var port: UInt16 { listener.port }

    package init(_ policy: Policy = Policy()) throws {
        listener = try LoopbackPort.Listener()
        state = Mutex(State(policy: policy))
        try start(Task(broker: self, client: nil))
    }

    /// The attempts to connect so far.
    package var connects: [Client] { state.withLock(\.connects) }
    /// The messages that it took.
    package var messages: [Message] { state.withLock(\.messages) }
    /// The policy from now on.
    package func change(_ policy: Policy) { state.withLock { $0.policy = policy } }
    /// Ends all connections.
    package func endAll() {
        state.withLock { for session in $0.sessions.values { shutdown(session.descriptor, Int32(SHUT_RDWR)) } }
    }
    /// No more connections are accepted.
    package func close() { shutdown(listener.descriptor, Int32(SHUT_RDWR)) }

    // MARK: Threads

    fileprivate final class Task: Sendable {
        let broker: PolicyBroker
        let client: Int32?
        init(broker: PolicyBroker, client: Int32?) { (self.broker, self.client) = (broker, client) }
    }

    private func start(_ task: Task) throws {
        let context = Unmanaged.passRetained(task)
        var thread = pthread_t()
        guard pthread_create(&thread, nil, runPolicyBroker, context.toOpaque()) == 0 else {
            context.release()
            throw SupportError("no thread for the broker")
        }
        pthread_detach(thread)
    }

    fileprivate func accept() {
        while true {
            let client = listener.accept()
            guard client >= 0 else { return }
            if (try? start(Task(broker: self, client: client))) == nil { Glibc.close(client) }
        }
    }

    fileprivate func serve(_ descriptor: Int32) {
        defer { Glibc.close(descriptor) }
        guard let first = PacketReader.read(descriptor), first.type == 1, let client = first.client else { return }
        let policy = state.withLock { state in
            state.connects.append(client)
            return state.policy
        }
        switch policy.connect(client) {
        case .allowed: break
        case .ends: return
        case .silence:
            _ = PacketReader.read(descriptor)
            return
        case .refused(let code):
            send(client.level == 5 ? [0x20, 3, 0, code, 0] : [0x20, 2, 0, code], to: descriptor)
            return
        }
        let identity = policy.identity(client)
        takeOver(identity, descriptor, client.level)
        defer {
            state.withLock { if $0.sessions[identity]?.descriptor == descriptor { $0.sessions[identity] = nil } }
        }
        let properties = policy.properties
        send(
            client.level == 5
                ? [0x20, UInt8(3 + properties.count), 0, 0, UInt8(properties.count)] + properties : [0x20, 2, 0, 0],
            to: descriptor)
        while let packet = PacketReader.read(descriptor) {
            guard answer(packet, client, identity, descriptor) else { return }
        }
    }

    private func takeOver(_ identity: String, _ descriptor: Int32, _ level: UInt8) {
        let old = state.withLock { state in
            defer { state.sessions[identity] = (descriptor, level, []) }
            return state.sessions[identity]
        }
        guard let old else { return }
        if old.level == 5 { send([0xe0, 2, 0x8e, 0], to: old.descriptor) }
        shutdown(old.descriptor, Int32(SHUT_RDWR))
    }

    // MARK: Packets

    /// - Returns: false: the connection ends.
    private func answer(_ packet: MQTTPacket, _ client: Client, _ identity: String, _ descriptor: Int32) -> Bool {
        let policy = state.withLock(\.policy)
        let isNew = client.level == 5
        switch packet.type {
        case 3:
            guard let (message, identifier) = packet.message(isNew: isNew) else { return false }
            var code: UInt8 = 0
            switch policy.publish(message) {
            case .allowed: take(message)
            case .refused(let reason): code = reason
            case .ends: return false
            case .silence: return true
            }
            if message.qos == 1 {
                send(isNew ? [0x40, 4] + identifier + [code, 0] : [0x40, 2] + identifier, to: descriptor)
            }
        case 8:
            guard let (filter, identifier) = packet.filter(isNew: isNew) else { return false }
            var code: UInt8 = 1
            switch policy.subscribe(filter) {
            case .allowed:
                state.withLock { state in _ = state.sessions[identity]?.filters.insert(filter) }
            case .refused(let reason): code = isNew ? reason : 0x80
            case .ends: return false
            case .silence: return true
            }
            send((isNew ? [0x90, 4] + identifier + [0] : [0x90, 3] + identifier) + [code], to: descriptor)
        case 10:
            send((isNew ? [0xb0, 4] : [0xb0, 2]) + packet.body.prefix(2) + (isNew ? [0, 0] : []), to: descriptor)
        case 12: send([0xd0, 0], to: descriptor)
        case 14: return false
        default: break
        }
        return true
    }

    private func take(_ message: Message) {
        let sessions = state.withLock { state in
            state.messages.append(message)
            return state.sessions.values.filter { $0.filters.contains { Self.matches($0, message.topic) } }
        }
        for session in sessions {
            let topic = Array(message.topic.utf8)
            let body =
                [UInt8(topic.count >> 8), UInt8(topic.count & 0xff)] + topic + (session.level == 5 ? [0] : [])
                + message.payload
            send([0x30] + MQTTPacket.length(body.count) + body, to: session.descriptor)
        }
    }

    private static func matches(_ filter: String, _ topic: String) -> Bool {
        let filter = filter.split(separator: "/", omittingEmptySubsequences: false)
        let topic = topic.split(separator: "/", omittingEmptySubsequences: false)
        for (index, level) in filter.enumerated() {
            if level == "#" { return true }
            guard index < topic.count, level == "+" || level == topic[index] else { return false }
        }
        return filter.count == topic.count
    }

    private func send(_ bytes: [UInt8], to descriptor: Int32) {
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}

/// A packet of MQTT: its type, its flags, and all after the length.
private struct MQTTPacket {
    let type: UInt8
    let flags: UInt8
    let body: [UInt8]

    /// Of a CONNECT.
    var client: PolicyBroker.Client? {
        guard body.count > 10 else { return nil }
        let level = body[6]
        var place = 10
        if level == 5, !skipProperties(&place) { return nil }
        guard let id = text(&place) else { return nil }
        return PolicyBroker.Client(id: id, level: level)
    }

    /// Of a PUBLISH, with its packet identifier.
    func message(isNew: Bool) -> (PolicyBroker.Message, [UInt8])? {
        var place = 0
        guard let topic = text(&place) else { return nil }
        let qos = flags >> 1 & 3
        var identifier: [UInt8] = []
        if qos > 0 {
            guard body.count >= place + 2 else { return nil }
            identifier = Array(body[place..<place + 2])
            place += 2
        }
        if isNew, !skipProperties(&place) { return nil }
        return (
            PolicyBroker.Message(
                topic: topic, payload: Array(body.dropFirst(place)), qos: qos, isRetained: flags & 1 == 1), identifier
        )
    }

    /// Of a SUBSCRIBE, with its packet identifier.
    func filter(isNew: Bool) -> (String, [UInt8])? {
        guard body.count > 4 else { return nil }
        var place = 2
        if isNew, !skipProperties(&place) { return nil }
        return text(&place).map { ($0, Array(body.prefix(2))) }
    }

    private func text(_ place: inout Int) -> String? {
        guard body.count >= place + 2 else { return nil }
        let count = Int(body[place]) << 8 | Int(body[place + 1])
        guard body.count >= place + 2 + count else { return nil }
        defer { place += 2 + count }
        return String(decoding: body[(place + 2)..<(place + 2 + count)], as: UTF8.self)
    }

    private func skipProperties(_ place: inout Int) -> Bool {
        var length = 0
        for shift in stride(from: 0, through: 21, by: 7) {
            guard body.indices.contains(place) else { return false }
            length |= Int(body[place] & 0x7f) << shift
            place += 1
            if body[place - 1] & 0x80 == 0 { break }
        }
        place += length
        return place <= body.count
    }

    static func length(_ count: Int) -> [UInt8] {
        var (rest, bytes): (Int, [UInt8]) = (count, [])
        repeat {
            bytes.append(UInt8(rest & 0x7f) | (rest > 0x7f ? 0x80 : 0))
            rest >>= 7
        } while rest > 0
        return bytes
    }
}

private enum PacketReader {
    static func read(_ client: Int32) -> MQTTPacket? {
        guard let first = read(client, count: 1)?.first else { return nil }
        var length = 0
        for shift in stride(from: 0, through: 21, by: 7) {
            guard let byte = read(client, count: 1)?.first else { return nil }
            length |= Int(byte & 0x7f) << shift
            if byte & 0x80 == 0 { break }
        }
        return read(client, count: length).map { MQTTPacket(type: first >> 4, flags: first & 0xf, body: $0) }
    }

    private static func read(_ client: Int32, count: Int) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        return count == 0 || recv(client, &buffer, count, Int32(MSG_WAITALL)) == count ? buffer : nil
    }
}

private func runPolicyBroker(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let task = Unmanaged<PolicyBroker.Task>.fromOpaque(context).takeRetainedValue()
    if let client = task.client { task.broker.serve(client) } else { task.broker.accept() }
    return nil
}
