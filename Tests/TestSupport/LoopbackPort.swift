import Glibc

/// TCP on the loopback interface, for tests.
package enum LoopbackPort {
    /// A port on which no program listens now. Another program may take it before it is used; then the caller must try
    /// again with another port.
    package static func free() throws -> UInt16 {
        let listener = try Listener()
        return listener.port
    }

    /// A listening socket. The test decides whether connections are answered.
    package final class Listener: Sendable {
        package let descriptor: Int32
        package let port: UInt16

        /// - Parameter listens: If false, connections are refused until `listen`; no other program can use the port.
        package init(listens: Bool = true) throws {
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let descriptor = descriptor
            let result = withUnsafeMutablePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(descriptor, address, length) == 0 && (!listens || Glibc.listen(descriptor, 64) == 0)
                        && getsockname(descriptor, address, &length) == 0
                }
            }
            guard result else { throw SupportError("no port to listen on: \(String(cString: strerror(errno)))") }
            port = UInt16(bigEndian: address.sin_port)
        }

        /// Connections are accepted from now on.
        package func listen() { _ = Glibc.listen(descriptor, 64) }

        /// The next connection, waited for.
        package func accept() -> Int32 { Glibc.accept(descriptor, nil, nil) }

        deinit { close(descriptor) }
    }

    /// Whether a program accepts connections on the port.
    package static func answers(_ port: UInt16) -> Bool {
        let descriptor = connect(port)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }

    /// A connection, or -1.
    package static func connect(_ port: UInt16) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Glibc.connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            return -1
        }
        return descriptor
    }
}
