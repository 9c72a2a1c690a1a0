package import Configuration
import Glibc

extension ListenAddress {
    /// The numeric address. Names are not looked up, because the answer could be any address.
    private var figures: String {
        switch host {
        case "localhost": "127.0.0.1"
        case "*", "": "0.0.0.0"
        default: host
        }
    }

    private var isIPv6: Bool { isIPv6Address(figures) }

    /// Whether only this machine can reach the address.
    package var isLoopback: Bool {
        isIPv6 ? figures == "::1" || figures.hasPrefix("::ffff:127.") : figures.hasPrefix("127.")
    }

    /// Opens a listening socket.
    ///
    /// - Throws: `StatusServerError.listen` with the kernel's reason.
    func open() throws(StatusServerError) -> (descriptor: CInt, port: UInt16) {
        guard isIPv6 || isIPv4Address(figures) else { throw .notAnAddress(host) }
        let family = isIPv6 ? AF_INET6 : AF_INET
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { throw .listen(address: description, errno: errno) }
        var on: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<CInt>.size))
        let isBound = isIPv6 ? bindIPv6(descriptor) : bindIPv4(descriptor)
        guard isBound, listen(descriptor, 128) == 0, let port = boundPort(of: descriptor) else {
            let reason = errno
            close(descriptor)
            throw .listen(address: description, errno: reason)
        }
        return (descriptor, port)
    }

    private func bindIPv4(_ descriptor: CInt) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        guard inet_pton(AF_INET, figures, &address.sin_addr) == 1 else { return false }
        return withUnsafeBytes(of: &address) { bindSocket(descriptor, $0) }
    }

    private func bindIPv6(_ descriptor: CInt) -> Bool {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        guard inet_pton(AF_INET6, figures, &address.sin6_addr) == 1 else { return false }
        return withUnsafeBytes(of: &address) { bindSocket(descriptor, $0) }
    }
}

private func bindSocket(_ descriptor: CInt, _ address: UnsafeRawBufferPointer) -> Bool {
    guard let base = address.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
    return bind(descriptor, base, socklen_t(address.count)) == 0
}

private func boundPort(of descriptor: CInt) -> UInt16? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let isKnown = withUnsafeMutablePointer(to: &storage) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
    }
    guard isKnown else { return nil }
    // The port has the same offset in both address families.
    return withUnsafeBytes(of: &storage) { UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self)) }
}

func isIPv4Address(_ text: String) -> Bool {
    var address = in_addr()
    return inet_pton(AF_INET, text, &address) == 1
}

func isIPv6Address(_ text: String) -> Bool {
    var address = in6_addr()
    return inet_pton(AF_INET6, text, &address) == 1
}

/// The C library's text for an error number.
func errorText(_ number: CInt) -> String {
    guard let text = strerror(number) else { return "error \(number)" }
    return String(cString: text)
}
