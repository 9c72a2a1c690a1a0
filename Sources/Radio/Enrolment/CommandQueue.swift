import KernelScanning

/// Gives the kernel one command after the other. It answers some with `busy` while another is under way.
final class CommandQueue {
    typealias Answer = (_ status: UInt8, _ result: [UInt8]) -> Void

    private let channel: any ManagementChannel
    private var waiting: [(command: ManagementCommand, answer: Answer)] = []

    init(_ channel: any ManagementChannel) { self.channel = channel }

    func ask(_ command: ManagementCommand, _ answer: @escaping Answer = { _, _ in }) {
        waiting.append((command, answer))
        if waiting.count == 1 { send() }
    }

    /// Takes the kernel's answer to a command.
    func answered(_ opcode: UInt16, status: UInt8, _ result: [UInt8]) {
        guard waiting.first?.command.opcode.rawValue == opcode else { return }
        let answer = waiting.removeFirst().answer
        send()
        answer(status, result)
    }

    private func send() {
        guard let command = waiting.first?.command, (try? channel.send(command)) == nil else { return }
        answered(command.opcode.rawValue, status: ManagementStatus.failed, [])
    }
}
