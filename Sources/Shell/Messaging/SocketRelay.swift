import CMosquitto
import Glibc
import System

/// The connection to the broker, with a place in front of libmosquitto where bytes can be counted and filtered.
///
/// libmosquitto opens its socket by itself and reads from it until nothing is left, whatever that costs. So once it is
/// connected, its descriptor is replaced (`dup3`) by one end of a socket pair, and the relay holds the other end and
/// the connection itself. It hands over one chunk at a time. One thread uses it, the one that calls libmosquitto.
final class SocketRelay {
    /// Bytes that are handed over at once. The socket pair holds them (net.core.wmem_default is 208 KiB).
    static let chunk = 32 << 10

    /// The connection to the broker.
    let network: Int32
    /// Our end of the socket pair.
    private let inner: Int32
    /// Read from the broker, and not yet taken by libmosquitto's end.
    private var incoming: [UInt8] = []
    /// Written by libmosquitto, and not yet taken by the network.
    private var outgoing: ArraySlice<UInt8> = []
    private var buffer = [UInt8](repeating: 0, count: SocketRelay.chunk)
    /// The broker has closed its side, or the connection failed.
    private(set) var hasEnded = false

    /// - Parameter descriptor: libmosquitto's, connected.
    init(inPlaceOf descriptor: Int32) throws(BrokerFailure) {
        do throws(SystemError) {
            (network, inner) = try Self.interpose(in: descriptor)
        } catch {
            throw .other("\(error)")
        }
    }

    /// Puts one end of a socket pair in the place of the connection.
    ///
    /// - Returns: The connection, and the other end.
    private static func interpose(in descriptor: Int32) throws(SystemError) -> (network: Int32, inner: Int32) {
        let network = try systemCall("fcntl") { fcntl(descriptor, F_DUPFD_CLOEXEC, 3) }
        var pair: [Int32] = [-1, -1]
        defer { close(pair[0]) }
        do throws(SystemError) {
            let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
            try systemCall("socketpair") { socketpair(AF_UNIX, type, 0, &pair) }
            try systemCall("dup3") { replace_descriptor(pair[0], descriptor) }
        } catch {
            close(network)
            close(pair[1])
            throw error
        }
        return (network, pair[1])
    }

    deinit {
        close(network)
        close(inner)
    }

    /// Something waits for room on the network.
    var hasUnsent: Bool { !outgoing.isEmpty }

    /// Something waits for libmosquitto to read.
    var hasUnread: Bool { !incoming.isEmpty }

    /// Reads one chunk from the broker. Empty: nothing is there, or the connection `hasEnded`.
    func receive() -> ArraySlice<UInt8> {
        let count = recv(network, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 { return buffer[..<count] }
        if count == 0 || (errno != EAGAIN && errno != EINTR) {
            hasEnded = true
            // libmosquitto finds it closed once it has read the rest.
            if incoming.isEmpty { shutdown(inner, Int32(SHUT_WR)) }
        }
        return []
    }

    func queue(_ bytes: [UInt8]) { incoming += bytes }

    /// Writes as much to libmosquitto's end as there is room for.
    /// - Returns: whether anything moved.
    func handOver() -> Bool {
        guard !incoming.isEmpty else { return false }
        let count = Glibc.send(inner, incoming, incoming.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
        guard count > 0 else {
            // libmosquitto has closed its end and reads no more.
            if count < 0, errno != EAGAIN, errno != EINTR { incoming = [] }
            return false
        }
        incoming.removeFirst(count)
        if incoming.isEmpty, hasEnded { shutdown(inner, Int32(SHUT_WR)) }
        return true
    }

    /// Sends the bytes that libmosquitto has written, as far as the network accepts them.
    /// - Returns: whether anything moved.
    @discardableResult
    func send() -> Bool {
        var hasMoved = false
        while true {
            if outgoing.isEmpty {
                let count = recv(inner, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                guard count > 0 else { return hasMoved }
                outgoing = buffer[..<count]
                hasMoved = true
            }
            let count = outgoing.withUnsafeBytes {
                Glibc.send(network, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            }
            guard count > 0 else {
                // A failed connection shows when it is read from.
                if count < 0, errno != EAGAIN, errno != EINTR { outgoing = [] }
                return hasMoved
            }
            // Empty, it must not share the buffer, which would be copied at the next read.
            outgoing = count == outgoing.count ? [] : outgoing.dropFirst(count)
            hasMoved = true
        }
    }

    /// Waits for room on the network, and sends the unsent bytes.
    /// - Parameter limit: milliseconds for each wait.
    func drain(limit: Int32) {
        send()
        while hasUnsent {
            var watched = pollfd(fd: network, events: Int16(POLLOUT), revents: 0)
            guard poll(&watched, 1, limit) == 1 else { return }
            send()
        }
    }

    /// Ends the connection without DISCONNECT.
    func hangUp() { shutdown(network, Int32(SHUT_RDWR)) }
}
