import Base
import BluetoothProxy
import Glibc
import Runtime
import System

/// One connection's socket, and what could not be written to it yet.
final class ProxySocket {
    /// The kernel's buffer, bytes: with a small one a client that does not read is noticed soon, and its packets are dropped where
    /// they are counted.
    private static let bufferSize: CInt = 32 << 10
    /// Bytes that are read in one turn.
    private static let readSize = 4096

    /// What a read brought.
    enum Reading {
        case bytes([UInt8])
        case nothing
        case ended
    }

    let descriptor: CInt
    /// The address that is dialled until it is reached; nil: it is connected.
    var dialled: (address: String, until: MonotonicInstant)?
    private var watch: DescriptorWatch?
    private var unwritten: [UInt8] = []

    /// Owns the descriptor from now on.
    init(_ descriptor: CInt) {
        self.descriptor = descriptor
        var size = Self.bufferSize
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<CInt>.size))
        var on: CInt = 1
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
    }

    deinit {
        watch = nil
        close(descriptor)
    }

    var isBlocked: Bool { !unwritten.isEmpty }

    func attach(_ watch: DescriptorWatch) { self.watch = watch }

    /// Waits for what the socket needs: room, if something is unwritten; otherwise bytes.
    func renewInterest() throws(SystemError) {
        try watch?.update(isBlocked ? [.readable, .writable] : .readable)
    }

    func read() -> Reading {
        var space = [UInt8](repeating: 0, count: Self.readSize)
        do throws(SystemError) {
            let count = try systemCall("recv") { recv(descriptor, &space, space.count, 0) }
            guard count > 0 else { return .ended }
            return .bytes(Array(space[..<count]))
        } catch {
            return error.code == EAGAIN ? .nothing : .ended
        }
    }

    /// Writes bytes, and what was left of earlier ones before. What the kernel does not take is kept.
    ///
    /// - Throws: the error that ended the connection.
    func write(_ bytes: [UInt8] = []) throws(SystemError) {
        unwritten += bytes
        var written = 0
        defer { unwritten.removeFirst(written) }
        while written < unwritten.count {
            do throws(SystemError) {
                written += try systemCall("send") {
                    unwritten.withUnsafeBytes {
                        send(descriptor, $0.baseAddress?.advanced(by: written), $0.count - written, CInt(MSG_NOSIGNAL))
                    }
                }
            } catch {
                guard error.code == EAGAIN else { throw error }
                return
            }
        }
    }

    /// How a connection that was being made ended.
    func connectionError() -> CInt {
        var code: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 ? code : errno
    }
}
