import Base
import Beacon
import Scanning
import System

/// Watches the machine's adapters through the management socket: which exist and whether they are on. It switches them
/// on unless rfkill blocks them.
///
/// Every adapter that is off is switched on again, because a bluetoothd that stops switches all adapters off, and that
/// would silence the gateway. To keep a radio off, block it by rfkill, which is respected.
final class AdapterMonitor {
    private struct Adapter {
        var address: DeviceAddress
        var isReady = false
        var isAsleep = false
        /// Attempts to switch it on.
        var attempts = Backoff(to: .seconds(30))
        var retry: (any EventRegistration)?
        /// Whether it is being powered off on purpose, to be powered on again at once.
        var isCycling = false
        /// Why it is not ready, as last told.
        var refusal: ScanProblem?
        var reset: ControllerProbe?
    }

    /// The end of an rfkill block is not reported on this socket, so it is polled every 2 s; listening must be back
    /// within 5 s.
    private static let blockedRetry = Duration.seconds(2)

    /// How long the kernel may take to answer. It gives a controller 2 s for each command, and waits 10 s for firmware (HCI_INIT_TIMEOUT).
    private static let patience = Duration.seconds(30)

    private static let absenceDelay = Duration.seconds(1)

    private let host: any EventHost
    private let selection: AdapterSelection
    private let kernel: any KernelBluetooth
    private let socket: ManagementSocket
    private var adapters: [UInt16: Adapter] = [:]
    private var drops: UInt32 = 0
    private var absenceCheck: (any EventRegistration)?
    /// Why the kernel offers no adapter; nil while it offers one, or before that is known.
    private var absence: ScanProblem?
    weak var delegate: (any AdapterMonitorDelegate)?
    /// Why the management socket cannot be used any more.
    private(set) var failure: ScannerError?

    init(host: any EventHost, kernel: any KernelBluetooth, selection: AdapterSelection) throws(ScannerError) {
        self.host = host
        self.selection = selection
        self.kernel = kernel
        socket = try ManagementSocket(host: host, kernel: kernel)
    }

    /// Why no adapter can be used, and what to do; nil while one can, or before that is known.
    var problem: ScanProblem? {
        if let failure { return ScanProblem(failure.description, remedy: "it is tried again") }
        guard !adapters.values.contains(where: \.isReady) else { return nil }
        return absence ?? adapters.keys.sorted().compactMap { adapters[$0]?.refusal }.first
    }

    /// Commands the kernel lets this process use.
    func supportedCommands() -> [UInt16] { socket.supportedCommands() }

    func start() {
        socket.onMessage = { [weak self] in self?.receive($0, at: $1) }
        socket.onFailure = { [weak self] in self?.lose("the management socket failed: \($0)") }
        socket.open()
        send(.readIndexList)
    }

    func stop() {
        for adapter in adapters.values { adapter.retry?.cancel() }
        adapters = [:]
        absenceCheck?.cancel()
        socket.close()
    }

    /// Nothing comes over the socket any more, whatever the controllers do.
    private func lose(_ text: String) {
        failure = ScannerError(.unavailable, text)
        delegate?.notice(Notice(.error, text))
        for index in adapters.keys.sorted() {
            adapters[index]?.retry?.cancel()
            guard adapters[index]?.isReady == true else { continue }
            adapters[index]?.isReady = false
            delegate?.adapterLost(index, isGone: false, because: text, at: host.now)
        }
    }

    func send(_ command: ManagementCommand) {
        do throws(SystemError) {
            try socket.send(command)
        } catch {
            delegate?.notice(Notice(.warning, "hci\(command.index): \(command.opcode): \(error.message)"))
        }
    }

    /// Resets a failing controller, switches it off and, when it is off, on again.
    ///
    /// Kernel 6.1 does not switch a controller off that does not answer the commands before that. So the reset comes
    /// first, bypassing the kernel; hung firmware often still accepts it.
    func powerCycle(_ index: UInt16) {
        adapters[index]?.isCycling = true
        adapters[index]?.reset = ControllerProbe(index, .reset, host: host, kernel: kernel) { [weak self] outcome in
            self?.adapters[index]?.reset = nil
            if case .notSent(let reason) = outcome {
                let text = "hci\(index): the reset is not sent (\(reason)); it is only switched off and on"
                self?.delegate?.notice(Notice(.warning, text))
            }
            self?.send(.setPowered(index, false))
        }
    }

    /// Messages that the kernel dropped since the last call. If there are any, they may have been about adapters, so
    /// all adapters are read again.
    func lostMessages() -> UInt32 {
        let total = socket.drops
        defer { drops = total }
        let lost = total &- drops
        if lost > 0 { send(.readIndexList) }
        return lost
    }

    func address(of index: UInt16) -> DeviceAddress? { adapters[index]?.address }

    // MARK: Events of the kernel

    private func receive(_ message: Span<UInt8>, at now: MonotonicInstant) {
        guard let header = ManagementHeader(message) else {
            delegate?.malformed(index: message.littleEndian16(at: 2) ?? ManagementCommand.noIndex)
            return
        }
        let parameters = message.extracting(ManagementHeader.length...)
        let hasHandle = header.code == ManagementEvent.Code.monitorDeviceFound
        if hasHandle || header.code == ManagementEvent.Code.deviceFound {
            guard adapters[header.index] != nil else { return }
            guard let device = FoundDevice(parameters, hasMonitorHandle: hasHandle) else {
                delegate?.malformed(index: header.index)
                return
            }
            guard device.isLowEnergy else { return }
            delegate?.found(device, data: parameters.extracting(device.data), index: header.index, at: now)
            return
        }
        guard let event = ManagementEvent(code: header.code, parameters: parameters) else {
            delegate?.malformed(index: header.index)
            return
        }
        handle(event, index: header.index, at: now)
    }

    private func handle(_ event: ManagementEvent, index: UInt16, at now: MonotonicInstant) {
        switch event {
        case .indexList(let indexes):
            for index in indexes { send(.readControllerInformation(index)) }
            for index in adapters.keys where !indexes.contains(index) { remove(index, at: now) }
            lookForAbsence()
        case .indexAdded: send(.readControllerInformation(index))
        case .indexRemoved: remove(index, at: now)
        case .controllerInformation(let information): meet(information, index: index, at: now)
        case .newSettings(let settings): apply(settings, index: index, at: now)
        case .completed(.setPowered, let status):
            powerFailed(index, status: status, at: now)
        case .completed(.setLowEnergy, let status): lowEnergyFailed(index, status: status)
        case .suspended: sleep(index, true, at: now)
        case .resumed: sleep(index, false, at: now)
        default: delegate?.received(event, index: index, at: now)
        }
    }

    private func meet(_ information: ControllerInformation, index: UInt16, at now: MonotonicInstant) {
        guard selection.includes(index: index, address: information.address) else { return lookForAbsence() }
        guard information.supported.contains(.lowEnergy) else {
            lookForAbsence()
            delegate?.notice(Notice(.warning, "hci\(index) cannot do Bluetooth Low Energy; not used"))
            return
        }
        if adapters[index] == nil { adapters[index] = Adapter(address: information.address) }
        absence = nil
        apply(information.current, index: index, at: now)
    }

    private func apply(_ settings: ControllerSettings, index: UInt16, at now: MonotonicInstant) {
        guard var adapter = adapters[index] else { return }
        let isReady = settings.isSuperset(of: [.powered, .lowEnergy])
        let wasReady = adapter.isReady
        adapter.isReady = isReady
        if isReady {
            adapter.attempts.reset()
            adapter.refusal = nil
            adapter.retry?.cancel()
            adapter.retry = nil
        }
        adapters[index] = adapter
        if isReady && !wasReady {
            // A power cycle is over only when the adapter has been off in between.
            adapters[index]?.isCycling = false
            delegate?.adapterReady(index, at: now)
        } else if !isReady {
            if wasReady { delegate?.adapterLost(index, isGone: false, because: "powered off", at: now) }
            if !settings.contains(.lowEnergy) {
                send(.setLowEnergy(index))
                expectAnswer(to: .setLowEnergy, from: index)
            }
            if !settings.contains(.powered) { scheduleRetry(index, after: firstDelay(adapter)) }
        }
    }

    /// At once if the adapter is being cycled; a moment later if it is off for another reason, because a restarting bluetoothd
    /// switches it on itself. After an earlier attempt, as late as for a blocked adapter.
    private func firstDelay(_ adapter: Adapter) -> Duration {
        adapter.attempts.failures > 0 ? Self.blockedRetry : adapter.isCycling ? .zero : .milliseconds(300)
    }

    private func powerFailed(_ index: UInt16, status: UInt8, at now: MonotonicInstant) {
        guard let adapter = adapters[index], status != ManagementStatus.success else { return }
        if adapter.isCycling, adapter.isReady {
            // The adapter could not be switched off. It is switched on when the kernel has given up.
            adapters[index]?.isReady = false
            delegate?.adapterLost(index, isGone: false, because: "being reset", at: now)
            // Without CAP_NET_ADMIN the adapter stays on, and the reset alone must do.
            if status == ManagementStatus.permissionDenied { return send(.readControllerInformation(index)) }
            return scheduleRetry(index, after: .seconds(1))
        }
        // Kernel 6.1 returns Failed where the description of the interface specifies RFKilled.
        if status == ManagementStatus.rfkilled || kernel.isBlocked(index) {
            let blocked = ScanProblem(
                "hci\(index) is blocked by rfkill", remedy: "to unblock: rfkill unblock bluetooth")
            refused(index, blocked, Notice(.warning, "\(blocked)"))
            return scheduleRetry(index, after: Self.blockedRetry)
        }
        if status == ManagementStatus.permissionDenied {
            let text = "hci\(index) is off, and switching it on needs CAP_NET_ADMIN"
            let remedy = Capability.netAdmin.remedy
            refused(index, ScanProblem(text, remedy: remedy), Notice(.error, "\(text): \(remedy)"))
        } else if status != ManagementStatus.busy {
            refused(index, "hci\(index) does not switch on: \(ManagementStatus.name(status))")
        }
        scheduleRetry(index, after: adapter.attempts.delay)
    }

    /// An adapter that is on is asked again as one that is off is: the kernel answers with its settings.
    private func lowEnergyFailed(_ index: UInt16, status: UInt8) {
        guard let adapter = adapters[index], !adapter.isReady, status != ManagementStatus.success else { return }
        if status != ManagementStatus.busy {
            refused(index, "hci\(index) does not switch Low Energy on: \(ManagementStatus.name(status))")
        }
        scheduleRetry(index, after: adapter.attempts.delay)
    }

    private func refused(_ index: UInt16, _ text: String) {
        let problem = ScanProblem(text, remedy: "it is tried again; see: journalctl -k | grep -i bluetooth")
        refused(index, problem, Notice(.warning, "\(text); trying again"))
    }

    /// Shows why an adapter is not ready, and tells it once until the reason is another one.
    private func refused(_ index: UInt16, _ problem: ScanProblem, _ notice: Notice) {
        guard adapters[index]?.refusal != problem else { return }
        adapters[index]?.refusal = problem
        delegate?.notice(notice)
    }

    /// Tries again if the kernel does not answer, or if the answer was lost.
    private func expectAnswer(to opcode: ManagementCommand.Opcode, from index: UInt16) {
        adapters[index]?.retry?.cancel()
        adapters[index]?.retry = host.at(host.now.advanced(by: Self.patience)) { [weak self] in
            guard let self, adapters[index]?.isReady == false else { return }
            refused(index, "hci\(index) does not switch on: the kernel does not answer \(opcode)")
            switchOn(index)
        }
    }

    private func scheduleRetry(_ index: UInt16, after delay: Duration) {
        guard adapters[index] != nil else { return }
        adapters[index]?.retry?.cancel()
        adapters[index]?.retry = host.at(host.now.advanced(by: delay)) { [weak self] in
            guard let self, adapters[index]?.isReady == false else { return }
            switchOn(index)
        }
    }

    private func switchOn(_ index: UInt16) {
        adapters[index]?.attempts.failed()
        send(.setPowered(index, true))
        expectAnswer(to: .setPowered, from: index)
    }

    private func sleep(_ index: UInt16, _ asleep: Bool, at now: MonotonicInstant) {
        guard let adapter = adapters[index], adapter.isReady, adapter.isAsleep != asleep else { return }
        adapters[index]?.isAsleep = asleep
        if asleep {
            delegate?.adapterLost(index, isGone: false, because: "the machine is going to sleep", at: now)
        } else {
            delegate?.adapterReady(index, at: now)
        }
    }

    private func remove(_ index: UInt16, at now: MonotonicInstant) {
        guard let adapter = adapters.removeValue(forKey: index) else { return }
        adapter.retry?.cancel()
        // A program that takes the controller for itself takes it from all others.
        let reason = kernel.hasDevice(index) ? "the kernel no longer offers it" : "unplugged"
        delegate?.adapterLost(index, isGone: true, because: reason, at: now)
        lookForAbsence()
    }

    /// Says why there is no adapter, a moment later: the kernel tells of an adapter before it has finished with it.
    private func lookForAbsence() {
        guard absenceCheck == nil else { return }
        absenceCheck = host.at(host.now.advanced(by: Self.absenceDelay)) { [weak self] in
            guard let self else { return }
            absenceCheck = nil
            guard adapters.isEmpty, let found = kernel.absence(selection), found != absence else { return }
            absence = found
            delegate?.notice(Notice(.warning, "\(found)"))
        }
    }
}
