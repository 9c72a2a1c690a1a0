import System

/// A socket that carries whole packets. It owns its descriptor.
protocol PacketSocket: AnyObject {
    var descriptor: CInt { get }
    /// Packets that the kernel dropped because this socket was full, since it was opened.
    var drops: UInt32 { get }
    func send(_ bytes: [UInt8]) throws(SystemError)
    func set(_ filter: ManagementFilter)
    /// Receives the waiting packets, as `PacketBuffer.receive` does.
    func receive(batches: Int, _ body: (Span<UInt8>) -> Bool) -> SystemError?
}

extension PacketSocket {
    /// Receives the waiting packets; in a flood, only so many that other sources get their turn.
    func receive(_ body: (Span<UInt8>) -> Bool) -> SystemError? { receive(batches: 8, body) }
}
