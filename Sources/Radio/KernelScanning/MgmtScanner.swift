package import Base
package import Beacon
package import Scanning

/// Scans through the kernel's own advertisement monitors, on every adapter at once.
///
/// The kernel scans passively with its duplicate filter off and delivers raw advertising data, alongside bluetoothd and its
/// clients. Needs CAP_NET_ADMIN.
package final class MgmtScanner: FallibleScanner {
    private typealias Adapter = MonitoredAdapter

    /// Time for a program that clears all monitors (bluetoothd when it starts) to finish.
    private static let pauseBeforeRearming = Duration.milliseconds(50)

    /// The kernel refuses monitors.
    private var refusal: ScannerError?
    private let host: any EventHost
    private let kernel: any KernelBluetooth
    private weak var output: (any ScannerOutput)?
    private var duty: ScanDuty
    /// What the monitors ask for beside iBeacons and telemetry.
    private var patterns: [BeaconPacketPattern] = []
    private var wantsAll = false
    private var offersActiveScan = false
    private let monitor: AdapterMonitor
    private var byIndex: [UInt16: Adapter] = [:]
    private let health: HealthTimer

    /// - Throws: `ScannerError` if the kernel has no Bluetooth.
    package convenience init(
        selection: AdapterSelection = .all, duty: ScanDuty = .full, host: any EventHost, output: any ScannerOutput
    ) throws(ScannerError) {
        try self.init(selection: selection, duty: duty, host: host, kernel: RunningKernel(), output: output)
    }

    init(
        selection: AdapterSelection, duty: ScanDuty, host: any EventHost, kernel: any KernelBluetooth,
        output: any ScannerOutput
    ) throws(ScannerError) {
        self.host = host
        self.kernel = kernel
        self.output = output
        self.duty = duty
        monitor = try AdapterMonitor(host: host, kernel: kernel, selection: selection)
        health = HealthTimer(host: host)
    }

    package var failure: ScannerError? { refusal ?? monitor.failure }

    package var hasDied: Bool { monitor.failure != nil }
    package var problem: ScanProblem? { monitor.problem }

    package var adapters: [AdapterStatus] {
        byIndex.keys.sorted().compactMap { byIndex[$0] }.map { adapter in
            var status = adapter.watch.status
            status.malformed.add(adapter.observer.malformed)
            return status
        }
    }

    package func start() throws(ScannerError) {
        let needed = ManagementCommand.Opcode.addPatternsMonitor.rawValue
        if !monitor.supportedCommands().contains(needed) {
            // The kernel lists only the commands that this process may use.
            guard kernel.holds(.netAdmin) else {
                throw ScannerError(.permission, "the mgmt scanner needs CAP_NET_ADMIN: \(Capability.netAdmin.remedy)")
            }
            throw ScannerError(.unavailable, "this kernel has no advertisement monitors; they need Linux 5.10 or later")
        }
        monitor.delegate = self
        monitor.start()
        health.start({ [weak self] in self?.byIndex.values.map(\.watch) ?? [] }) { [weak self] in self?.tick() }
    }

    package func setDuty(_ duty: ScanDuty) {
        guard duty != self.duty else { return }
        self.duty = duty
        for index in byIndex.keys.sorted() { arm(index) }
    }

    package func setPatterns(_ patterns: [BeaconPacketPattern]) {
        guard patterns != self.patterns else { return }
        self.patterns = patterns
        for index in byIndex.keys.sorted() {
            byIndex[index]?.room = PatternRoom()
            arm(index)
        }
    }

    package func setWantsAll(_ wantsAll: Bool) {
        guard wantsAll != self.wantsAll else { return }
        self.wantsAll = wantsAll
        for index in byIndex.keys.sorted() {
            guard let adapter = byIndex[index] else { continue }
            askForAll(adapter)
            narrow(adapter)
        }
    }

    /// Most controllers deliver everything anyway. One that matches patterns is asked for more of them.
    private func askForAll(_ adapter: Adapter) {
        guard let isFiltering = adapter.isFiltering else {
            return (wantsAll || offersActiveScan) && adapter.isReady
                ? monitor.send(.readMonitorFeatures(adapter.watch.index)) : ()
        }
        guard isFiltering, adapter.requestedPatterns != wanted(adapter) else { return narrow(adapter) }
        adapter.room = PatternRoom()
        arm(adapter.watch.index)
    }

    private func wanted(_ adapter: Adapter) -> [BeaconPacketPattern] {
        BeaconPacketPattern.inOrder(identities: patterns, isAll: wantsAll && adapter.isFiltering == true)
    }

    /// Presence gets of a controller that matches patterns what it gets while nobody else wants packets: those of its own patterns.
    private func narrow(_ adapter: Adapter) {
        let own = BeaconPacketPattern.inOrder(identities: patterns)
        let isWider = wantsAll || adapter.requestedPatterns != own || adapter.windows.isOwn
        let isOthers = adapter.observer.isDiscovering && !adapter.windows.isOwn
        let narrowed =
            adapter.isFiltering == true && isWider && !isOthers ? Array(own.prefix(adapter.requestedCount)) : nil
        if narrowed != adapter.watch.patterns { adapter.watch.patterns = narrowed }
    }

    package func stop() {
        health.stop()
        let now = host.now
        for (index, adapter) in byIndex {
            adapter.windows.stop()
            // Monitors outlive the socket that made them (seen on 6.1), and the kernel scans while there is one.
            if let handle = adapter.monitor { monitor.send(.removeMonitor(index, handle: handle)) }
            adapter.retry?.cancel()
            adapter.endArming()
            adapter.watch.scanStopped(because: "stopped", at: now)
        }
        byIndex = [:]
        monitor.stop()
    }

    // MARK: Arming

    private func arm(_ index: UInt16) {
        guard let adapter = byIndex[index], adapter.isReady, !adapter.isArming else { return }
        let now = host.now
        let deadline = host.at(now.advanced(by: Adapter.patience)) { [weak self] in self?.unanswered(index) }
        adapter.beginArming(at: now, until: deadline)
        if let handle = adapter.monitor {
            // The kernel keeps the monitor during a power cycle. It is removed so that there is never more than one.
            monitor.send(.removeMonitor(index, handle: handle))
            adapter.monitor = nil
        }
        adapter.requestedDuty = duty
        let wanted = wanted(adapter)
        adapter.requestedPatterns = wanted
        monitor.send(.setMonitorScan(index, duty))
        adapter.requestedCount = adapter.room.next(of: wanted.count)
        narrow(adapter)
        monitor.send(.addMonitor(index, Array(wanted.prefix(adapter.requestedCount))))
    }

    /// - Parameter handle: Of a monitor that was requested, perhaps by a request whose answer was no longer awaited.
    private func added(_ adapter: Adapter, handle: UInt16, at now: MonotonicInstant) {
        // Answers come in the order of the requests: the newest monitor is what is wanted, and there is never more than one.
        if !adapter.isArming, let older = adapter.monitor {
            monitor.send(.removeMonitor(adapter.watch.index, handle: older))
        }
        guard adapter.isReady else { return adapter.monitor = handle }
        adapter.retry?.cancel()
        armed(adapter, handle: handle, at: now)
    }

    private func armed(_ adapter: Adapter, handle: UInt16?, at now: MonotonicInstant) {
        adapter.endArming()
        adapter.forgetFailures()
        adapter.monitor = handle
        let hasMoreRoom = handle != nil && adapter.room.accept(adapter.requestedCount)
        if handle != nil, !hasMoreRoom { adapter.tellRoom() }
        let taken = adapter.takesDuty ? adapter.requestedDuty : nil
        if adapter.watch.isScanning, taken?.share != adapter.watch.requestedDuty {
            adapter.watch.dutyChanged(to: taken, at: now)
        } else {
            adapter.watch.scanStarted(duty: taken, because: "advertisement monitor set", at: now)
        }
        // The setting was changed while the request was pending.
        if hasMoreRoom || adapter.requestedDuty != duty || adapter.requestedPatterns != wanted(adapter) {
            return arm(adapter.watch.index)
        }
        if adapter.isFiltering == nil { askForAll(adapter) }
        if adapter.othersChanged { othersChanged(adapter) }
        adapter.windows.tell()
    }

    /// Other programs' monitors are counted again, but not while the own one may be among them or not.
    private func othersChanged(_ adapter: Adapter) {
        adapter.othersChanged = adapter.isArming
        if !adapter.isArming { adapter.windows.monitorsChanged() }
    }

    private func armingFailed(_ adapter: Adapter, status: UInt8, at now: MonotonicInstant) {
        guard adapter.isArming else { return }
        if status != ManagementStatus.busy, adapter.room.refuse(adapter.requestedCount) {
            adapter.endArming()
            return arm(adapter.watch.index)
        }
        if status == ManagementStatus.noResources {
            // The kernel has no monitor left, or a controller that matches patterns itself has no room. The number decides.
            adapter.isCounting = true
            return monitor.send(.readMonitorFeatures(adapter.watch.index))
        }
        refused(adapter, status: status, at: now)
    }

    /// The number of monitors, after a request for one more was refused because there is no room.
    private func counted(_ adapter: Adapter, handles: Int, limit: Int, at now: MonotonicInstant) {
        guard adapter.isArming, adapter.isCounting else { return }
        adapter.isCounting = false
        guard handles >= limit else { return refused(adapter, status: ManagementStatus.noResources, at: now) }
        // The kernel's limit is 32 monitors, and monitors of killed programs stay. They keep the kernel scanning, so the gateway
        // receives reports through them.
        if !adapter.watch.isScanning {
            adapter.watch.notice(.warning, "all the kernel's advertisement monitors are in use; listening through them")
        }
        armed(adapter, handle: nil, at: now)
    }

    private func refused(_ adapter: Adapter, status: UInt8, at now: MonotonicInstant) {
        guard adapter.isArming else { return }
        let name = ManagementStatus.name(status)
        if status != ManagementStatus.busy {
            failed(adapter, because: name, at: now)
        } else if adapter.isOverdue(at: now) {
            adapter.lacksMonitor(because: name, at: now)
        }
        adapter.endArming()
        retryArming(adapter, after: .seconds(1))
    }

    private func failed(_ adapter: Adapter, because reason: String, at now: MonotonicInstant) {
        adapter.failed(because: reason, at: now)
        guard byIndex.values.allSatisfy({ $0.isUseless(at: now) }) else { return }
        refusal = ScannerError(.unavailable, "the kernel sets no advertisement monitors (\(reason))")
    }

    /// The kernel did not answer the request for a monitor, or the answer was lost.
    private func unanswered(_ index: UInt16) {
        guard let adapter = byIndex[index], adapter.isArming else { return }
        let command = adapter.isCounting ? ManagementCommand.Opcode.readMonitorFeatures : .addPatternsMonitor
        failed(adapter, because: "the kernel does not answer \(command)", at: host.now)
        adapter.endArming()
        retryArming(adapter, after: .seconds(1))
    }

    package func pauseScan(_ isPaused: Bool, by receiver: Receiver) {
        guard let adapter = byIndex[receiver.index], adapter.isReady, !adapter.isArming else { return }
        adapter.retry?.cancel()
        guard isPaused else { return arm(receiver.index) }
        // Behind the kernel's back, because it scans for the monitors of other programs, too, and for those of killed ones.
        if !adapter.observer.endScan(), let handle = adapter.monitor {
            monitor.send(.removeMonitor(receiver.index, handle: handle))
            adapter.monitor = nil
        }
        retryArming(adapter, after: .seconds(1))
    }

    private func retryArming(_ adapter: Adapter, after delay: Duration) {
        let index = adapter.watch.index
        adapter.retry?.cancel()
        adapter.retry = host.at(host.now.advanced(by: delay)) { [weak self] in self?.arm(index) }
    }

    // MARK: Windows of active scan

    package func setOffersActiveScan(_ offers: Bool) {
        guard offers != offersActiveScan else { return }
        offersActiveScan = offers
        for index in byIndex.keys.sorted() {
            guard let adapter = byIndex[index] else { continue }
            if offers, adapter.isReady { monitor.send(.readMonitorFeatures(index)) }
            adapter.windows.setOffered(offers)
        }
    }

    package func scanActively(_ isWanted: Bool, by receiver: Receiver) {
        guard let adapter = byIndex[receiver.index] else { return }
        if isWanted, adapter.isReady { adapter.windows.open() } else { adapter.windows.close() }
    }

    // MARK: Health

    private func tick() {
        let now = host.now
        countLost()
        for adapter in byIndex.values {
            if adapter.isReady { adapter.observer.tick() }
            adapter.watch.tick(at: now)
        }
    }

    /// One socket serves all adapters, so its losses are counted at the adapter with the most reports.
    private func countLost() {
        let lost = monitor.lostMessages()
        guard lost > 0 else { return }
        let busiest = byIndex.values.max { $0.watch.status.reports < $1.watch.status.reports }
        busiest?.watch.status.lost += UInt64(lost)
        output?.notice(
            Notice(.warning, "\(lost) messages of the kernel were lost because they were not read in time"))
    }
}

extension MgmtScanner: AdapterMonitorDelegate {
    func adapterReady(_ index: UInt16, at now: MonotonicInstant) {
        if byIndex[index] == nil {
            let watch = AdapterWatch(index, host: host, kernel: kernel, output: output)
            watch.status.address = monitor.address(of: index)
            let observer = ScanObserver(watch, host: host, kernel: kernel)
            let windows = WindowKeeper(watch, observer, host: host) { [weak self] in self?.monitor.send($0) }
            windows.onChange = { [weak self] in self?.byIndex[index].map { self?.narrow($0) } }
            windows.setOffered(offersActiveScan)
            let adapter = Adapter(watch, observer, windows)
            adapter.watch.onRestart = { [weak self] in self?.arm(index) }
            adapter.watch.onReset = { [weak self] in self?.monitor.powerCycle(index) }
            byIndex[index] = adapter
        }
        byIndex[index]?.isReady = true
        byIndex[index]?.isGone = false
        byIndex[index]?.lost = nil
        // After a suspend another adapter may become ready a moment later, and counts as off for long until then. Failures from before
        // must not end this scanner meanwhile.
        byIndex[index]?.forgetFailures()
        // Before the kernel scans, so that its commands are seen.
        byIndex[index]?.observer.open()
        if let adapter = byIndex[index], keepsMonitor(adapter) {
            return adapter.watch.scanStarted(
                duty: adapter.takesDuty ? duty : nil, because: "advertisement monitor kept", at: now)
        }
        byIndex[index]?.room = PatternRoom()
        arm(index)
    }

    /// Whether the monitor from before a power cycle is still there, and whether the kernel scans for it will be seen. To set another
    /// one would stop that scan, which some controllers refuse.
    private func keepsMonitor(_ adapter: Adapter) -> Bool {
        adapter.monitor != nil && adapter.observer.isOpen && adapter.requestedDuty == duty
            && adapter.requestedPatterns == wanted(adapter)
    }

    func adapterLost(_ index: UInt16, isGone: Bool, because reason: String, at now: MonotonicInstant) {
        guard let adapter = byIndex[index] else { return }
        adapter.isReady = false
        adapter.endArming()
        adapter.isGone = isGone
        adapter.lost = adapter.lost ?? now
        if isGone { adapter.monitor = nil }
        adapter.retry?.cancel()
        adapter.windows.lost()
        adapter.watch.adapterLost(because: reason, at: now)
    }

    func received(_ event: ManagementEvent, index: UInt16, at now: MonotonicInstant) {
        guard let adapter = byIndex[index] else { return }
        switch event {
        case .discovering(let isOn): adapter.windows.discovering(isOn)
        case .completed(.startDiscovery, let status): adapter.windows.started(status: status)
        case .completed(.stopDiscovery, let status): adapter.windows.stopped(status: status)
        case .monitorAdded(let handle): added(adapter, handle: handle, at: now)
        case .completed(.addPatternsMonitor, let status): armingFailed(adapter, status: status, at: now)
        case .monitorFeatures(let handles, let limit, let isFiltering):
            adapter.isFiltering = isFiltering
            counted(adapter, handles: handles, limit: limit, at: now)
            askForAll(adapter)
            adapter.windows.counted(others: handles - (adapter.monitor == nil ? 0 : 1))
        case .completed(.readMonitorFeatures, _):
            adapter.windows.counted(others: 0)
            guard adapter.isCounting else { return adapter.isFiltering = false }
            adapter.isCounting = false
            refused(adapter, status: ManagementStatus.noResources, at: now)
        case .completed(.setDefaultSystemConfiguration, let status):
            adapter.takesDuty = status == ManagementStatus.success
            if !adapter.takesDuty {
                adapter.watch.notice(
                    .info, "the kernel's own scan duty stays in force: \(ManagementStatus.name(status))")
            }
        case .monitorOfOther: othersChanged(adapter)
        case .monitorRemoved(let handle):
            // bluetoothd clears all monitors when it starts, the gateway's too. While the gateway listens through those of
            // others, any of them may have been the last, and there is room for its own now.
            let listensThroughOthers = adapter.monitor == nil && adapter.watch.isScanning && !adapter.isArming
            if adapter.monitor != handle { othersChanged(adapter) }
            guard adapter.monitor == handle || handle == 0 || listensThroughOthers else { return }
            if listensThroughOthers { adapter.room = PatternRoom() }
            adapter.monitor = nil
            adapter.watch.scanStopped(because: "the advertisement monitor was removed", at: now)
            retryArming(adapter, after: Self.pauseBeforeRearming)
        default: break
        }
    }

    func found(_ device: FoundDevice, data: Span<UInt8>, index: UInt16, at now: MonotonicInstant) {
        byIndex[index]?.watch.heard(device.report, data: data, at: now)
    }

    func malformed(index: UInt16) {
        byIndex[index]?.watch.status.malformed.count(.truncatedEvent)
    }

    func notice(_ notice: Notice) { output?.notice(notice) }
}
