import Base
package import BluetoothProxy
package import Encryption
import Glibc
package import Runtime
package import System

/// The sockets of a Bluetooth proxy on the event loop: the one that listens, those of the clients, and those that dial Home Assistant.
/// What they mean, `ProxyServer` decides. Nothing waits: a turn takes at most `mostAccepted` connections, or reads 4 kB.
///
/// Without it there is no socket, no timer and no memory.
package final class ProxyLink {
    /// Connections that are taken in one turn.
    private static let mostAccepted = 16
    /// Connections that the kernel keeps until they are taken.
    private static let backlog: CInt = 256
    /// The longest time for which a dial waits for an answer.
    private static let dialTime: Duration = .seconds(5)
    /// The time without new connections after the machine had no descriptor left for one.
    private static let acceptPause: Duration = .seconds(1)
    /// Less than the time for which packets wait for others.
    private static let tolerance: Duration = .milliseconds(2)

    /// Called for the effects that concern no socket: `listen`, `scanActively`, `adopted`, `note`.
    package var onEffect: (ProxyServer.Effect) -> Void = { _ in }
    /// The port, also where 0 was asked for.
    package let port: UInt16

    private let loop: EventLoop
    private let functions: NoiseFunctions
    /// Why an address may have no packets; nil: it may.
    private let refusal: (String) -> String?
    private var server: ProxyServer
    private var listening: ProxySocket?
    private var listeningWatch: DescriptorWatch?
    private var sockets: [ProxyClientID: ProxySocket] = [:]
    private var lastID: UInt64 = 0
    private var timer: LoopTimer?
    /// When the timer fires; nil: it is off.
    private var armed: MonotonicInstant?
    private var acceptsAgain: MonotonicInstant?
    private var inputs: [ProxyServer.Input] = []
    private var isHandling = false

    /// Listens at once.
    ///
    /// - Parameters:
    ///   - host: The address in figures; `*` for all of IPv4, `::` for all.
    ///   - port: 0 for any free one.
    ///   - refusal: Why an address may have no packets, as the end of a sentence; nil: it may. Called once for each connection.
    /// - Throws: EINVAL for a name, EADDRINUSE, EADDRNOTAVAIL, EACCES.
    package init(
        _ settings: ProxySettings, key: ProxyKey, functions: NoiseFunctions, host: String, port: UInt16,
        loop: EventLoop,
        refusal: @escaping (String) -> String?
    ) throws(SystemError) {
        guard let address = NetworkAddress(host: host == "*" ? "0.0.0.0" : host, port: port) else {
            throw SystemError("listen", code: EINVAL)
        }
        (self.loop, self.functions, self.refusal) = (loop, functions, refusal)
        server = ProxyServer(settings, key: key, primitives: functions)
        let descriptor = try address.listen(backlog: Self.backlog)
        listening = ProxySocket(descriptor)
        self.port = try NetworkAddress.own(of: descriptor).port
        timer = try loop.timer(tolerance: Self.tolerance) { [unowned self] _ in elapsed() }
        listeningWatch = try loop.watch(descriptor) { [unowned self] _ in acceptClients() }
        try listeningWatch?.goLast()
    }

    deinit { listeningWatch = nil }

    package var status: ProxyStatus { server.status }

    /// Passes an input to the server, and carries out what it decides. An input from within `onEffect` is handled after it.
    package func handle(_ input: ProxyServer.Input) {
        inputs.append(input)
        guard !isHandling else { return }
        isHandling = true
        while !inputs.isEmpty {
            for effect in server.handle(inputs.removeFirst(), at: Clocks.now()) { carryOut(effect) }
        }
        isHandling = false
        arm()
    }

    /// Says good-bye to all clients. The link is not used any more. Not from within `onEffect`.
    package func stop() {
        handle(.stop)
        (timer, listeningWatch) = (nil, nil)
        listening = nil
        sockets = [:]
    }

    private func carryOut(_ effect: ProxyServer.Effect) {
        switch effect {
        case .send(let id, let bytes): send(bytes, to: id)
        case .close(let id): sockets[id] = nil
        case .dial(let address): dial(address)
        case .listen, .scanActively, .adopted, .note: onEffect(effect)
        }
    }

    // MARK: Time

    private func arm() {
        var next = server.nextDeadline
        if let again = acceptsAgain { next = min(next ?? again, again) }
        for socket in sockets.values {
            if let until = socket.dialled?.until { next = min(next ?? until, until) }
        }
        guard next != armed else { return }
        armed = next
        guard let next else {
            timer?.disarm()
            return
        }
        // The kernel refuses this only without memory; the next input tries again.
        do throws(SystemError) { try timer?.arm(at: next) } catch { armed = nil }
    }

    private func elapsed() {
        armed = nil
        let now = Clocks.now()
        if let again = acceptsAgain, again <= now {
            acceptsAgain = nil
            try? listeningWatch?.update(.readable)
        }
        for (id, socket) in sockets {
            if let dialled = socket.dialled, dialled.until <= now { notDialled(dialled.address, id) }
        }
        handle(.tick)
    }

    // MARK: New connections

    private func nextID() -> ProxyClientID {
        lastID += 1
        return ProxyClientID(lastID)
    }

    private func peer(_ address: String) -> ProxyPeer { ProxyPeer(address: address, refusal: refusal(address)) }

    private func acceptClients() {
        guard let listening else { return }
        for _ in 0..<Self.mostAccepted {
            do throws(SystemError) {
                let (descriptor, peer) = try NetworkAddress.accept(listening.descriptor)
                let (id, socket) = (nextID(), ProxySocket(descriptor))
                guard watch(socket, id) else { continue }
                handle(.accepted(id, self.peer(peer.text), secret: functions.random()))
            } catch {
                switch error.code {
                case EAGAIN: return
                case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                    acceptsAgain = Clocks.now().advanced(by: Self.acceptPause)
                    try? listeningWatch?.update([])
                    return arm()
                // The client is gone already, or its network is.
                default: continue
                }
            }
        }
    }

    private func dial(_ address: String) {
        let id = nextID()
        do throws(SystemError) {
            guard let destination = NetworkAddress(host: address, port: ProxySettings.dialPort) else {
                throw SystemError("connect", code: EINVAL)
            }
            let socket = ProxySocket(try destination.makeSocket())
            socket.dialled = (address, Clocks.now().advanced(by: Self.dialTime))
            let isConnected = try destination.connect(socket.descriptor)
            guard watch(socket, id, for: isConnected ? .readable : .writable) else {
                throw SystemError("epoll_ctl", code: ENOMEM)
            }
            if isConnected { reached(socket, id) }
        } catch {
            notDialled(address, id)
        }
    }

    private func reached(_ socket: ProxySocket, _ id: ProxyClientID) {
        guard let address = socket.dialled?.address else { return }
        guard socket.connectionError() == 0, (try? socket.renewInterest()) != nil else {
            return notDialled(address, id)
        }
        socket.dialled = nil
        handle(.dialled(id, peer(address), secret: functions.random()))
    }

    private func notDialled(_ address: String, _ id: ProxyClientID) {
        sockets[id] = nil
        handle(.notDialled(address: address))
    }

    /// - Returns: Whether the socket is watched, and kept.
    private func watch(_ socket: ProxySocket, _ id: ProxyClientID, for interest: Readiness = .readable) -> Bool {
        do throws(SystemError) {
            let watch = try loop.watch(socket.descriptor, for: interest) { [unowned self] in ready($0, id) }
            // Radio, store and broker are handled first.
            try watch.goLast()
            socket.attach(watch)
        } catch {
            return false
        }
        sockets[id] = socket
        return true
    }

    // MARK: Bytes

    private func ready(_ readiness: Readiness, _ id: ProxyClientID) {
        guard let socket = sockets[id] else { return }
        guard socket.dialled == nil else { return reached(socket, id) }
        if readiness.contains(.writable) { resume(socket, id) }
        // Also what has failed or was hung up is read, so that its last bytes are not lost.
        guard readiness != .writable, sockets[id] != nil else { return }
        switch socket.read() {
        case .bytes(let bytes): handle(.received(id, bytes))
        case .nothing: break
        case .ended: ended(id)
        }
    }

    private func send(_ bytes: [UInt8], to id: ProxyClientID) {
        guard let socket = sockets[id] else { return }
        do throws(SystemError) {
            let wasBlocked = socket.isBlocked
            try socket.write(bytes)
            guard socket.isBlocked, !wasBlocked else { return }
            try socket.renewInterest()
            handle(.blocked(id))
        } catch {
            ended(id)
        }
    }

    private func resume(_ socket: ProxySocket, _ id: ProxyClientID) {
        do throws(SystemError) {
            try socket.write()
            guard !socket.isBlocked else { return }
            try socket.renewInterest()
            handle(.drained(id))
        } catch {
            ended(id)
        }
    }

    private func ended(_ id: ProxyClientID) {
        sockets[id] = nil
        handle(.closed(id))
    }
}

extension NoiseFunctions: NoisePrimitives {}
