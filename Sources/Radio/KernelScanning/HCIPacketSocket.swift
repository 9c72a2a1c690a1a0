import System

/// A raw HCI socket of one adapter.
protocol HCIPacketSocket: AnyObject {
    var descriptor: CInt { get }
    /// Packets that the kernel dropped because this socket was full, since it was opened.
    var drops: UInt32 { get }
    /// Chooses the events to receive.
    func listen(to events: [Int32]) throws(SystemError)
    /// Chooses the packets to receive.
    func listen(_ filter: HCIFilter) throws(SystemError)
    /// Queues one command; the answer comes as an event.
    func command(group: Int32, command: Int32, parameters: [UInt8]) throws(SystemError)
    /// Receives the waiting packets, as `PacketBuffer.receive` does.
    func receive(batches: Int, _ body: (Span<UInt8>) -> Bool) -> SystemError?
}

extension HCIPacketSocket {
    /// Receives the waiting packets; in a flood, only so many that other sources get their turn.
    func receive(_ body: (Span<UInt8>) -> Bool) -> SystemError? { receive(batches: 8, body) }
}
