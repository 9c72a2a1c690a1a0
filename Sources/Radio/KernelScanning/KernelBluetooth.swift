import Scanning
import System

/// The kernel's Bluetooth as the scanners use it. In the program it is the kernel; in unit tests, a script.
protocol KernelBluetooth: AnyObject {
    /// Opens the management interface.
    ///
    /// - Throws: if the kernel has no Bluetooth.
    func openManagement() throws(ScannerError) -> any PacketSocket
    /// Opens a raw HCI socket of one adapter; nil if there is no such adapter.
    func openHCI(_ index: UInt16) -> (any HCIPacketSocket)?
    /// Whether rfkill forbids the adapter's radio.
    func isBlocked(_ index: UInt16) -> Bool
    /// Whether the kernel has this controller, in whatever state.
    func hasDevice(_ index: UInt16) -> Bool
    /// Why no selected controller can be used; nil if one can.
    func absence(_ selection: AdapterSelection) -> ScanProblem?
    /// Whether an adapter has a connection.
    func hasConnection(_ index: UInt16) -> Bool
    /// Whether this process holds a capability.
    func holds(_ capability: Capability) -> Bool
}

/// A socket that carries whole packets. It owns its descriptor.
protocol PacketSocket: AnyObject {
    var descriptor: CInt { get }
    /// Packets that the kernel dropped because this socket was full, since it was opened.
    var drops: UInt32 { get }
    func send(_ bytes: [UInt8]) throws(SystemError)
    /// Receives the waiting packets, as `PacketBuffer.receive` does.
    func receive(batches: Int, _ body: (Span<UInt8>) -> Bool) -> SystemError?
}

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

extension PacketSocket {
    /// Receives the waiting packets; in a flood, only so many that other sources get their turn.
    func receive(_ body: (Span<UInt8>) -> Bool) -> SystemError? { receive(batches: 8, body) }
}

extension HCIPacketSocket {
    /// Receives the waiting packets; in a flood, only so many that other sources get their turn.
    func receive(_ body: (Span<UInt8>) -> Bool) -> SystemError? { receive(batches: 8, body) }
}
