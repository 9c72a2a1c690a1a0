import Base
import CBluetooth
import System

/// Reads the raw HCI socket of one adapter: the scan commands of all programs, the answers of the controller, and, if wanted,
/// its reports.
final class HCIReader {
    let index: UInt16
    private let host: any EventHost
    private let kernel: any KernelBluetooth
    private(set) var socket: (any HCIPacketSocket)?
    private var readable: (any EventRegistration)?
    private var lastDrops: UInt32 = 0
    /// Whether packets are being handed over. They lie in memory that the next call would write over.
    private var isReading = false
    /// Why the socket does not open.
    private(set) var refusal = ""
    weak var delegate: (any HCIReaderDelegate)?

    init(_ index: UInt16, host: any EventHost, kernel: any KernelBluetooth) {
        self.index = index
        self.host = host
        self.kernel = kernel
    }

    deinit { close() }

    var isOpen: Bool { socket != nil }

    /// Opens a new socket.
    ///
    /// - Returns: Whether there is such an adapter, and the kernel lets this process listen.
    @discardableResult func open(_ filter: HCIFilter) -> Bool {
        close()
        do throws(SystemError) {
            let socket = try kernel.openHCI(index)
            try socket.listen(filter)
            self.socket = socket
        } catch {
            refusal = "its raw HCI socket does not open: \(error)"
            return false
        }
        guard let socket else { return false }
        lastDrops = 0
        readable = host.whenReadable(socket.descriptor) { [weak self] in self?.read() }
        return true
    }

    /// Changes what is received from now on.
    func set(_ filter: HCIFilter) { try? socket?.listen(filter) }

    func close() {
        readable?.cancel()
        readable = nil
        socket = nil
    }

    /// Packets that the kernel dropped since the last call.
    func lostPackets() -> UInt32 {
        let total = socket?.drops ?? lastDrops
        defer { lastDrops = total }
        return total &- lastDrops
    }

    /// Reads what waits. Called by a receiver of packets, it does nothing, because the rest follows anyway.
    func read() {
        guard let socket, !isReading else { return }
        isReading = true
        defer { isReading = false }
        let failure = socket.receive { packet in
            receive(packet)
            return self.socket === socket
        }
        guard let failure else { return }
        close()
        delegate?.readerFailed(failure.message)
    }

    private func receive(_ packet: Span<UInt8>) {
        guard packet.count > 1 else { return }
        if packet[0] == UInt8(HCI_COMMAND_PKT) {
            // Packet type, opcode, length, parameters.
            guard let opcode = packet.littleEndian16(at: 1), packet.count >= 4 else { return }
            delegate?.saw(command: opcode, parameters: packet.extracting(4...))
            return
        }
        // Packet type, then the event.
        let event = packet.extracting(1...)
        switch Int32(event[0]) {
        case EVT_LE_META_EVENT: delegate?.received(event: event)
        case EVT_CMD_COMPLETE:
            // Event code, length, number of commands, opcode, then the return parameters of the command: status first.
            guard let opcode = event.littleEndian16(at: 3), event.count >= 6 else { return }
            delegate?.answered(opcode, status: event[5], result: event.extracting(6...))
        case EVT_CMD_STATUS:
            // Event code, length, status, number of commands, opcode.
            guard let opcode = event.littleEndian16(at: 4), event.count >= 6 else { return }
            delegate?.answered(opcode, status: event[2], result: event.extracting(6...))
        default: break
        }
    }
}
