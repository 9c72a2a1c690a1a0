import Base
import CBluetooth
import Scanning

/// The gateway's own scan on one adapter, as commands and answers. It is a value without a clock, a timer or a socket:
/// `HCISession` reports what has happened, and carries out the returned actions.
struct HCIScanStateMachine {
    enum State: Hashable {
        case idle
        /// Only the reports of another program's scan are received.
        case listening
        /// Waiting to begin again.
        case waiting
        case askingCommands
        case settingParameters(ScanFamily)
        case enabling(ScanFamily)
        case scanning(ScanFamily)
        case disabling(ScanFamily)
        /// Another program scans on this adapter.
        case yielding(ScanFamily)
        /// The controller refused a command although no other program scans. The owner says when to try again.
        case failed(ScanFamily)
    }

    /// What is known of the scans of other programs.
    private enum ForeignScan: Hashable {
        /// One may have been left on before this program looked.
        case unknown
        case on(ScanFamily)
        case off
    }

    enum Action: Hashable {
        /// Opens a new socket, and calls `started`.
        case start
        case close
        /// Reads the supported commands.
        case askCommands
        /// A command of the LE group.
        case send(UInt16, [UInt8])
        /// Calls `elapsed` after this time, and cancels the call that was scheduled before.
        case schedule(Duration)
        case cancelTimer
        case scans
        case pauses(because: String)
        /// The scan is wanted, and the controller refuses it.
        case fails
        /// The controller left two commands in a row unanswered.
        case hangs
        case says(LogPriority, String)
    }

    /// The kernel gives a controller 2 s for a command. This limit is a little longer, so that the kernel reports
    /// first.
    private static let deadline = Duration.milliseconds(2500)
    private static let pause = Duration.seconds(1)
    private static let yieldedRetry = Duration.seconds(5)
    /// bluetoothd's discovery is started again every 10.24 s. So a scan without another program's command for longer than this
    /// is left over from a killed program, unless the kernel scans for a monitor.
    private static let leftoverAge = Duration.seconds(15)
    private(set) var state = State.idle
    /// Whether the kernel is known to scan for no monitor.
    var hasNoMonitors = false
    private var duty: ScanDuty
    /// The duty of the last command that set the parameters of the scan.
    private(set) var requestedDuty: ScanDuty
    private let listensOnly: Bool
    private var unanswered = 0
    private var nextReset = MonotonicInstant.zero
    private var resets = Backoff(from: .seconds(10), to: .seconds(300))
    /// When another program's scan was detected, or its last command; nil if there is no such scan.
    private var foreignActivity: MonotonicInstant?
    private var foreignScan = ForeignScan.unknown
    /// When a scan was last taken over.
    private var takeover: MonotonicInstant?

    init(duty: ScanDuty, listensOnly: Bool) {
        self.duty = duty
        requestedDuty = duty
        self.listensOnly = listensOnly
    }

    /// - Parameter isOpen: false if there is no such adapter.
    mutating func started(isOpen: Bool) -> [Action] {
        guard isOpen else { return begin(after: Self.pause) }
        foreignScan = .unknown
        guard !listensOnly else {
            state = .listening
            return [.scans]
        }
        return enter(.askingCommands, .askCommands)
    }

    mutating func stop() -> [Action] {
        defer { state = .idle }
        switch state {
        case .scanning(let family), .enabling(let family): return [Self.enable(family, false), .close]
        default: return [.close]
        }
    }

    /// Switches the scan off and on, or tries again after a refusal.
    mutating func restart() -> [Action] {
        switch state {
        case .scanning(let family): return enter(.disabling(family), Self.enable(family, false))
        case .failed(let family): return setParameters(family)
        default: return []
        }
    }

    /// A controller accepts parameters only while it does not scan. If the parameters are not sent yet, they include the new
    /// duty. If the scan is being switched on, the new duty is sent after that.
    mutating func setDuty(_ duty: ScanDuty) -> [Action] {
        self.duty = duty
        return requestedDuty == duty ? [] : restart()
    }

    /// The adapter was switched off or removed. Normally an event of the management socket then ends or restarts
    /// this session; without one, the session begins again.
    mutating func socketFailed(_ reason: String) -> [Action] {
        [.close, .pauses(because: reason)] + begin(after: Self.pause)
    }

    /// The scheduled time has elapsed.
    mutating func elapsed(at now: MonotonicInstant) -> [Action] {
        switch state {
        case .waiting: return [.start]
        case .yielding(let family): return setParameters(family)
        case .askingCommands, .settingParameters, .enabling, .disabling: return timedOut(at: now)
        case .idle, .listening, .scanning, .failed: return []
        }
    }

    /// Another program's command was accepted.
    mutating func foreignCommand(_ command: ScanCommand, at now: MonotonicInstant) -> [Action] {
        switch command.step {
        case .parameters: break
        case .start: foreignScan = command.family.map(ForeignScan.on) ?? .unknown
        case .stop, .reset: foreignScan = .off
        }
        switch state {
        case .scanning(let family) where command.family == nil || command.family == family:
            // The gateway's own scan has ended.
            return [.pauses(because: "another program changed the scan")] + begin(after: Self.pause)
        case .yielding:
            foreignActivity = now
            return []
        default: return []
        }
    }

    private mutating func timedOut(at now: MonotonicInstant) -> [Action] {
        unanswered += 1
        let pauses = Action.pauses(because: "the controller does not answer")
        guard unanswered >= 2, now >= nextReset else { return [pauses] + begin(after: Self.pause) }
        unanswered = 0
        nextReset = now.advanced(by: resets.nextDelay())
        return [pauses, .hangs]
    }

    /// The controller answered a command of this program.
    ///
    /// - Parameter result: The return parameters after the status.
    mutating func answered(_ opcode: UInt16, status: UInt8, result: Span<UInt8>, at now: MonotonicInstant) -> [Action] {
        if state == .askingCommands, opcode == ScanFamily.readLocalSupportedCommands {
            unanswered = 0
            return setParameters(ScanFamily(supportedCommands: result))
        }
        guard opcode >> 10 == ScanFamily.group else { return [] }
        let command = opcode & 0x03ff
        switch state {
        case .settingParameters(let family) where command == family.parametersCommand:
            unanswered = 0
            // Parameters are refused while another program scans, or scanned with the other set of commands.
            guard status == HCIStatus.success else {
                return status == HCIStatus.commandDisallowed && foreignScan != .off
                    ? yield(family, at: now) : fail(family)
            }
            foreignScan = .off
            return enter(.enabling(family), Self.enable(family, true))
        case .enabling(let family) where command == family.enableCommand:
            guard status == HCIStatus.success else { return fail(family) }
            state = .scanning(family)
            foreignActivity = nil
            resets.reset()
            return [.cancelTimer, .scans] + (requestedDuty == duty ? [] : restart())
        case .disabling(let family) where family.contains(command):
            // What was to be taken over is off, or another set of commands began it.
            foreignScan = .off
            return setParameters(family)
        default: return []
        }
    }

    private mutating func fail(_ family: ScanFamily) -> [Action] {
        state = .failed(family)
        foreignActivity = nil
        return [.cancelTimer, .fails]
    }

    private mutating func yield(_ family: ScanFamily, at now: MonotonicInstant) -> [Action] {
        var actions: [Action] = []
        if foreignActivity == nil {
            let text = """
                another program scans on this adapter (bluetoothd?); the hci scanner keeps off and hears nothing until it ends. \
                Better: scanner "mgmt", which shares the adapter
                """
            actions = [.says(.warning, text), .pauses(because: "another program scans on this adapter")]
        }
        let activity = foreignActivity ?? now
        foreignActivity = activity
        let last = max(activity, takeover ?? activity)
        if hasNoMonitors, last.duration(to: now) > Self.leftoverAge {
            takeover = now
            return actions + [.says(.info, "taking over a scan that another program left on")]
                + enter(.disabling(family), Self.enable(family, false))
        }
        state = .yielding(family)
        return actions + [.schedule(Self.yieldedRetry)]
    }

    private mutating func setParameters(_ family: ScanFamily) -> [Action] {
        requestedDuty = duty
        return enter(.settingParameters(family), .send(family.parametersCommand, family.parameters(duty)))
    }

    private static func enable(_ family: ScanFamily, _ isOn: Bool) -> Action {
        .send(family.enableCommand, family.enable(isOn))
    }

    /// Enters a state that ends with an answer, or with the deadline.
    private mutating func enter(_ next: State, _ command: Action) -> [Action] {
        state = next
        return [.schedule(Self.deadline), command]
    }

    private mutating func begin(after delay: Duration) -> [Action] {
        state = .waiting
        return [.schedule(delay)]
    }
}
