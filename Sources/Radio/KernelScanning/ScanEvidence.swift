import Base

/// Whether a controller scans, according to the scan commands of all programs and its answers to them. It is a value without a
/// clock or a socket.
///
/// The command says what, and its answer whether: on and off look the same in an answer. From the moment a command that
/// changes the scan is sent until it is answered, the scan is not confirmed.
struct ScanEvidence: Hashable, Sendable {
    enum Claim: Hashable, Sendable {
        /// No scan command was seen yet.
        case unknown
        /// The scan is on, with these properties; nil: what is known of it is that it reports.
        case scanning(Scan?)
        /// The scan is off, or a command that changes it is not answered yet.
        case off
        case failed(Failure)
    }

    struct Scan: Hashable, Sendable {
        /// nil: they were set before this program looked.
        var parameters: ScanCommand.Parameters?
        var filtersDuplicates: Bool
    }

    enum Failure: Hashable, Sendable {
        case refused(ScanCommand.Step, status: UInt8)
        case unanswered(ScanCommand.Step)
    }

    private struct Pending: Hashable {
        let command: ScanCommand
        let sent: MonotonicInstant
        /// Whether the time for the answer has elapsed.
        var isLate = false
    }

    /// A controller answers in milliseconds. The kernel gives up after 2 s.
    static let patience = Duration.seconds(1)
    /// More commands than a controller accepts at once. A program that sends more without an answer loses the oldest here.
    private static let mostPending = 8

    private var isKnown = false
    private var isHeard = false
    private var scan: Scan?
    /// The set of commands that the scan was switched on with.
    private var family: ScanFamily?
    /// When the scan ends by itself.
    private var end: MonotonicInstant?
    private var parameters: ScanCommand.Parameters?
    private var failure: Failure?
    /// The scan that the controller did not stop. It probably goes on, and each report proves that.
    private var unstopped: Scan?
    /// Until when the last report proves it.
    private var provenUntil: MonotonicInstant?
    private var pending: [Pending] = []
    /// Commands that the controller refused or did not answer, in a state in which that matters.
    private(set) var failures: UInt64 = 0

    init() {}

    var claim: Claim {
        if let failure {
            if let unstopped, provenUntil != nil { return .scanning(unstopped) }
            return .failed(failure)
        }
        if pending.contains(where: { $0.command.step.changesScan }) { return .off }
        if let scan { return .scanning(scan) }
        if isKnown { return .off }
        return isHeard ? .scanning(nil) : .unknown
    }

    /// When `elapsed` has something to do; nil: never.
    var nextDeadline: MonotonicInstant? {
        let answer = pending.first { !$0.isLate }.map { $0.sent.advanced(by: Self.patience) }
        return [answer, end, provenUntil].compactMap(\.self).min()
    }

    /// A program, or the kernel, sent a command to the controller.
    mutating func sent(_ command: ScanCommand, at now: MonotonicInstant) {
        // Nobody waits any longer for what was not answered in time.
        pending.removeAll { $0.isLate }
        if pending.count == Self.mostPending { pending.removeFirst() }
        pending.append(Pending(command: command, sent: now))
    }

    /// The controller answered a command (Command Complete or Command Status).
    mutating func answered(_ opcode: UInt16, status: UInt8, at now: MonotonicInstant) {
        guard let index = pending.firstIndex(where: { $0.command.opcode == opcode }) else {
            // The command was sent before this program looked, or was lost: on or off?
            if ScanCommand.opcodes.contains(opcode), status == 0 { forget() }
            return
        }
        let command = pending.remove(at: index).command
        // An answer to new parameters says nothing of the command that follows, and was not answered before.
        if case .unanswered = failure, command.step.changesScan { noFailure() }
        if status == 0 { accepted(command, at: now) } else { refused(command, status) }
    }

    /// Whether a report is evidence, because there is none that is better.
    var needsReports: Bool { unstopped != nil || claim == .unknown }

    /// A report proves that the controller scans, as long as nothing better is known.
    mutating func heard(at instant: MonotonicInstant) {
        isHeard = true
        if unstopped != nil { provenUntil = instant.advanced(by: Self.patience) }
    }

    /// Packets were lost, or the socket is new: what the controller does now is not known.
    mutating func forget() {
        let count = failures
        self = ScanEvidence()
        failures = count
    }

    /// Time has passed.
    mutating func elapsed(at now: MonotonicInstant) {
        for index in pending.indices
        where !pending[index].isLate && pending[index].sent.duration(to: now) >= Self.patience {
            pending[index].isLate = true
            fail(.unanswered(pending[index].command.step))
        }
        if let end, now >= end { switchedOff() }
        if let provenUntil, now >= provenUntil { self.provenUntil = nil }
    }

    private mutating func accepted(_ command: ScanCommand, at now: MonotonicInstant) {
        isKnown = true
        switch command.step {
        case .parameters(let new): parameters = new
        case .start(let filtersDuplicates, let duration):
            scan = Scan(parameters: parameters, filtersDuplicates: filtersDuplicates)
            family = command.family
            end = duration.map { now.advanced(by: $0) }
            noFailure()
        case .stop:
            switchedOff()
            if unstopped != nil { noFailure() }
        case .reset:
            switchedOff()
            parameters = nil
            noFailure()
        }
    }

    private mutating func noFailure() {
        failure = nil
        unstopped = nil
        provenUntil = nil
    }

    private mutating func refused(_ command: ScanCommand, _ status: UInt8) {
        isKnown = true
        if scan != nil {
            // A scan that is on goes on when commands of the other set are refused (3.1.1), or parameters (7.8.10): a program
            // that uses the wrong ones harms nobody.
            if command.family != nil, command.family != family { return }
            if case .parameters = command.step { return }
        }
        fail(.refused(command.step, status: status))
    }

    private mutating func fail(_ failure: Failure) {
        failures += 1
        self.failure = failure
        switch failure {
        case .refused(.stop, _), .unanswered(.stop): unstopped = scan ?? unstopped
        default: (unstopped, provenUntil) = (nil, nil)
        }
        isKnown = true
        scan = nil
        end = nil
    }

    private mutating func switchedOff() {
        scan = nil
        end = nil
    }
}

extension ScanCommand.Step {
    /// Parameters are accepted only while the scan is off.
    fileprivate var changesScan: Bool { if case .parameters = self { false } else { true } }
}

extension ScanEvidence.Claim {
    /// Why this is no proof of listening; nil: it is.
    var objection: String? {
        switch self {
        case .unknown: return "no scan command was seen yet"
        case .off: return "the scan is switched off"
        case .failed(let failure): return failure.description
        case .scanning(let scan):
            guard let scan else { return nil }
            if scan.filtersDuplicates { return "another program's scan reports each advertiser once" }
            if scan.parameters?.reportsEveryone == false {
                return "another program's scan is limited to a list of devices"
            }
            if scan.parameters?.hearsBeacons == false { return "another program's scan leaves out the 1M PHY" }
            return nil
        }
    }

    /// Share of the time in which the radio listens, if known.
    var duty: Double? {
        if case .scanning(let scan) = self { scan?.parameters?.duty } else { nil }
    }
}

extension ScanEvidence.Failure: CustomStringConvertible {
    var description: String {
        switch self {
        case .refused(let step, let status): "the controller refuses to \(step.verb): \(HCIStatus.name(status))"
        case .unanswered(let step): "the controller does not answer the command to \(step.verb)"
        }
    }
}

extension ScanCommand.Step {
    fileprivate var verb: String {
        switch self {
        case .parameters: "set the parameters of the scan"
        case .start: "scan"
        case .stop: "stop its scan"
        case .reset: "reset"
        }
    }
}
