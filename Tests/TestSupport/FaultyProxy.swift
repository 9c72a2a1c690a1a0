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
        /// Loses the n-th piece of what comes from the broker, and every n-th after it.
        case loses(every: Int)
    }

    private let listener: LoopbackPort.Listener
    private let brokerPort: UInt16
    private let behaviour: Mutex<Behaviour>
    private let connections = Mutex<[Int32]>([])
    private let accepted = Atomic<Int>(0)

    package var port: UInt16 { listener.port }

    /// Connections that clients have made so far.
    package var connectionCount: Int { accepted.load(ordering: .relaxed) }

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
            var pieces = 0
            while forward(broker, &pieces) {}
            proxy.connections.withLock { $0.removeAll(where: both.contains) }
            both.forEach { Glibc.close($0) }
        }

        /// Waits for a piece and passes it on, or not. false: it is over.
        private func forward(_ broker: Int32, _ pieces: inout Int) -> Bool {
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
                case .passes: break
                case .isSilent: continue
                case .hangsUp: return false
                case .loses(let every):
                    guard from == broker else { break }
                    pieces += 1
                    if pieces % every == 0 { continue }
                }
                guard Self.sendAll(buffer[..<count], to: to) else { return false }
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
