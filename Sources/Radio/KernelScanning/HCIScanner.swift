package import Base
import Beacon
package import Scanning

/// Scans with its own HCI commands, for machines without bluetoothd or with an adapter for the gateway alone.
///
/// Needs CAP_NET_RAW, and CAP_NET_ADMIN to switch adapters on.
package final class HCIScanner: FallibleScanner {
    package enum Mode: Hashable, Sendable {
        /// Own scan.
        case scan
        /// Only receives reports of another program's scan, with the duplicate filter and pauses of that scan.
        case listenOnly
    }

    private final class Adapter {
        let watch: AdapterWatch
        let session: HCISession

        init(_ watch: AdapterWatch, _ session: HCISession) {
            self.watch = watch
            self.session = session
        }
    }

    private let host: any EventHost
    private let kernel: any KernelBluetooth
    private weak var output: (any ScannerOutput)?
    private var duty: ScanDuty
    private let mode: Mode
    private let monitor: AdapterMonitor
    private var byIndex: [UInt16: Adapter] = [:]
    private let health: HealthTimer

    /// - Throws: `ScannerError` if the kernel has no Bluetooth.
    package convenience init(
        selection: AdapterSelection = .all, duty: ScanDuty = .full, mode: Mode = .scan, host: any EventHost,
        output: any ScannerOutput
    ) throws(ScannerError) {
        try self.init(
            selection: selection, duty: duty, mode: mode, host: host, kernel: RunningKernel(), output: output)
    }

    init(
        selection: AdapterSelection, duty: ScanDuty, mode: Mode, host: any EventHost, kernel: any KernelBluetooth,
        output: any ScannerOutput
    ) throws(ScannerError) {
        self.host = host
        self.kernel = kernel
        self.output = output
        self.duty = duty
        self.mode = mode
        monitor = try AdapterMonitor(host: host, kernel: kernel, selection: selection)
        health = HealthTimer(host: host)
    }

    package var failure: ScannerError? { monitor.failure }

    package var hasDied: Bool { monitor.failure != nil }

    package var problem: ScanProblem? { monitor.problem }

    package var adapters: [AdapterStatus] {
        byIndex.keys.sorted().compactMap { index in
            guard let adapter = byIndex[index] else { return nil }
            var status = adapter.watch.status
            status.malformed = adapter.session.malformed
            return status
        }
    }

    package func start() throws(ScannerError) {
        guard kernel.holds(.netRaw) else {
            throw ScannerError(.permission, "the hci scanner needs CAP_NET_RAW: \(Capability.netRaw.remedy)")
        }
        monitor.delegate = self
        monitor.start()
        health.start({ [weak self] in self?.byIndex.values.map(\.watch) ?? [] }) { [weak self] in self?.tick() }
    }

    package func setDuty(_ duty: ScanDuty) {
        guard duty != self.duty else { return }
        self.duty = duty
        for adapter in byIndex.values { adapter.session.setDuty(duty) }
    }

    package func stop() {
        health.stop()
        let now = host.now
        for adapter in byIndex.values {
            adapter.session.stop()
            adapter.watch.scanStopped(because: "stopped", at: now)
        }
        byIndex = [:]
        monitor.stop()
    }

    private func tick() {
        for adapter in byIndex.values {
            let lost = adapter.session.lostPackets()
            if lost > 0 {
                adapter.watch.status.lost += UInt64(lost)
                adapter.watch.notice(.warning, "\(lost) packets were lost because they were not read in time")
            }
            adapter.watch.tick(at: host.now)
        }
        _ = monitor.lostMessages()
    }
}

extension HCIScanner: AdapterMonitorDelegate {
    func adapterReady(_ index: UInt16, at now: MonotonicInstant) {
        if byIndex[index] == nil {
            let session = HCISession(index, duty: duty, listensOnly: mode == .listenOnly, host: host, kernel: kernel)
            let watch = AdapterWatch(index, host: host, kernel: kernel, output: output)
            watch.status.address = monitor.address(of: index)
            session.delegate = self
            watch.onRestart = { [weak session] in session?.restart() }
            watch.onReset = { [weak self] in self?.monitor.powerCycle(index) }
            byIndex[index] = Adapter(watch, session)
        }
        monitor.send(.readMonitorFeatures(index))
        byIndex[index]?.session.start()
    }

    func adapterLost(_ index: UInt16, isGone: Bool, because reason: String, at now: MonotonicInstant) {
        guard let adapter = byIndex[index] else { return }
        adapter.session.stop()
        adapter.watch.adapterLost(because: reason, at: now)
    }

    func received(_ event: ManagementEvent, index: UInt16, at now: MonotonicInstant) {
        if case .monitorFeatures(let handles, _, _) = event { byIndex[index]?.session.hasNoMonitors = handles == 0 }
    }

    // The management socket also reports packets while another program has a monitor or a discovery; the raw socket
    // reports all packets.
    func found(_ device: FoundDevice, data: Span<UInt8>, index: UInt16, at now: MonotonicInstant) {}

    func malformed(index: UInt16) {}

    func notice(_ notice: Notice) { output?.notice(notice) }
}

extension HCIScanner: HCISessionDelegate {
    func sessionScans(_ session: HCISession, at now: MonotonicInstant) {
        let reason = mode == .scan ? "own scan on" : "listening to others' scans"
        let duty = mode == .scan ? session.requestedDuty : nil
        guard let watch = byIndex[session.index]?.watch else { return }
        if watch.isScanning, duty?.share != watch.requestedDuty {
            watch.dutyChanged(to: duty, at: now)
        } else {
            watch.scanStarted(duty: duty, because: reason, at: now)
        }
    }

    func sessionPauses(_ session: HCISession, because reason: String, at now: MonotonicInstant) {
        byIndex[session.index]?.watch.scanStopped(because: reason, at: now)
        monitor.send(.readMonitorFeatures(session.index))
    }

    func sessionFails(_ session: HCISession, at now: MonotonicInstant) {
        guard let watch = byIndex[session.index]?.watch, !watch.isScanning else { return }
        watch.scanStarted(duty: session.requestedDuty, because: "own scan on", at: now)
    }

    func session(_ session: HCISession, cannotOpen reason: String, at now: MonotonicInstant) {
        guard let watch = byIndex[session.index]?.watch, watch.obstacle != reason else { return }
        watch.scanStopped(because: reason, at: now)
        watch.obstacle = reason
        watch.notice(.warning, "\(reason); it hears nothing; trying again")
    }

    func sessionOpened(_ session: HCISession, at now: MonotonicInstant) {
        // In the other mode, what other programs do is heard as it is.
        if mode == .scan { byIndex[session.index]?.watch.evidenceBegins(at: now) }
    }

    func session(_ session: HCISession, saw command: ScanCommand, at now: MonotonicInstant) {
        byIndex[session.index]?.watch.saw(command, at: now)
    }

    func session(_ session: HCISession, answered opcode: UInt16, status: UInt8, at now: MonotonicInstant) {
        byIndex[session.index]?.watch.answered(opcode, status: status, at: now)
    }

    func sessionHangs(_ session: HCISession) {
        byIndex[session.index]?.watch.notice(.warning, "reset: the controller hangs: it answers no command")
        byIndex[session.index]?.watch.status.resets += 1
        monitor.powerCycle(session.index)
    }

    func session(_ session: HCISession, heard report: AdvertisingReport, data: Span<UInt8>, at now: MonotonicInstant) {
        byIndex[session.index]?.watch.heard(report, data: data, at: now)
    }

    func session(_ session: HCISession, says priority: LogPriority, _ text: String) {
        byIndex[session.index]?.watch.notice(priority, text)
    }
}
