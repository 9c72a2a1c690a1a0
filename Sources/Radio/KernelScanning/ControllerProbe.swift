import Base
import CBluetooth

/// Sends a controller one command and waits a moment for the answer.
final class ControllerProbe {
    enum Question: Sendable {
        /// Reads the address. The command disturbs nothing and needs no capability.
        case address
        /// HCI Reset. Needs CAP_NET_RAW. The kernel does not know that the controller lost its state, so a power cycle
        /// must follow.
        case reset

        var group: Int32 { self == .address ? OGF_INFO_PARAM : OGF_HOST_CTL }
        var command: Int32 { self == .address ? OCF_READ_BD_ADDR : OCF_RESET }
    }

    /// The kernel's own time limit for a command.
    private static let deadline = Duration.seconds(2)

    private let opcode: UInt16
    private let done: (Bool) -> Void
    private var socket: (any HCIPacketSocket)?
    private var readable: (any EventRegistration)?
    private var timeout: (any EventRegistration)?

    /// - Parameter done: called once, later; true if the controller answered in time.
    init(
        _ index: UInt16, _ question: Question = .address, host: any EventHost, kernel: any KernelBluetooth,
        done: @escaping (Bool) -> Void
    ) {
        self.done = done
        opcode = UInt16(question.group) << 10 | UInt16(question.command)
        timeout = host.at(host.now.advanced(by: Self.deadline)) { [weak self] in self?.finish(false) }
        // Without a socket, the probe fails when the time runs out.
        guard let socket = kernel.openHCI(index), (try? socket.listen(to: [EVT_CMD_COMPLETE])) != nil else { return }
        readable = host.whenReadable(socket.descriptor) { [weak self] in self?.read() }
        try? socket.command(group: question.group, command: question.command, parameters: [])
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
        _ = socket.receive(batches: 1) { packet in
            // Packet type, event code, length, number of commands, opcode.
            if packet.count >= 6, packet[1] == UInt8(EVT_CMD_COMPLETE), packet.littleEndian16(at: 4) == opcode {
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
