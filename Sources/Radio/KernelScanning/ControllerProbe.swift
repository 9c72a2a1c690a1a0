import Base
import CBluetooth
import System

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

    enum Outcome: Hashable, Sendable {
        case answered
        /// The command was sent, and the controller did not answer it in time.
        case unanswered
        /// The command was not sent, for this reason. That says nothing of the controller.
        case notSent(String)
    }

    /// The kernel's own time limit for a command.
    private static let deadline = Duration.seconds(2)

    private let opcode: UInt16
    private let done: (Outcome) -> Void
    private var socket: (any HCIPacketSocket)?
    private var readable: (any EventRegistration)?
    private var timeout: (any EventRegistration)?

    /// - Parameter done: called once, later.
    init(
        _ index: UInt16, _ question: Question = .address, host: any EventHost, kernel: any KernelBluetooth,
        done: @escaping (Outcome) -> Void
    ) {
        self.done = done
        opcode = UInt16(question.group) << 10 | UInt16(question.command)
        do throws(SystemError) {
            let socket = try kernel.openHCI(index)
            try socket.listen(to: [EVT_CMD_COMPLETE])
            readable = host.whenReadable(socket.descriptor) { [weak self] in self?.read() }
            self.socket = socket
            try socket.command(group: question.group, command: question.command, parameters: [])
            timeout = host.at(host.now.advanced(by: Self.deadline)) { [weak self] in self?.finish(.unanswered) }
        } catch {
            let outcome = Outcome.notSent("\(error)")
            timeout = host.at(host.now) { [weak self] in self?.finish(outcome) }
        }
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
        if answered { finish(.answered) }
    }

    private func finish(_ outcome: Outcome) {
        guard timeout != nil else { return }
        cancel()
        done(outcome)
    }
}
