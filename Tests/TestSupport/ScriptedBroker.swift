import Glibc
import Synchronization

/// Speaks just enough MQTT 3.1.1 to answer as no well-behaved broker would.
package final class ScriptedBroker: Sendable {
    package enum Reply: Sendable {
        case bytes([UInt8])
        case hangUp
    }

    /// A packet of a client: the type (the upper four bits of the first byte) and all after the length.
    package struct Packet: Sendable {
        package let type: UInt8
        package let flags: UInt8
        package let body: [UInt8]

        /// Of a PUBLISH.
        package var topic: String {
            guard body.count >= 2 else { return "" }
            let count = Int(body[0]) << 8 | Int(body[1])
            return String(decoding: body.dropFirst(2).prefix(count), as: UTF8.self)
        }

        /// The two bytes of the packet identifier of a PUBLISH with QoS 1, or of a SUBSCRIBE.
        package var identifier: [UInt8] {
            let start = type == 3 ? 2 + topic.utf8.count : 0
            return Array(body.dropFirst(start).prefix(2))
        }
    }

    private let listener: LoopbackPort.Listener
    private let reply: @Sendable (Packet) -> Reply

    package var port: UInt16 { listener.port }

    /// - Parameter reply: what to answer; nothing, for an empty array.
    package init(reply: @escaping @Sendable (Packet) -> Reply) throws {
        listener = try LoopbackPort.Listener()
        self.reply = reply
        let context = Unmanaged.passRetained(self)
        var thread = pthread_t()
        guard pthread_create(&thread, nil, runBroker, context.toOpaque()) == 0 else {
            context.release()
            throw SupportError("no thread for the broker")
        }
        pthread_detach(thread)
    }

    /// What a well-behaved broker answers.
    package static func politely(_ packet: Packet) -> Reply {
        switch packet.type {
        case 1: .bytes([0x20, 2, 0, 0])
        case 3 where packet.flags & 0b110 == 0b010: .bytes([0x40, 2] + packet.identifier)
        case 8: .bytes([0x90, 3] + packet.identifier + [1])
        case 10: .bytes([0xb0, 2] + packet.identifier)
        case 12: .bytes([0xd0, 0])
        case 14: .hangUp
        default: .bytes([])
        }
    }

    /// No more connections are accepted.
    package func close() { shutdown(listener.descriptor, Int32(SHUT_RDWR)) }

    /// One client at a time.
    fileprivate func serve() {
        while true {
            let client = listener.accept()
            guard client >= 0 else { return }
            while let packet = Self.read(client), case .bytes(let answer) = reply(packet) {
                guard answer.isEmpty || send(client, answer, answer.count, Int32(MSG_NOSIGNAL)) == answer.count else {
                    break
                }
            }
            Glibc.close(client)
        }
    }

    private static func read(_ client: Int32) -> Packet? {
        guard let first = read(client, count: 1)?.first else { return nil }
        var length = 0
        for shift in stride(from: 0, through: 21, by: 7) {
            guard let byte = read(client, count: 1)?.first else { return nil }
            length |= Int(byte & 0x7f) << shift
            guard byte & 0x80 != 0 else { break }
        }
        guard let body = read(client, count: length) else { return nil }
        return Packet(type: first >> 4, flags: first & 0xf, body: body)
    }

    private static func read(_ client: Int32, count: Int) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        return count == 0 || recv(client, &buffer, count, Int32(MSG_WAITALL)) == count ? buffer : nil
    }
}

private func runBroker(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<ScriptedBroker>.fromOpaque(context).takeRetainedValue().serve()
    return nil
}
