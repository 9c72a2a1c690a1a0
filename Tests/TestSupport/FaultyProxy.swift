import Glibc
import Synchronization

/// Stands between a client and a broker and does what networks do: passes, cuts, falls silent, loses.
package final class FaultyProxy: Sendable {
    package enum Behaviour: Sendable {
        case passes
        /// Accepts and reads, and never says a word.
        case isSilent
        /// Closes each connection as soon as the client has said something.
        case hangsUp
        /// Loses the n-th packet of MQTT that comes from the broker on a connection, and every n-th after it.
        case loses(every: Int)
        /// Reads what the client says, and passes on only what the broker says.
        case swallows
    }

    private let listener: LoopbackPort.Listener
    private let brokerPort: UInt16
    private let behaviour: Mutex<Behaviour>
    private let connections = Mutex<[Int32]>([])
    private let accepted = Atomic<Int>(0)
    private let lost = Atomic<Int>(0)

    package var port: UInt16 { listener.port }

    /// Connections that clients have made so far.
    package var connectionCount: Int { accepted.load(ordering: .relaxed) }

    /// Packets that were lost on purpose so far.
    package var lostCount: Int { lost.load(ordering: .relaxed) }

    package init(to brokerPort: UInt16, _ behaviour: Behaviour = .passes) throws {
        listener = try LoopbackPort.Listener()
        self.brokerPort = brokerPort
        self.behaviour = Mutex(behaviour)
        let context = Unmanaged.passRetained(self)
        var thread = pthread_t()
        guard pthread_create(&thread, nil, runProxy, context.toOpaque()) == 0 else {
            context.release()
            throw SupportError("no thread for the proxy")
        }
        pthread_detach(thread)
    }

    package func behave(_ new: Behaviour) { behaviour.withLock { $0 = new } }

    /// Breaks every connection that there is, without a good-bye in either direction.
    package func cut() {
        connections.withLock { $0.forEach { shutdown($0, Int32(SHUT_RDWR)) } }
    }

    /// Ends it for good.
    package func close() {
        shutdown(listener.descriptor, Int32(SHUT_RDWR))
        cut()
    }

    fileprivate func accept() {
        while true {
            let client = listener.accept()
            guard client >= 0 else { return }
            accepted.add(1, ordering: .relaxed)
            let context = Unmanaged.passRetained(Connection(proxy: self, client: client))
            var thread = pthread_t()
            guard pthread_create(&thread, nil, runConnection, context.toOpaque()) == 0 else {
                context.release()
                continue
            }
            pthread_detach(thread)
        }
    }

    /// A stream of MQTT, cut into its packets. What is not MQTT (TLS, say) must not be lost by the packet.
    fileprivate struct Packets {
        private var rest: [UInt8] = []
        private var counted = 0

        /// - Returns: the packets that are whole by now.
        mutating func take(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
            rest += bytes
            var whole: [[UInt8]] = []
            while let size = Self.size(rest), size <= rest.count {
                whole.append(Array(rest.prefix(size)))
                rest.removeFirst(size)
            }
            return whole
        }

        /// What was kept back because it was not whole yet.
        mutating func takeRest() -> ArraySlice<UInt8> {
            defer { rest = [] }
            return rest[...]
        }

        /// Whether this is the n-th.
        mutating func count(_ every: Int) -> Bool {
            counted += 1
            return counted.isMultiple(of: every)
        }

        /// MQTT 3.1.1, section 2.2: a byte, then the length of what follows in one to four bytes.
        private static func size(_ bytes: [UInt8]) -> Int? {
            var length = 0
            for (index, byte) in bytes.dropFirst().prefix(4).enumerated() {
                length |= Int(byte & 0x7f) << (7 * index)
                if byte & 0x80 == 0 { return 2 + index + length }
            }
            return nil
        }
    }

    fileprivate final class Connection: Sendable {
        let proxy: FaultyProxy
        let client: Int32

        init(proxy: FaultyProxy, client: Int32) {
            self.proxy = proxy
            self.client = client
        }

        func run() {
            let broker = LoopbackPort.connect(proxy.brokerPort)
            let both = [client, broker].filter { $0 >= 0 }
            proxy.connections.withLock { $0 += both }
            var packets = Packets()
            while forward(broker, &packets) {}
            proxy.connections.withLock { $0.removeAll(where: both.contains) }
            both.forEach { Glibc.close($0) }
        }

        /// Waits for a piece and passes it on, or not. false: it is over.
        private func forward(_ broker: Int32, _ packets: inout Packets) -> Bool {
            var watched = [
                pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                pollfd(fd: broker, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&watched, 2, -1) > 0 else { return errno == EINTR }
            for (index, (from, to)) in [(client, broker), (broker, client)].enumerated()
            where watched[index].revents != 0 {
                var buffer = [UInt8](repeating: 0, count: 65536)
                let count = recv(from, &buffer, buffer.count, 0)
                guard count > 0 else { return false }
                switch proxy.behaviour.withLock({ $0 }) {
                case .isSilent: continue
                case .swallows where from == client: continue
                case .hangsUp: return false
                case .loses(let every) where from == broker:
                    for packet in packets.take(buffer[..<count]) {
                        if packets.count(every) {
                            proxy.lost.add(1, ordering: .relaxed)
                        } else if !Self.sendAll(packet[...], to: to) {
                            return false
                        }
                    }
                case .passes, .loses, .swallows:
                    let begun = from == broker ? packets.takeRest() : []
                    guard Self.sendAll(begun + buffer[..<count], to: to) else { return false }
                }
            }
            return true
        }

        private static func sendAll(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
            var rest = bytes
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }
}

private func runProxy(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<FaultyProxy>.fromOpaque(context).takeRetainedValue().accept()
    return nil
}

private func runConnection(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<FaultyProxy.Connection>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
