import Configuration
import Glibc
import JSON
import Shell
import System

/// Queries the running service over its HTTP port. A minimal HTTP client is sufficient, because the answer is always
/// short, complete and from this machine.
struct StatusClient {
    private let address: ListenAddress
    private let token: String?
    /// Seconds to wait for the next bytes of the answer.
    private static let patience = 10

    /// - Throws: if the configuration gives the service no port.
    init(_ settings: Settings) throws(Failure) {
        guard let address = settings.configuration.statusPage else {
            throw Failure(
                .unavailable,
                "the configuration switches HTTP off ('http' is null), so the service cannot be asked; "
                    + "'ibeacon-gateway history' and 'ibeacon-gateway regions list' need no service")
        }
        self.address = address
        // A user who may not read the token may still query the service on loopback.
        token = try? StatusToken.read(in: settings.stateDirectory)
    }

    /// A service of this machine that needs no token from here.
    init(local address: ListenAddress) {
        self.address = address
        token = nil
    }

    /// The JSON at `path`.
    func ask(_ path: String) throws(Failure) -> JSONValue {
        let answer = try exchange(path)
        guard let end = Self.endOfHead(in: answer), answer.starts(with: Array("HTTP/1.1 ".utf8)) else {
            throw Failure(.unavailable, "what answers on \(address) is not ibeacon-gateway")
        }
        let head = String(decoding: answer[..<end], as: UTF8.self)
        let body = Array(answer[(end + 4)...])
        let status = Int(head.dropFirst(9).prefix(3)) ?? 0
        guard status == 200 else {
            let reason = String(decoding: body.prefix(200), as: UTF8.self).split(separator: "\n").first ?? ""
            let isToken = status == 401
            throw Failure(
                isToken ? .noPermission : .unavailable,
                "the service on \(address) refuses: \(Terminal.printable(String(reason)))"
                    + (isToken ? " (only root and the service's own user can read it)" : ""))
        }
        do {
            return try JSONValue(parsing: body)
        } catch {
            throw Failure(.unavailable, "what answers on \(address) is not ibeacon-gateway")
        }
    }

    private func exchange(_ path: String) throws(Failure) -> [UInt8] {
        let descriptor = try connect()
        defer { close(descriptor) }
        var request = "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        if let token { request += "Authorization: Bearer \(token)\r\n" }
        let bytes = Array((request + "\r\n").utf8)
        guard send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count else {
            throw Failure(.unavailable, "the service on \(address) does not listen: \(FileAccess.lastError)")
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                let reason = errno == EAGAIN ? "no byte for \(Self.patience) s" : FileAccess.lastError
                throw Failure(.unavailable, "the service on \(address) does not answer: \(reason)")
            }
            guard count > 0 else { return answer }
            answer += buffer[..<count]
            guard answer.count <= 64 << 20 else {
                throw Failure(.unavailable, "what answers on \(address) is not ibeacon-gateway")
            }
        }
    }

    private func connect() throws(Failure) -> CInt {
        let isIPv6 = address.host.contains(":")
        let descriptor = socket(
            isIPv6 ? AF_INET6 : AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(.software, "no socket: \(FileAccess.lastError)") }
        var patience = timeval(tv_sec: Self.patience, tv_usec: 0)
        let length = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, length)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, length)
        guard (isIPv6 ? connectIPv6(descriptor) : connectIPv4(descriptor)) == 0 else {
            let reason = FileAccess.lastError
            close(descriptor)
            throw Failure(
                .unavailable,
                "the service does not run, or not with this configuration: no answer on \(address) (\(reason)); "
                    + "start it with: systemctl start ibeacon-gateway")
        }
        return descriptor
    }

    private func connectIPv4(_ descriptor: CInt) -> CInt {
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = address.port.bigEndian
        // A service that listens on all addresses also listens on loopback.
        let figures = ["localhost", "*", "", "0.0.0.0"].contains(address.host) ? "127.0.0.1" : address.host
        guard inet_pton(AF_INET, figures, &target.sin_addr) == 1 else { return -1 }
        return withUnsafeBytes(of: &target) { connect(descriptor, to: $0) }
    }

    private func connectIPv6(_ descriptor: CInt) -> CInt {
        var target = sockaddr_in6()
        target.sin6_family = sa_family_t(AF_INET6)
        target.sin6_port = address.port.bigEndian
        guard inet_pton(AF_INET6, address.host == "::" ? "::1" : address.host, &target.sin6_addr) == 1 else {
            return -1
        }
        return withUnsafeBytes(of: &target) { connect(descriptor, to: $0) }
    }

    private func connect(_ descriptor: CInt, to target: UnsafeRawBufferPointer) -> CInt {
        guard let base = target.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
        return Glibc.connect(descriptor, base, socklen_t(target.count))
    }

    /// The beginning of the empty line after the headers.
    private static func endOfHead(in answer: [UInt8]) -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        guard answer.count >= mark.count else { return nil }
        return (0...(answer.count - mark.count)).first { Array(answer[$0..<($0 + mark.count)]) == mark }
    }

    /// Any text as part of a query (RFC 3986, 2.1).
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
