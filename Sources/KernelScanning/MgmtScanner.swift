import Beacon
package import Scanning

/// Scans through the kernel's own advertisement monitors, on every adapter at once.
///
/// The kernel scans passively with its duplicate filter off and hands out raw advertising data, beside
/// bluetoothd and whatever bluetoothd's clients do. Needs CAP_NET_ADMIN.
package final class MgmtScanner: Scanner {
    private final class Adapter {
        var status: AdapterStatus
        var health = ScanHealth()
        var isReady = false
        var monitor: UInt16?
        /// A monitor has been asked for and not yet been granted.
        var isArming = false
        var hasBeenArmed = false
        var probe: ControllerProbe?
        var retry: (any ScannerToken)?

        init(_ status: AdapterStatus) { self.status = status }
    }

    private let host: any ScannerHost
    private weak var output: (any ScannerOutput)?
    private let duty: ScanDuty
    private let monitor: AdapterMonitor
    private var byIndex: [UInt16: Adapter] = [:]
    private var timer: (any ScannerToken)?

    /// - Throws: `ScannerError` if the kernel has no Bluetooth.
    package init(
        selection: AdapterSelection = .all, duty: ScanDuty = .full, host: any ScannerHost, output: any ScannerOutput
    ) throws(ScannerError) {
        self.host = host
        self.output = output
        self.duty = duty
        monitor = try AdapterMonitor(host: host, selection: selection)
    }

    package var adapters: [AdapterStatus] {
        byIndex.keys.sorted().compactMap { byIndex[$0]?.status }
    }

    package func start() throws(ScannerError) {
        let needed = ManagementCommand.Opcode.addPatternsMonitor.rawValue
        if !monitor.supportedCommands().contains(needed) {
            // The kernel lists to each process only what that process may use.
            guard Capability.netAdmin.isHeld else {
                throw ScannerError(
                    .permission, "the mgmt scanner needs CAP_NET_ADMIN: \(Capability.netAdmin.cure)")
            }
            throw ScannerError(.unavailable, "this kernel has no advertisement monitors; Linux 5.10 or later has")
        }
        monitor.delegate = self
        monitor.start()
        scheduleTick()
    }

    package func stop() {
        timer?.cancel()
        timer = nil
        let now = host.now
        for (index, adapter) in byIndex {
            // Monitors outlive the socket that made them (seen on 6.1), and the kernel scans while there is one.
            if let handle = adapter.monitor { monitor.send(.removeMonitor(index, handle: handle)) }
            adapter.probe?.cancel()
            adapter.retry?.cancel()
            tell(index, false, because: "stopped", at: now)
        }
        byIndex = [:]
        monitor.stop()
    }

    // MARK: Arming

    private func arm(_ index: UInt16) {
        guard let adapter = byIndex[index], adapter.isReady, !adapter.isArming else { return }
        byIndex[index]?.isArming = true
        if let handle = adapter.monitor {
            // Kept by the kernel through a power cycle. Taken away so that there is never more than one.
            monitor.send(.removeMonitor(index, handle: handle))
            byIndex[index]?.monitor = nil
        }
        monitor.send(.setMonitorScan(index, duty))
        monitor.send(.addBeaconMonitor(index))
    }

    private func armed(_ index: UInt16, handle: UInt16?, at now: MonotonicInstant) {
        guard let adapter = byIndex[index], adapter.isArming else { return }
        adapter.isArming = false
        adapter.monitor = handle
        adapter.status.duty = duty.share
        if adapter.hasBeenArmed { adapter.status.restarts += 1 }
        adapter.hasBeenArmed = true
        adapter.health.scanStarted(at: now)
        if !adapter.health.isDoubtful { tell(index, true, because: "advertisement monitor set", at: now) }
    }

    private func armingFailed(_ index: UInt16, status: UInt8, at now: MonotonicInstant) {
        guard byIndex[index]?.isArming == true else { return }
        if status == ManagementStatus.noResources {
            // 32 monitors is the kernel's limit, and those of programs that were killed stay. They keep the kernel
            // scanning, so we hear through them.
            output?.notice(
                ScannerNotice(
                    .warning, "hci\(index): all the kernel's advertisement monitors are taken; listening through them"))
            return armed(index, handle: nil, at: now)
        }
        byIndex[index]?.isArming = false
        if status != ManagementStatus.busy {
            let name = ManagementStatus.name(status)
            output?.notice(ScannerNotice(.warning, "hci\(index): no advertisement monitor: \(name); trying again"))
        }
        retryArming(index, after: .seconds(1))
    }

    private func retryArming(_ index: UInt16, after delay: Duration) {
        byIndex[index]?.retry?.cancel()
        byIndex[index]?.retry = host.at(host.now.advanced(by: delay)) { [weak self] in self?.arm(index) }
    }

    private func tell(_ index: UInt16, _ listening: Bool, because reason: String, at now: MonotonicInstant) {
        guard let adapter = byIndex[index], adapter.status.isListening != listening else { return }
        byIndex[index]?.status.isListening = listening
        output?.listening(listening, of: adapter.status.receiver, at: now, because: "\(adapter.status.name): \(reason)")
    }

    // MARK: Health

    private func scheduleTick() {
        timer = host.at(host.now.advanced(by: .seconds(1))) { [weak self] in
            guard let self else { return }
            tick()
            scheduleTick()
        }
    }

    private func tick() {
        let now = host.now
        countLost()
        for index in byIndex.keys {
            if let advice = byIndex[index]?.health.tick(at: now) { follow(advice, index, at: now) }
            guard let adapter = byIndex[index], adapter.isReady, !adapter.isArming else { continue }
            tell(
                index, !adapter.health.isDoubtful,
                because: adapter.health.isDoubtful ? "the controller may have failed" : "reports come again", at: now)
        }
    }

    /// One socket serves all adapters, so what it lost is entered at the adapter that says most.
    private func countLost() {
        let lost = monitor.lostMessages()
        guard lost > 0, let busiest = byIndex.max(by: { $0.value.status.reports < $1.value.status.reports }) else { return }
        byIndex[busiest.key]?.status.lost += UInt64(lost)
        output?.notice(ScannerNotice(.warning, "\(lost) messages of the kernel were lost: more reports than can be read"))
    }

    private func follow(_ advice: ScanHealth.Advice, _ index: UInt16, at now: MonotonicInstant) {
        switch advice {
        case .probe: probe(index)
        case .restartScan(let reason):
            output?.notice(ScannerNotice(.debug, "hci\(index): scan restarted: \(reason)"))
            arm(index)
        case .reset(let reason):
            output?.notice(ScannerNotice(.warning, "hci\(index): reset: \(reason)"))
            tell(index, false, because: reason, at: now)
            monitor.powerCycle(index)
        }
    }

    private func probe(_ index: UInt16) {
        byIndex[index]?.probe = ControllerProbe(index, host: host) { [weak self] answered in
            guard let self else { return }
            let now = host.now
            byIndex[index]?.probe = nil
            let advice =
                answered
                ? byIndex[index]?.health.probeAnswered(at: now) : byIndex[index]?.health.probeFailed(at: now)
            if let advice { follow(advice, index, at: now) }
        }
    }
}

extension MgmtScanner: AdapterMonitorDelegate {
    func adapterReady(_ index: UInt16, at now: MonotonicInstant) {
        if byIndex[index] == nil {
            let receiver = Receiver(index: UInt8(truncatingIfNeeded: index))
            byIndex[index] = Adapter(AdapterStatus(receiver: receiver, name: "hci\(index)"))
        }
        byIndex[index]?.isReady = true
        arm(index)
    }

    func adapterLost(_ index: UInt16, because reason: String, at now: MonotonicInstant) {
        byIndex[index]?.isReady = false
        byIndex[index]?.isArming = false
        if reason == "unplugged" { byIndex[index]?.monitor = nil }
        byIndex[index]?.retry?.cancel()
        byIndex[index]?.probe?.cancel()
        byIndex[index]?.probe = nil
        byIndex[index]?.health.scanStopped()
        tell(index, false, because: reason, at: now)
    }

    func received(_ event: ManagementEvent, index: UInt16, at now: MonotonicInstant) {
        switch event {
        case .monitorAdded(let handle): armed(index, handle: handle, at: now)
        case .completed(ManagementCommand.Opcode.addPatternsMonitor.rawValue, let status):
            armingFailed(index, status: status, at: now)
        case .completed(ManagementCommand.Opcode.setDefaultSystemConfiguration.rawValue, let status)
        where status != ManagementStatus.success:
            byIndex[index]?.status.duty = nil
            let name = ManagementStatus.name(status)
            output?.notice(ScannerNotice(.info, "hci\(index): the scan duty stays the kernel's: \(name)"))
        case .monitorRemoved(let handle):
            // bluetoothd clears all monitors when it starts, ours too.
            guard let adapter = byIndex[index], adapter.monitor == handle || handle == 0 else { return }
            byIndex[index]?.monitor = nil
            tell(index, false, because: "the advertisement monitor was taken away", at: now)
            retryArming(index, after: .milliseconds(50))
        default: break
        }
    }

    func found(_ device: FoundDevice, data: Span<UInt8>, index: UInt16, at now: MonotonicInstant) {
        guard let adapter = byIndex[index] else { return }
        adapter.status.reports += 1
        adapter.status.lastHeard = now
        adapter.health.heard(device.report.address, at: now)
        output?.heard(device.report, data: data, by: adapter.status.receiver, at: now)
    }

    func malformed(index: UInt16) {
        byIndex[index]?.status.malformed.count(.truncatedEvent)
    }

    func notice(_ notice: ScannerNotice) { output?.notice(notice) }
}
