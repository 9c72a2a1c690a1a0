import Base
import Configuration
import Glibc
import JSON
import Shell
import Status
import System

/// Queries a running service of this machine over its Unix socket, or a page at an address that the user named over TCP.
/// A minimal HTTP client is sufficient, because the answer is always short and complete.
struct StatusClient {
    /// Where requests are sent.
    private enum Target {
        /// The sockets on which the service of a state directory may listen, in the order of attempts.
        case sockets([LocalSocket], stateDirectory: String)
        case port(ListenAddress, token: String?)
    }

    private let target: Target
    /// The longest time for one question, from connecting to the last byte of the answer.
    private let limit: Duration

    /// The service of a state directory on this machine.
    init(stateDirectory: String, within limit: Duration = .seconds(5)) {
        target = .sockets(ControlSocket.candidates(for: stateDirectory), stateDirectory: stateDirectory)
        self.limit = limit
    }

    /// The page at an address that the user named. Whatever listens there gets the token.
    init(at address: ListenAddress, token: String?, within limit: Duration = .seconds(5)) {
        target = .port(address, token: token)
        self.limit = limit
    }

    /// The JSON at `path`.
    func ask(_ path: String) throws(Failure) -> JSONValue {
        let answer = try answer(to: "GET", path)
        return try json(answer)
    }

    private func json(_ answer: ServiceAnswer) throws(Failure) -> JSONValue {
        guard answer.status == 200 else { throw refusal(answer) }
        do {
            return try JSONValue(parsing: answer.body)
        } catch {
            throw stranger
        }
    }

    /// The state of the service, as far as the answer tells it.
    func status() throws(Failure) -> StatusSnapshot { StatusSnapshot(reading: try ask("/status.json")) }

    /// Requests a change that needs no further words.
    ///
    /// - Throws: `.badData` with the reason if the service refuses.
    func post(_ path: String) throws(Failure) {
        let answer = try answer(posting: path)
        guard answer.status == 204 else { throw refusal(answer) }
    }

    /// Requests a change that needs no further words, and is answered with JSON.
    ///
    /// - Throws: `.badData` with the reason if the service refuses.
    func order(_ path: String) throws(Failure) -> JSONValue { try json(answer(posting: path)) }

    private func answer(posting path: String) throws(Failure) -> ServiceAnswer {
        try answer(to: "POST", path, "Content-Type: application/json\r\nContent-Length: 2\r\n", "{}")
    }

    private func answer(
        to method: String, _ path: String, _ headers: String = "", _ body: String = ""
    ) throws(Failure) -> ServiceAnswer {
        let bytes = try exchange(
            "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(headers)", body)
        guard let answer = ServiceAnswer(bytes) else { throw stranger }
        return answer
    }

    private func refusal(_ answer: ServiceAnswer) -> Failure {
        let (status, body) = (answer.status, answer.body)
        // A character has at most four bytes, so none of those that are shown is cut.
        let reason =
            String(decoding: body.prefix(4 * 400), as: UTF8.self).prefix(400).split(separator: "\n").first ?? ""
        let code: ExitCode = status == 401 || status == 403 ? .noPermission : status == 422 ? .badData : .unavailable
        return Failure(
            code,
            "the service at \(name) refuses: \(Terminal.printable(String(reason)))"
                + (status == 401 ? " (only root and the service's own user can read it)" : ""))
    }

    private var name: String {
        switch target {
        case .sockets(let sockets, _): sockets.first?.path ?? ""
        case .port(let address, _): address.description
        }
    }

    private var stranger: Failure { Failure(.unavailable, "what answers at \(name) is not ibeacon-gateway") }

    private func exchange(_ head: String, _ body: String) throws(Failure) -> [UInt8] {
        let deadline = Clocks.now().advanced(by: limit)
        let connection = try connect(until: deadline)
        var request = head
        if case .port(_, let token?) = target { request += "Authorization: Bearer \(token)\r\n" }
        var rest = Array((request + "\r\n" + body).utf8)[...]
        while !rest.isEmpty {
            try wait(for: connection, POLLOUT, until: deadline)
            let count = rest.withUnsafeBytes {
                send(connection.descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { throw failure("does not listen: \(FileAccess.lastError)") }
            rest = rest.dropFirst(count)
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            try wait(for: connection, POLLIN, until: deadline)
            let count = recv(connection.descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else { throw failure("does not answer: \(FileAccess.lastError)") }
            guard count > 0 else { return answer }
            answer += buffer[..<count]
            guard answer.count <= 64 << 20 else { throw stranger }
        }
    }

    private func failure(_ text: String) -> Failure { Failure(.unavailable, "the service at \(name) \(text)") }

    private func wait(
        for connection: borrowing Connection, _ event: CInt, until deadline: MonotonicInstant
    ) throws(Failure) {
        while true {
            let left = Clocks.now().duration(to: deadline)
            guard left > .zero else {
                throw failure("does not answer: \(decimal(limit)) s have passed without a complete answer")
            }
            var request = pollfd(fd: connection.descriptor, events: Int16(event), revents: 0)
            if poll(&request, 1, CInt(clamping: Int64(saturating: left.inSeconds * 1000) + 1)) > 0 { return }
        }
    }

    // MARK: Connecting

    /// A non-blocking connection.
    private struct Connection: ~Copyable {
        let descriptor: CInt

        deinit { close(descriptor) }
    }

    private func connect(until deadline: MonotonicInstant) throws(Failure) -> Connection {
        switch target {
        case .sockets(let sockets, let stateDirectory):
            return try connect(sockets, stateDirectory, until: deadline)
        case .port(let address, _):
            return try connect(address, until: deadline)
        }
    }

    private func connect(
        _ sockets: [LocalSocket], _ stateDirectory: String, until deadline: MonotonicInstant
    ) throws(Failure) -> Connection {
        var reason = ""
        for socket in sockets {
            let connection = Connection(descriptor: LocalSocket.make(isBlocking: false))
            guard connection.descriptor >= 0 else { throw Failure(.software, "no socket: \(FileAccess.lastError)") }
            guard try connect(connection, to: socket, until: deadline) else {
                reason = "\(socket.path): \(FileAccess.lastError)"
                continue
            }
            // Root must not believe another user who listens in place of the service.
            let peer = LocalSocket.peer(of: connection.descriptor)
            guard let peer, ControlSocket.isTrusted(peer, owner: ControlSocket.owner(of: stateDirectory)) else {
                throw Failure(
                    .noPermission,
                    "user \(peer.map { "\($0)" } ?? "unknown") listens at \(socket.path), and the service has another "
                        + "user; it is not asked")
            }
            return connection
        }
        throw Failure(
            .unavailable,
            "the service does not run, or not with this state directory (\(reason)); "
                + Self.start(stateDirectory))
    }

    /// How the service of a state directory is started. systemd names the unit, its state and its runtime directory alike.
    static func start(_ stateDirectory: String) -> String {
        let name = String(stateDirectory.split(separator: "/").last ?? "")
        let isOfUnit = stateDirectory == "/var/lib/\(name)" && name.hasPrefix("ibeacon-gateway")
        return isOfUnit
            ? "start it with: sudo systemctl start \(ShellWord.of(name))"
            : "start it with --state-dir \(ShellWord.of(stateDirectory))"
    }

    /// The pause before a service that is busy is asked again.
    private static let pause: Duration = .milliseconds(50)

    /// - Returns: false with `errno` if nobody listens at the socket.
    private func connect(
        _ connection: borrowing Connection, to socket: LocalSocket, until deadline: MonotonicInstant
    ) throws(Failure) -> Bool {
        while socket.connect(connection.descriptor) != 0 {
            guard errno == EAGAIN else { return false }
            // The service listens, and other programs hold all places.
            let left = Clocks.now().duration(to: deadline)
            guard left > .zero else {
                throw Failure(
                    .temporaryFailure,
                    "the service at \(socket.path) runs, but other programs hold all its connections, and for "
                        + "\(decimal(limit)) s none became free; see who they are: sudo ss -xp src \(socket.path)")
            }
            usleep(UInt32(clamping: min(left, Self.pause).nanoseconds / 1000))
        }
        return true
    }

    private func connect(_ address: ListenAddress, until deadline: MonotonicInstant) throws(Failure) -> Connection {
        // A service that listens on all addresses also listens on loopback.
        let figures =
            ["localhost", "*", "", "0.0.0.0"].contains(address.host)
            ? "127.0.0.1" : address.host == "::" ? "::1" : address.host
        var code = EINVAL
        var connection = Connection(descriptor: -1)
        if let target = NetworkAddress(host: figures, port: address.port) {
            do throws(SystemError) {
                connection = Connection(descriptor: try target.makeSocket())
                code = try target.connect(connection.descriptor) ? 0 : EINPROGRESS
            } catch {
                code = error.code
            }
        }
        if code == EINPROGRESS {
            try wait(for: connection, POLLOUT, until: deadline)
            var length = socklen_t(MemoryLayout<CInt>.size)
            getsockopt(connection.descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        }
        guard code == 0 else {
            throw Failure(.unavailable, "nothing answers at \(address): \(systemMessage(code))")
        }
        return connection
    }

    /// A text, percent-encoded for a query (RFC 3986, 2.1).
    static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                result.unicodeScalars.append(UnicodeScalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + (digits.utf8.count < 2 ? "0" : "") + digits
            }
        }
    }
}
