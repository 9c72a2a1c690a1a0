import Base
import Beacon
import CBluetooth
import Scanning
import System

/// The gateway's own passive scan on one adapter, by HCI commands on a raw socket.
///
/// Each command is sent when the previous one was answered: read the supported commands, set the parameters, switch on.
/// Commands of other programs are read from the socket, too. `HCIScanStateMachine` decides.
final class HCISession {
    let index: UInt16
    private let host: any EventHost
    private let reader: HCIReader
    private var machine: HCIScanStateMachine
    private var parser = AdvertisingReportParser()
    private var timer: (any EventRegistration)?
    /// The commands of other programs that are not answered yet, oldest first.
    private var foreign: [ScanCommand] = []
    /// The opcodes of this program's commands that are not answered yet, oldest first.
    private var own: [UInt16] = []
    weak var delegate: (any HCISessionDelegate)?

    init(_ index: UInt16, duty: ScanDuty, listensOnly: Bool, host: any EventHost, kernel: any KernelBluetooth) {
        self.index = index
        self.host = host
        reader = HCIReader(index, host: host, kernel: kernel)
        machine = HCIScanStateMachine(duty: duty, listensOnly: listensOnly)
        reader.delegate = self
    }

    deinit { close() }

    var malformed: MalformedCounters { parser.malformed }

    /// Whether the kernel is known to scan for no monitor.
    var hasNoMonitors: Bool {
        get { machine.hasNoMonitors }
        set { machine.hasNoMonitors = newValue }
    }

    /// The duty of the last command that set the parameters of the scan.
    var requestedDuty: ScanDuty { machine.requestedDuty }

    /// Packets that the kernel dropped since the last call.
    func lostPackets() -> UInt32 { reader.lostPackets() }

    func start() {
        close()
        // The answer to Read Local Supported Commands chooses the set of scan commands.
        let opcodes = ScanCommand.opcodes + [ScanFamily.readLocalSupportedCommands]
        if reader.open(HCIFilter(opcodes: opcodes, hasReports: true)) {
            delegate?.sessionOpened(self, at: host.now)
        } else {
            delegate?.session(self, cannotOpen: reader.refusal, at: host.now)
        }
        carryOut(machine.started(isOpen: reader.isOpen))
    }

    /// Switches the scan off and closes the socket. The kernel still sends the queued commands.
    func stop() { carryOut(machine.stop()) }

    /// Switches the scan off and on, or tries again after a refusal.
    func restart() { carryOut(machine.restart()) }

    func setDuty(_ duty: ScanDuty) { carryOut(machine.setDuty(duty)) }

    private func close() {
        timer?.cancel()
        timer = nil
        (foreign, own) = ([], [])
        reader.close()
    }

    private func carryOut(_ actions: [HCIScanStateMachine.Action]) {
        for action in actions {
            switch action {
            case .start: start()
            case .close: close()
            case .askCommands: send(OGF_INFO_PARAM, OCF_READ_LOCAL_COMMANDS, [])
            case .send(let command, let parameters): send(OGF_LE_CTL, Int32(command), parameters)
            case .schedule(let delay):
                timer?.cancel()
                timer = host.at(host.now.advanced(by: delay)) { [weak self] in
                    guard let self else { return }
                    carryOut(machine.elapsed(at: host.now))
                }
            case .cancelTimer: timer?.cancel()
            case .scans: delegate?.sessionScans(self, at: host.now)
            case .pauses(let reason): delegate?.sessionPauses(self, because: reason, at: host.now)
            case .fails: delegate?.sessionFails(self, at: host.now)
            case .hangs: delegate?.sessionHangs(self)
            case .says(let priority, let text): delegate?.session(self, says: priority, text)
            }
        }
    }

    private func send(_ group: Int32, _ command: Int32, _ parameters: [UInt8]) {
        let opcode = UInt16(group) << 10 | UInt16(command)
        if own.count == Self.mostPending { own.removeFirst() }
        own.append(opcode)
        if let command = ScanCommand(opcode: opcode, parameters: parameters.span) {
            delegate?.session(self, saw: command, at: host.now)
        }
        do throws(SystemError) {
            try reader.socket?.command(group: group, command: command, parameters: parameters)
        } catch {
            delegate?.session(self, says: .warning, "command refused by the kernel, error \(error.code)")
        }
    }

    private static let mostPending = 8
}

extension HCISession: HCIReaderDelegate {
    func saw(command opcode: UInt16, parameters: Span<UInt8>) {
        guard let command = ScanCommand(opcode: opcode, parameters: parameters) else { return }
        if foreign.count == Self.mostPending { foreign.removeFirst() }
        foreign.append(command)
        delegate?.session(self, saw: command, at: host.now)
    }

    func answered(_ opcode: UInt16, status: UInt8, result: Span<UInt8>) {
        let now = host.now
        delegate?.session(self, answered: opcode, status: status, at: now)
        // Whose command it was shows in what was sent. An answer to both is rare, and then the own command was first or is asked
        // again after its deadline.
        if let index = own.firstIndex(of: opcode) {
            own.remove(at: index)
            carryOut(machine.answered(opcode, status: status, result: result, at: now))
        } else if let index = foreign.firstIndex(where: { $0.opcode == opcode }) {
            let command = foreign.remove(at: index)
            if status == HCIStatus.success { carryOut(machine.foreignCommand(command, at: now)) }
        }
    }

    func received(event: Span<UInt8>) {
        let now = host.now
        parser.parse(event: event) { delegate?.session(self, heard: $0, data: $1, at: now) }
    }

    func readerFailed(_ reason: String) { carryOut(machine.socketFailed(reason)) }
}
