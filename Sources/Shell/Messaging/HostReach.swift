import Base
import Glibc
import System

/// Whether a host's name has addresses, and whether one of them accepts connections.
package enum HostReach {
    /// The result of a probe.
    package enum Verdict {
        /// With the resolver's words.
        case unknownName(String)
        /// The last address that was tried, and the system's words.
        case unreachable(address: String, reason: String)
        case reached(address: String)
    }

    /// Tries every address of the host in turn. The resolver takes as long as it takes; each address gets `patience`.
    package static func probe(_ host: String, port: UInt16, patience: Duration = .seconds(5)) -> Verdict {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, "\(port)", &hints, &list)
        guard result == 0, let list else { return .unknownName(String(cString: gai_strerror(result))) }
        defer { freeaddrinfo(list) }
        var verdict = Verdict.unknownName("it has no address")
        var next: UnsafeMutablePointer<addrinfo>? = list
        while let entry = next?.pointee {
            let text = address(of: entry)
            do throws(SystemError) {
                try connect(entry, within: patience)
                return .reached(address: text)
            } catch {
                verdict = .unreachable(address: text, reason: error.message)
            }
            next = entry.ai_next
        }
        return verdict
    }

    private static func connect(_ entry: addrinfo, within patience: Duration) throws(SystemError) {
        let type = entry.ai_socktype | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = try systemCall("socket") { socket(entry.ai_family, type, entry.ai_protocol) }
        defer { close(descriptor) }
        do throws(SystemError) {
            try systemCall("connect") { Glibc.connect(descriptor, entry.ai_addr, entry.ai_addrlen) }
            return
        } catch {
            guard error.code == EINPROGRESS else { throw error }
        }
        let end = Clocks.now().advanced(by: patience)
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        let ready = try systemCall("poll") { poll(&waiting, 1, Clocks.now().milliseconds(until: end)) }
        guard ready > 0 else { throw SystemError("connect", code: ETIMEDOUT) }
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        try systemCall("getsockopt") { getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) }
        guard code == 0 else { throw SystemError("connect", code: code) }
    }

    private static func address(of entry: addrinfo) -> String {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let result = getnameinfo(
            entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
        guard result == 0 else { return "an address that cannot be shown" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
