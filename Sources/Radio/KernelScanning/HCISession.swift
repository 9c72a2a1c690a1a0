import Base
import Beacon
import CBluetooth
import Scanning

/// The receiver of an `HCISession`'s events.
protocol HCISessionDelegate: AnyObject {
    func sessionScans(_ session: HCISession, at now: MonotonicInstant)
    func sessionPauses(_ session: HCISession, because reason: String, at now: MonotonicInstant)
    /// The controller answered none of two commands in a row.
    func sessionHangs(_ session: HCISession)
    func session(_ session: HCISession, heard report: AdvertisingReport, data: Span<UInt8>, at now: MonotonicInstant)
    func session(_ session: HCISession, says priority: LogPriority, _ text: String)
}

/// The gateway's own passive scan on one adapter, by HCI commands on a raw socket.
///
/// Each command is sent when the previous one was answered: read the supported commands, set the parameters, switch on.
/// Commands of other programs are detected by their answers, which every raw socket receives.
final class HCISession {
    private enum State: Hashable {
        case idle, askingCommands, settingParameters, enabling, scanning, disabling
        /// Another program scans on this adapter.
        case refused
        /// Waiting to begin again.
        case waiting
    }

    /// The kernel gives a controller 2 s for a command. This limit is a little longer, so that the kernel reports
    /// first.
    private static let deadline = Duration.milliseconds(2500)
    private static let refusedRetry = Duration.seconds(5)
    /// bluetoothd's discovery is started again every 10.24 s. So a scan without a foreign command for longer remains
    /// from a killed program, unless the kernel scans for a monitor.
    private static let leftoverAge = Duration.seconds(15)
    private static let disallowed: UInt8 = 0x0c

    let index: UInt16
    private let host: any EventHost
    private var duty: ScanDuty
    /// The duty of the last command that set the parameters of the scan.
    private(set) var requestedDuty: ScanDuty
    private let listensOnly: Bool
    private let kernel: any KernelBluetooth
    private var parser = AdvertisingReportParser()
    private var socket: (any HCIPacketSocket)?
    private var readable: (any EventRegistration)?
    private var timer: (any EventRegistration)?
    private var state = State.idle
    private var family: ScanFamily?
    private var unanswered = 0
    private var nextReset = MonotonicInstant.zero
    private var resets = Backoff(from: .seconds(10), to: .seconds(300))
    private var refusedSince: MonotonicInstant?
    private var lastForeign = MonotonicInstant.zero
    private var lastDrops: UInt32 = 0
    /// Whether the kernel is known to scan for no monitor.
    var hasNoMonitors = false
    weak var delegate: (any HCISessionDelegate)?

    init(_ index: UInt16, duty: ScanDuty, listensOnly: Bool, host: any EventHost, kernel: any KernelBluetooth) {
        self.index = index
        self.duty = duty
        requestedDuty = duty
        self.listensOnly = listensOnly
        self.host = host
        self.kernel = kernel
    }

    deinit { close() }

    var malformed: MalformedCounters { parser.malformed }

    /// Packets that the kernel dropped since the last call.
    func lostPackets() -> UInt32 {
        let total = socket?.drops ?? lastDrops
        defer { lastDrops = total }
        return total &- lastDrops
    }

    func start() {
        close()
        let socket = kernel.openHCI(index)
        guard let socket, socket.listen(to: [EVT_LE_META_EVENT, EVT_CMD_COMPLETE, EVT_CMD_STATUS]) == nil else {
            return begin(after: .seconds(1))
        }
        self.socket = socket
        lastDrops = 0
        readable = host.whenReadable(socket.descriptor) { [weak self] in self?.read() }
        if listensOnly {
            state = .scanning
            delegate?.sessionScans(self, at: host.now)
        } else {
            askCommands()
        }
    }

    /// Switches the scan off and closes the socket. The kernel still sends the queued commands.
    func stop() {
        if !listensOnly, let family, state == .scanning || state == .enabling {
            send(family.enableCommand, family.enable(false))
        }
        close()
    }

    /// Off and on.
    func restart() {
        guard !listensOnly, state == .scanning, let family else { return }
        enter(.disabling)
        send(family.enableCommand, family.enable(false))
    }

    /// A controller takes parameters only while it does not scan. Before the parameters are sent, the new duty goes with
    /// them; while the scan is being switched on, it waits for that.
    func setDuty(_ duty: ScanDuty) {
        self.duty = duty
        if requestedDuty != duty { restart() }
    }

    private func close() {
        readable?.cancel()
        timer?.cancel()
        readable = nil
        timer = nil
        socket = nil
        state = .idle
    }

    // MARK: Commands

    private func askCommands() {
        enter(.askingCommands)
        socket?.command(group: OGF_INFO_PARAM, command: OCF_READ_LOCAL_COMMANDS, parameters: [])
    }

    private func setParameters(_ family: ScanFamily) {
        enter(.settingParameters)
        requestedDuty = duty
        send(family.parametersCommand, family.parameters(duty))
    }

    private func send(_ command: UInt16, _ parameters: [UInt8]) {
        let failure = socket?.command(group: OGF_LE_CTL, command: Int32(command), parameters: parameters)
        if let failure { delegate?.session(self, says: .warning, "command refused by the kernel, error \(failure)") }
    }

    /// Enters a state that ends with an answer, or with the deadline.
    private func enter(_ next: State) {
        state = next
        schedule(after: Self.deadline) { $0.timedOut() }
    }

    private func begin(after delay: Duration) {
        state = .waiting
        schedule(after: delay) { $0.start() }
    }

    private func schedule(after delay: Duration, _ action: @escaping (HCISession) -> Void) {
        timer?.cancel()
        timer = host.at(host.now.advanced(by: delay)) { [weak self] in
            guard let self else { return }
            action(self)
        }
    }

    private func timedOut() {
        unanswered += 1
        let now = host.now
        delegate?.sessionPauses(self, because: "the controller does not answer", at: now)
        guard unanswered >= 2, now >= nextReset else { return begin(after: .seconds(1)) }
        unanswered = 0
        nextReset = now.advanced(by: resets.nextDelay())
        delegate?.sessionHangs(self)
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
        // The adapter was switched off or removed. Normally an event of the management socket then ends or restarts
        // this session; without one, the session begins again.
        guard let failure else { return }
        close()
        delegate?.sessionPauses(self, because: failure.description, at: host.now)
        begin(after: .seconds(1))
    }

    private func receive(_ event: Span<UInt8>) {
        let now = host.now
        switch Int32(event[0]) {
        case EVT_LE_META_EVENT:
            parser.parse(event: event) { delegate?.session(self, heard: $0, data: $1, at: now) }
        case EVT_CMD_COMPLETE:
            // Event code, length, number of commands, opcode, then the return parameters of the command: status first.
            guard let opcode = event.littleEndian16(at: 3), event.count >= 6 else { return }
            answered(opcode, status: event[5], result: event.extracting(6...), at: now)
        case EVT_CMD_STATUS:
            // Event code, length, status, number of commands, opcode.
            guard let opcode = event.littleEndian16(at: 4), event.count >= 6 else { return }
            answered(opcode, status: event[2], result: event.extracting(6...), at: now)
        default: break
        }
    }

    private func answered(_ opcode: UInt16, status: UInt8, result: Span<UInt8>, at now: MonotonicInstant) {
        if state == .askingCommands, opcode == ScanFamily.readLocalSupportedCommands {
            unanswered = 0
            let family = ScanFamily(supportedCommands: result)
            self.family = family
            return setParameters(family)
        }
        guard !listensOnly, opcode >> 10 == ScanFamily.group, let family else { return }
        let command = opcode & 0x03ff
        switch (state, command) {
        case (.settingParameters, family.parametersCommand):
            unanswered = 0
            guard status == 0 else { return failed(status, at: now) }
            enter(.enabling)
            send(family.enableCommand, family.enable(true))
        case (.enabling, family.enableCommand):
            timer?.cancel()
            guard status == 0 else { return failed(status, at: now) }
            state = .scanning
            refusedSince = nil
            resets.reset()
            delegate?.sessionScans(self, at: now)
            if requestedDuty != duty { restart() }
        case (.disabling, family.enableCommand): setParameters(family)
        case (.scanning, family.enableCommand), (.scanning, family.parametersCommand): interrupted(at: now)
        case (.refused, family.enableCommand), (.refused, family.parametersCommand): lastForeign = now
        default: break
        }
    }

    private func failed(_ status: UInt8, at now: MonotonicInstant) {
        if status == Self.disallowed { return refuse(at: now) }
        delegate?.sessionPauses(self, because: "the controller refuses to scan", at: now)
        delegate?.session(self, says: .warning, "the controller refuses to scan, HCI error \(status); trying again")
        begin(after: Self.refusedRetry)
    }

    /// Another program sent a scan command: the gateway's scan has ended.
    private func interrupted(at now: MonotonicInstant) {
        lastForeign = now
        delegate?.sessionPauses(self, because: "another program changed the scan", at: now)
        begin(after: .seconds(1))
    }

    private func refuse(at now: MonotonicInstant) {
        let since = refusedSince ?? now
        if refusedSince == nil {
            delegate?.session(
                self, says: .warning,
                """
                another program scans on this adapter (bluetoothd?); the hci scanner keeps off until it ends. \
                Better: scanner "mgmt", which shares the adapter
                """)
            delegate?.sessionPauses(self, because: "another program scans on this adapter", at: now)
        }
        refusedSince = since
        let age = max(since, lastForeign).duration(to: now)
        if hasNoMonitors, age > Self.leftoverAge, let family {
            delegate?.session(self, says: .info, "the scan that is on seems left over; taking it over")
            enter(.disabling)
            return send(family.enableCommand, family.enable(false))
        }
        state = .refused
        schedule(after: Self.refusedRetry) { session in
            guard let family = session.family else { return }
            session.setParameters(family)
        }
    }
}
