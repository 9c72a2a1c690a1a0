import Base
import Beacon
import CBluetooth
import Scanning
import System

/// The receiver of an `HCISession`'s events.
protocol HCISessionDelegate: AnyObject {
    func sessionScans(_ session: HCISession, at now: MonotonicInstant)
    func sessionPauses(_ session: HCISession, because reason: String, at now: MonotonicInstant)
    /// The controller left two commands in a row unanswered.
    func sessionHangs(_ session: HCISession)
    func session(_ session: HCISession, heard report: AdvertisingReport, data: Span<UInt8>, at now: MonotonicInstant)
    func session(_ session: HCISession, says priority: LogPriority, _ text: String)
}

/// The gateway's own passive scan on one adapter, by HCI commands on a raw socket.
///
/// Each command is sent when the previous one was answered: read the supported commands, set the parameters, switch on.
/// Commands of other programs are detected by their answers, which every raw socket receives. `HCIScanStateMachine` decides.
final class HCISession {
    let index: UInt16
    private let host: any EventHost
    private let kernel: any KernelBluetooth
    private var machine: HCIScanStateMachine
    private var parser = AdvertisingReportParser()
    private var socket: (any HCIPacketSocket)?
    private var readable: (any EventRegistration)?
    private var timer: (any EventRegistration)?
    private var lastDrops: UInt32 = 0
    weak var delegate: (any HCISessionDelegate)?

    init(_ index: UInt16, duty: ScanDuty, listensOnly: Bool, host: any EventHost, kernel: any KernelBluetooth) {
        self.index = index
        self.host = host
        self.kernel = kernel
        machine = HCIScanStateMachine(duty: duty, listensOnly: listensOnly)
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
    func lostPackets() -> UInt32 {
        let total = socket?.drops ?? lastDrops
        defer { lastDrops = total }
        return total &- lastDrops
    }

    func start() {
        close()
        if let socket = kernel.openHCI(index),
            (try? socket.listen(to: [EVT_LE_META_EVENT, EVT_CMD_COMPLETE, EVT_CMD_STATUS])) != nil
        {
            self.socket = socket
            lastDrops = 0
            readable = host.whenReadable(socket.descriptor) { [weak self] in self?.read() }
        }
        carryOut(machine.started(isOpen: socket != nil))
    }

    /// Switches the scan off and closes the socket. The kernel still sends the queued commands.
    func stop() { carryOut(machine.stop()) }

    /// Switches the scan off and on.
    func restart() { carryOut(machine.restart()) }

    func setDuty(_ duty: ScanDuty) { carryOut(machine.setDuty(duty)) }

    private func close() {
        readable?.cancel()
        timer?.cancel()
        readable = nil
        timer = nil
        socket = nil
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
            case .hangs: delegate?.sessionHangs(self)
            case .says(let priority, let text): delegate?.session(self, says: priority, text)
            }
        }
    }

    private func send(_ group: Int32, _ command: Int32, _ parameters: [UInt8]) {
        do throws(SystemError) {
            try socket?.command(group: group, command: command, parameters: parameters)
        } catch {
            delegate?.session(self, says: .warning, "command refused by the kernel, error \(error.code)")
        }
    }

    // MARK: Events

    private func read() {
        guard let socket else { return }
        let failure = socket.receive { packet in
            // Packet type (always an event, by the filter), then the event.
            guard packet.count > 1 else { return true }
            receive(packet.extracting(1...))
            return self.socket === socket
        }
        if let failure { carryOut(machine.socketFailed(failure.message)) }
    }

    private func receive(_ event: Span<UInt8>) {
        let now = host.now
        switch Int32(event[0]) {
        case EVT_LE_META_EVENT:
            parser.parse(event: event) { delegate?.session(self, heard: $0, data: $1, at: now) }
        case EVT_CMD_COMPLETE:
            // Event code, length, number of commands, opcode, then the return parameters of the command: status first.
            guard let opcode = event.littleEndian16(at: 3), event.count >= 6 else { return }
            carryOut(machine.answered(opcode, status: event[5], result: event.extracting(6...), at: now))
        case EVT_CMD_STATUS:
            // Event code, length, status, number of commands, opcode.
            guard let opcode = event.littleEndian16(at: 4), event.count >= 6 else { return }
            carryOut(machine.answered(opcode, status: event[2], result: event.extracting(6...), at: now))
        default: break
        }
    }
}
