internal import CBluetooth
internal import Beacon
internal import Scanning

/// Asks a controller for its address, which disturbs nothing, and waits a moment for the answer.
/// Needs no capability: the kernel lets anybody send this command.
final class ControllerProbe {
    /// The kernel itself gives a controller this long for any command.
    private static let deadline = Duration.seconds(2)
    private static let opcode = UInt16(OGF_INFO_PARAM) << 10 | UInt16(OCF_READ_BD_ADDR)

    private let done: (Bool) -> Void
    private let buffer = PacketBuffer()
    private var socket: HCISocket?
    private var readable: (any ScannerToken)?
    private var timeout: (any ScannerToken)?

    /// - Parameter done: is called once, later: true if the controller answered in time.
    init(_ index: UInt16, host: any ScannerHost, done: @escaping (Bool) -> Void) {
        self.done = done
        timeout = host.at(host.now.advanced(by: Self.deadline)) { [weak self] in self?.finish(false) }
        guard let socket = HCISocket(index), socket.listen(to: [EVT_CMD_COMPLETE]) == nil else { return }
        readable = host.whenReadable(socket.descriptor) { [weak self] in self?.read() }
        socket.command(group: OGF_INFO_PARAM, command: OCF_READ_BD_ADDR)
        self.socket = socket
    }

    deinit { cancel() }

    func cancel() {
        readable?.cancel()
        timeout?.cancel()
        readable = nil
        timeout = nil
    }

    private func read() {
        guard let socket else { return }
        var answered = false
        _ = buffer.receive(from: socket.descriptor, limit: 32) { packet in
            // Packet type, event code, length, number of commands, opcode.
            if packet.count >= 6, packet[1] == UInt8(EVT_CMD_COMPLETE), packet.littleEndian16(at: 4) == Self.opcode {
                answered = true
            }
            return !answered
        }
        if answered { finish(true) }
    }

    private func finish(_ answered: Bool) {
        guard timeout != nil else { return }
        cancel()
        done(answered)
    }
}
