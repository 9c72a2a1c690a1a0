import Base
import Beacon
import Scanning

/// One adapter's counters, whether it listens, and the health of its controller. Both kernel scanners have one for each
/// adapter and carry out its advice.
final class AdapterWatch {
    let index: UInt16
    private(set) var health = ScanHealth()
    private let host: any EventHost
    private let kernel: any KernelBluetooth
    private weak var output: (any ScannerOutput)?
    private var probe: ControllerProbe?
    private var hasStarted = false
    /// Whether the output knows if this adapter listens.
    private var hasReported = false
    /// The duty that was last reported to the output.
    private var reportedDuty: Double?
    /// Whether scanning is set up, independent of the controller's health.
    private(set) var isScanning = false
    var status: AdapterStatus
    /// Switches the scan off and on.
    var onRestart: (() -> Void)?
    /// Powers the controller off and on.
    var onReset: (() -> Void)?

    init(_ index: UInt16, host: any EventHost, kernel: any KernelBluetooth, output: (any ScannerOutput)?) {
        self.index = index
        self.host = host
        self.kernel = kernel
        self.output = output
        let receiver = Receiver(index: index)
        status = AdapterStatus(receiver: receiver, name: "hci\(index)")
    }

    deinit { probe?.cancel() }

    /// What comes while no scan is set up belongs to another program's scan, which may end unnoticed at any time. It proves no
    /// presence, because its absence would prove nothing.
    func heard(_ report: AdvertisingReport, data: Span<UInt8>, at now: MonotonicInstant) {
        guard isScanning else { return }
        status.reports += 1
        status.lastHeard = now
        health.heard(report, at: now)
        output?.heard(report, data: data, by: status.receiver, at: now)
    }

    func scanStarted(duty: ScanDuty?, because reason: String, at now: MonotonicInstant) {
        if hasStarted { status.restarts += 1 }
        begin(duty: duty, because: reason, at: now)
    }

    /// The scan continues with another duty. This does not count as a restart, because nothing was wrong.
    func dutyChanged(to duty: ScanDuty?, at now: MonotonicInstant) {
        begin(duty: duty, because: "the scan duty was changed", at: now)
    }

    private func begin(duty: ScanDuty?, because reason: String, at now: MonotonicInstant) {
        status.duty = duty?.share
        hasStarted = true
        isScanning = true
        health.scanStarted(at: now)
        if !health.isDoubtful { reportListening(true, because: reason, at: now) }
    }

    func scanStopped(because reason: String, at now: MonotonicInstant) {
        isScanning = false
        probe?.cancel()
        probe = nil
        health.scanStopped()
        reportListening(false, because: reason, at: now)
    }

    /// See `ScanHealth.nextTick`.
    func tick(at now: MonotonicInstant) {
        if let advice = health.tick(at: now) { follow(advice, at: now) }
        guard isScanning else { return }
        let reason = health.isDoubtful ? "the controller may have failed" : "the controller is well"
        reportListening(!health.isDoubtful, because: reason, at: now)
    }

    func notice(_ priority: LogPriority, _ text: String) {
        output?.notice(Notice(priority, "\(status.name): \(text)"))
    }

    private func reportListening(_ listening: Bool, because reason: String, at now: MonotonicInstant) {
        let isNewDuty = listening && status.duty != reportedDuty
        // That it does not listen is reported at first, too: presence may remember the adapter from an earlier run.
        guard status.isListening != listening || isNewDuty || !hasReported else { return }
        hasReported = true
        status.isListening = listening
        if listening { reportedDuty = status.duty }
        output?.listening(listening, of: status.receiver, at: now, because: "\(status.name): \(reason)")
    }

    private func follow(_ advice: ScanHealth.Advice, at now: MonotonicInstant) {
        switch advice {
        case .probe:
            probe = ControllerProbe(index, host: host, kernel: kernel) { [weak self] in self?.probed(answered: $0) }
        case .restartScan(let reason):
            notice(.debug, "scan restarted: \(reason)")
            onRestart?()
        case .reset(let reason):
            notice(.warning, "reset: \(reason)")
            status.resets += 1
            reportListening(false, because: reason, at: now)
            onReset?()
        }
    }

    private func probed(answered: Bool) {
        let now = host.now
        probe = nil
        let advice = answered ? health.probeAnswered(at: now) : health.probeFailed(at: now)
        if let advice { follow(advice, at: now) }
    }
}
