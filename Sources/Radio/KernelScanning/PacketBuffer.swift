import CBluetooth
import Glibc
import System

/// Memory into which packets are received, many with one call, for as long as the socket is open.
final class PacketBuffer {
    /// More than the longest relevant packet of either channel; longer packets are truncated.
    private static let size = 2048
    /// Largest number of packets that one system call receives.
    private static let most = 32
    private let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: PacketBuffer.size * PacketBuffer.most)
    private let vectors = UnsafeMutableBufferPointer<iovec>.allocate(capacity: PacketBuffer.most)
    private let headers = UnsafeMutableBufferPointer<received_packet>.allocate(capacity: PacketBuffer.most)

    init() {
        for index in 0..<Self.most {
            let start = bytes.baseAddress.map { UnsafeMutableRawPointer($0 + index * Self.size) }
            vectors.initializeElement(at: index, to: iovec(iov_base: start, iov_len: Self.size))
            var header = received_packet()
            header.header.msg_iov = vectors.baseAddress.map { $0 + index }
            header.header.msg_iovlen = 1
            headers.initializeElement(at: index, to: header)
        }
    }

    deinit {
        bytes.deallocate()
        vectors.deallocate()
        headers.deallocate()
    }

    /// Receives the waiting packets, at most `batches` times 32, so that other sources are handled too.
    ///
    /// - Parameter body: receives each packet, which is valid only during the call. It returns false to stop, for
    ///   example because the socket was closed; packets received with the same call are dropped then.
    /// - Returns: the error that ended it; nil if there is no more to receive for now.
    func receive(from descriptor: CInt, batches: Int, _ body: (Span<UInt8>) -> Bool) -> SystemError? {
        for _ in 0..<batches {
            let count = receive_packets(descriptor, headers.baseAddress, CUnsignedInt(Self.most))
            guard count > 0 else {
                let number = count < 0 ? errno : 0
                guard number != EINTR else { continue }
                return number == EAGAIN || number == 0 ? nil : SystemError("recvmmsg", code: number)
            }
            for index in 0..<Int(count) {
                let start = index * Self.size
                let end = start + min(Int(headers[index].length), Self.size)
                guard body(UnsafeBufferPointer(rebasing: bytes[start..<end]).span) else { return nil }
            }
            // Fewer packets than room: the socket was empty. The loop reports later packets.
            if count < Self.most { return nil }
        }
        return nil
    }
}
