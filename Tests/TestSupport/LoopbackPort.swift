import Glibc
import Synchronization

/// TCP on the loopback interface, for tests.
package enum LoopbackPort {
    /// A port on which no program listens, and which no other test is given: neither one of this process nor one of
    /// another. It lies below the ports that the kernel gives to outgoing connections, so that no connection takes it
    /// before the test uses it.
    package static func free() throws -> UInt16 {
        try ports.withLock { ports in
            for _ in 0..<10_000 {
                if ports.isEmpty { ports = try reserveBlock() }
                let port = ports.removeFirst()
                if isFree(port) { return port }
            }
            throw SupportError("no port of the loopback interface is free")
        }
    }

    /// Ports of this process that no test was given yet.
    private static let ports = Mutex<Range<UInt16>>(0..<0)
    private static let blockSize: UInt16 = 256
    /// Below the kernel's own range (`net.ipv4.ip_local_port_range`, from 32768), above what services use by custom.
    private static let blocks: Range<UInt16> = 48..<128

    /// A block of ports for this process. The socket with the block's name is held until the process ends, and the
    /// kernel gives the name to one process at a time.
    private static func reserveBlock() throws -> Range<UInt16> {
        for block in blocks.shuffled() {
            let name = Array("\0ibeacon-gateway-test-ports-\(block)".utf8)
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { break }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
            let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
            let isOurs = withUnsafeMutablePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) == 0 }
            }
            if isOurs { return block * blockSize..<(block + 1) * blockSize }
            close(descriptor)
        }
        throw SupportError("other tests have all ports of the loopback interface")
    }

    private static func isFree(_ port: UInt16) -> Bool { (try? Listener(on: port)) != nil }

    /// A listening socket. The test decides whether connections are answered.
    package final class Listener: Sendable {
        package let descriptor: Int32
        package let port: UInt16

        /// - Parameters:
        ///   - wanted: The port; 0 lets the kernel choose.
        ///   - listens: If false, connections are refused until `listen`; no other program can use the port.
        package init(on wanted: UInt16 = 0, listens: Bool = true) throws {
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            address.sin_port = wanted.bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let descriptor = descriptor
            let result = withUnsafeMutablePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(descriptor, address, length) == 0 && (!listens || Glibc.listen(descriptor, 64) == 0)
                        && getsockname(descriptor, address, &length) == 0
                }
            }
            guard result else {
                let reason = errno
                close(descriptor)
                throw SupportError("no port to listen on: \(String(cString: strerror(reason)))")
            }
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
