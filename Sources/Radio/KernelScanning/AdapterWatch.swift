import Base
import Beacon
import Scanning

/// One adapter's counters, whether it listens, and the health of its controller. Both kernel scanners have one for each
/// adapter and carry out its advice.
///
/// An adapter listens while a scan is set up, the controller confirms it (`ScanEvidence`), and there is no doubt of the
/// controller's health (`ScanHealth`).
final class AdapterWatch {
    /// What the output knows.
    private enum Told {
        case nothing, listening, pausing, silent
    }

    let index: UInt16
    private(set) var health = ScanHealth()
    private let host: any EventHost
    private let kernel: any KernelBluetooth
    private weak var output: (any ScannerOutput)?
    private var probe: ControllerProbe?
    private var hasStarted = false
    private var told = Told.nothing
    /// The duty that was last reported to the output.
    private var reportedDuty: Double?
    /// The duty that was asked for; nil: unknown.
    private(set) var requestedDuty: Double?
    /// Whether scanning is set up, independent of the controller.
    private(set) var isScanning = false
    /// What the controller says of its scan; nil: it is not known, because the commands of all programs cannot be read.
    private var evidence: ScanEvidence?
    private var keeper = ScanKeeper()
    private var deadline: (any EventRegistration)?
    /// Whether reports are taken: presence is told of each, so it must know that their absence means something.
    private var takesReports = false
    /// Reports are taken from one of the two, the kernel and the observer.
    private var takes = false
    /// What the output is to get: packets that match one of these; nil: all that come.
    var patterns: [BeaconPacketPattern]? { didSet { choose() } }
    /// The same for those that the observer reads. No report is taken from both.
    private var takesObserved = false
    /// Whether the observer reads the reports.
    var isObserverReading = false { didSet { choose() } }
    var status: AdapterStatus
    /// Why no scan is set up although one is wanted; nil: one is set up, or nobody has refused it.
    var obstacle: String? { didSet { if obstacle != oldValue { status.trouble = obstacle } } }
    /// Why the controller could not be asked whether it works; nil: it could.
    private var unasked: String?
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

    deinit {
        probe?.cancel()
        deadline?.cancel()
    }

    /// What comes while no scan is set up, or while the scan is not confirmed for longer than a moment, belongs to another
    /// program's scan, which may end at any time. It proves no presence, because its absence would prove nothing.
    func heard(_ report: AdvertisingReport, data: Span<UInt8>, at now: MonotonicInstant) {
        guard takesReports || isTaken(data, isObserved: false, at: now) else { return }
        take(report, data: data, at: now)
    }

    /// The same from the observer, which reads the reports of the raw socket in place of the kernel's for a while.
    func observed(_ report: AdvertisingReport, data: Span<UInt8>, at now: MonotonicInstant) {
        guard takesObserved || isTaken(data, isObserved: true, at: now) else { return }
        take(report, data: data, at: now)
    }

    @inline(__always)
    private func take(_ report: AdvertisingReport, data: Span<UInt8>, at now: MonotonicInstant) {
        status.reports += 1
        status.lastHeard = now
        health.heard(report, at: now)
        output?.heard(report, data: data, by: status.receiver, at: now)
    }

    /// The rare cases in which it is asked for each report whether it is taken.
    private func isTaken(_ data: Span<UInt8>, isObserved: Bool, at now: MonotonicInstant) -> Bool {
        if isScanning, evidence?.needsReports == true {
            // The report is the evidence of the scan, because there is none that is better.
            evidence?.heard(at: now)
            examine(at: now)
            if patterns == nil { return takesReports || takesObserved }
        }
        guard let patterns, takes, isObserved == isObserverReading else { return false }
        return patterns.contains { $0.begins(aStructureOf: data) }
    }

    /// Whether reports should be read from the raw socket, because they are the only evidence.
    var needsReports: Bool { isScanning && evidence?.claim == .unknown }

    // MARK: The scan

    func scanStarted(duty: ScanDuty?, because reason: String, at now: MonotonicInstant) {
        if hasStarted { status.restarts += 1 }
        begin(duty: duty, because: reason, at: now)
    }

    /// The scan continues with another duty. This does not count as a restart, because nothing was wrong.
    func dutyChanged(to duty: ScanDuty?, at now: MonotonicInstant) {
        begin(duty: duty, because: "the scan duty was changed", at: now)
    }

    private func begin(duty: ScanDuty?, because reason: String, at now: MonotonicInstant) {
        requestedDuty = duty?.share
        hasStarted = true
        isScanning = true
        obstacle = nil
        health.scanStarted(at: now)
        if let evidence { carryOut(keeper.begin(evidence, at: now), at: now) }
        update(because: reason, at: now)
    }

    func scanStopped(because reason: String, at now: MonotonicInstant) {
        isScanning = false
        probe?.cancel()
        probe = nil
        if status.trouble == unasked { status.trouble = nil }
        health.scanStopped(at: now)
        keeper.end(at: now)
        update(because: reason, at: now)
        tell(.silent, because: reason, at: now)
    }

    // MARK: The evidence

    /// From now on the commands of all programs are reported. What happened before is not known.
    func evidenceBegins(at now: MonotonicInstant) {
        let isNew = evidence == nil
        if isNew { evidence = ScanEvidence() } else { evidence?.forget() }
        if isNew, isScanning, let evidence { carryOut(keeper.begin(evidence, at: now), at: now) }
        examine(at: now)
    }

    /// The adapter is off, asleep or gone. Commands of that time may not be seen.
    func adapterLost(because reason: String, at now: MonotonicInstant) {
        evidence?.forget()
        obstacle = nil
        scanStopped(because: reason, at: now)
    }

    /// They cannot be reported: the adapter listens if a scan is set up.
    func evidenceIsMissing(at now: MonotonicInstant) {
        guard evidence != nil else { return }
        evidence = nil
        if isScanning { update(because: "the scan is not checked any longer", at: now) }
    }

    func saw(_ command: ScanCommand, at now: MonotonicInstant) {
        evidence?.sent(command, at: now)
        examine(at: now)
    }

    func answered(_ opcode: UInt16, status: UInt8, at now: MonotonicInstant) {
        evidence?.answered(opcode, status: status, at: now)
        examine(at: now)
    }

    private func examine(at now: MonotonicInstant) {
        guard let evidence else { return }
        let effects = keeper.learned(evidence, at: now) { [kernel, index] in kernel.hasConnection(index) }
        carryOut(effects, at: now)
        update(because: "the controller scans", at: now)
    }

    private func elapsed() {
        let now = host.now
        if evidence?.needsReports == true, let last = status.lastHeard { evidence?.heard(at: last) }
        evidence?.elapsed(at: now)
        if let evidence { carryOut(keeper.learned(evidence, at: now), at: now) }
        carryOut(keeper.elapsed(at: now) { [kernel, index] in kernel.hasConnection(index) }, at: now)
        update(because: "the controller scans", at: now)
    }

    private func carryOut(_ effects: [ScanKeeper.Effect], at now: MonotonicInstant) {
        for effect in effects {
            switch effect {
            case .startScan: onRestart?()
            case .reset(let reason): follow(.reset(because: reason), at: now)
            case .sparesConnection:
                notice(.warning, "\(keeper.objection ?? ""); it is not reset while a connection uses it")
            }
        }
    }

    private func scheduleDeadline() {
        deadline?.cancel()
        deadline = nil
        let due = [evidence?.nextDeadline, evidence == nil ? nil : keeper.nextDeadline].compactMap(\.self).min()
        guard let due else { return }
        deadline = host.at(due) { [weak self] in self?.elapsed() }
    }

    // MARK: Health

    /// See `ScanHealth.nextTick`.
    func tick(at now: MonotonicInstant) {
        if let advice = health.tick(at: now) { follow(advice, at: now) }
        guard isScanning else { return }
        update(because: health.isDoubtful ? "the controller may have failed" : "the controller is well", at: now)
    }

    private func follow(_ advice: ScanHealth.Advice, at now: MonotonicInstant) {
        switch advice {
        case .probe:
            probe = ControllerProbe(index, host: host, kernel: kernel) { [weak self] in self?.probed($0) }
        case .restartScan(let reason):
            notice(.debug, "scan restarted: \(reason)")
            onRestart?()
        case .reset(let reason):
            notice(.warning, "reset: \(reason)")
            status.resets += 1
            tell(.silent, because: reason, at: now)
            onReset?()
        }
    }

    private func probed(_ outcome: ControllerProbe.Outcome) {
        let now = host.now
        probe = nil
        let advice: ScanHealth.Advice?
        switch outcome {
        case .answered: (advice, unasked) = (health.probeAnswered(at: now), nil)
        case .unanswered: (advice, unasked) = (health.probeFailed(at: now), nil)
        case .notSent(let reason):
            let text = "whether the controller works cannot be asked: \(reason)"
            if unasked == nil { notice(.warning, text) }
            (advice, unasked) = (health.probeNotSent(at: now), text)
        }
        if let advice { follow(advice, at: now) }
        // Silence counts again as soon as the answer is here.
        update(because: "the controller is well", at: now)
    }

    func notice(_ priority: LogPriority, _ text: String) {
        output?.notice(Notice(priority, "\(status.name): \(text)"))
    }

    // MARK: What the output is told

    /// - Parameter reason: Why it listens, if it does.
    private func update(because reason: String, at now: MonotonicInstant) {
        let state = evidence == nil ? ScanKeeper.State.confirmed : keeper.state
        health.setPaused(evidence != nil && isScanning && state != .confirmed, at: now)
        status.duty = evidence?.claim.duty ?? requestedDuty
        choose()
        scheduleDeadline()
        guard isScanning else { return noteFailure() }
        if health.isDoubtful {
            tell(.silent, because: "the controller may have failed", at: now)
        } else {
            switch state {
            case .confirmed where health.isUncertain: if told == .listening { tell(.pausing, because: "", at: now) }
            case .confirmed: tell(.listening, because: reason, at: now)
            case .pausing: if told == .listening { tell(.pausing, because: "", at: now) }
            case .silent: tell(.silent, because: keeper.objection ?? reason, at: now)
            }
        }
        // It stays while the controller is reset because of it.
        if told == .listening { status.trouble = nil } else if state == .silent { status.trouble = trouble }
        if health.isDoubtful, let unasked { status.trouble = unasked }
    }

    /// No scan is set up, perhaps because the controller does not answer the commands for it. Why it ended was told already, so this is
    /// told, too.
    private func noteFailure() {
        switch evidence?.claim {
        case .failed(.unanswered) where status.trouble != keeper.objection:
            status.trouble = keeper.objection
            notice(.warning, keeper.objection ?? "")
        case .scanning: status.trouble = obstacle
        default: break
        }
    }

    private func choose() {
        takes = isScanning && (evidence == nil || keeper.state != .silent && evidence?.claim != .unknown)
        takesReports = takes && !isObserverReading && patterns == nil
        takesObserved = takes && isObserverReading && patterns == nil
    }

    private var trouble: String? {
        keeper.objection.map { $0 + (keeper.sparesConnection ? "; it is not reset while a connection uses it" : "") }
    }

    private func tell(_ news: Told, because reason: String, at now: MonotonicInstant) {
        let isNewDuty = news == .listening && status.duty != reportedDuty
        guard news != told || isNewDuty else { return }
        let before = told
        told = news
        status.isListening = news == .listening
        status.isPausing = news == .pausing
        if news == .pausing || news == .listening && before == .pausing && !isNewDuty {
            output?.pausing(news == .pausing, of: status.receiver, at: now)
            return
        }
        if news == .listening { reportedDuty = status.duty }
        output?.listening(
            news == .listening, of: status.receiver, at: now, because: "\(status.name): \(reason)")
    }
}
