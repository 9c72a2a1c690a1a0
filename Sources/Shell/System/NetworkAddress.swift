import CSystem
import Glibc

/// The numeric address of a host, and a port. Names are not looked up: that would make the loop wait.
package struct NetworkAddress {
    private var storage = sockaddr_storage()
    private var length: socklen_t = 0

    /// - Parameter host: An address in figures; of a link-local one with its interface (`fe80::1%eth0`).
    /// - Returns: nil for a name.
    package init?(host: String, port: UInt16) {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &list) == 0, let list else { return nil }
        defer { freeaddrinfo(list) }
        length = min(list.pointee.ai_addrlen, Self.capacity)
        guard let address = list.pointee.ai_addr else { return nil }
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(length)))
        }
    }

    private init() {}

    private static var capacity: socklen_t { socklen_t(MemoryLayout<sockaddr_storage>.size) }

    private static let flags = CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)

    /// A new socket of the address's family, which never blocks.
    package func makeSocket(isDatagram: Bool = false) throws(SystemError) -> CInt {
        let kind = CInt((isDatagram ? SOCK_DGRAM : SOCK_STREAM).rawValue)
        return try systemCall("socket") { socket(CInt(storage.ss_family), kind | Self.flags, 0) }
    }

    /// A new socket that listens at the address, also if connections of an earlier program at it have not ended yet.
    ///
    /// - Parameter backlog: Connections that may wait.
    package func listen(backlog: CInt) throws(SystemError) -> CInt {
        let descriptor = try makeSocket()
        do throws(SystemError) {
            var on: CInt = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<CInt>.size))
            try systemCall("bind") { pass { Glibc.bind(descriptor, $0, $1) } }
            try systemCall("listen") { Glibc.listen(descriptor, backlog) }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// - Returns: Whether the connection stands already.
    package func connect(_ descriptor: CInt) throws(SystemError) -> Bool {
        guard pass({ Glibc.connect(descriptor, $0, $1) }) != 0 else { return true }
        // After EINTR the connection goes on being made.
        guard errno == EINPROGRESS || errno == EINTR else { throw SystemError("connect", code: errno) }
        return false
    }

    /// Takes a waiting connection.
    ///
    /// - Throws: EAGAIN if none waits.
    package static func accept(_ listening: CInt) throws(SystemError) -> (descriptor: CInt, peer: NetworkAddress) {
        var peer = NetworkAddress()
        peer.length = capacity
        let descriptor = try systemCall("accept4") {
            withUnsafeMutablePointer(to: &peer.storage) { accept_connection(listening, $0, &peer.length, flags) }
        }
        return (descriptor, peer)
    }

    /// The address of this machine that a socket has.
    package static func own(of descriptor: CInt) throws(SystemError) -> NetworkAddress {
        var own = NetworkAddress()
        own.length = capacity
        try systemCall("getsockname") {
            withUnsafeMutablePointer(to: &own.storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &own.length) }
            }
        }
        return own
    }

    package var port: UInt16 {
        // It has the same offset in both address families.
        withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self)) }
    }

    /// The address in figures, without the port. An IPv4 address that came over IPv6 is written as one.
    package var text: String {
        var space = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let result = pass { getnameinfo($0, $1, &space, socklen_t(space.count), nil, 0, NI_NUMERICHOST) }
        guard result == 0 else { return "" }
        let text = String(decoding: space.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return text.hasPrefix("::ffff:") ? String(text.dropFirst(7)) : text
    }

    private func pass(_ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
