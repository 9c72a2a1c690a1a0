import Base

/// One adapter's window of active scan: when the kernel's discovery is begun for it, and when it is ended. It is a value without a
/// clock or a socket.
///
/// The kernel has one discovery for each adapter, and refuses that of another program while ours runs. So ours begins only when nobody
/// else has discovered for a while and no other program has a monitor on the adapter. A Home Assistant that listens through
/// bluetoothd has one of the two. The kernel ends each discovery after 10.24 s, also when this program was killed meanwhile. Within a
/// window it is begun again.
struct ActiveWindow: Hashable, Sendable {
    enum Command: Hashable {
        /// Read Advertisement Monitor Features; `counted` follows.
        case countMonitors
        /// Start Discovery; `started` follows.
        case startDiscovery
        /// Stop Discovery; `stopped` follows.
        case stopDiscovery
    }

    /// What stands against a window.
    enum Obstacle: Hashable, CustomStringConvertible {
        /// Another program listens on the adapter through monitors.
        case monitors
        /// Another program discovers, and has left no pause for a window for a while.
        case discovery
        case refused(status: UInt8)

        var description: String {
            switch self {
            case .monitors: "another program listens on this adapter through advertisement monitors"
            case .discovery: "another program discovers devices on this adapter all the time"
            case .refused(let status): "the kernel refuses a discovery: \(ManagementStatus.name(status))"
            }
        }
    }

    private enum Stage: Hashable {
        case closed, counting, starting, running, stopping
    }

    /// The longest window. Home Assistant asks for at most as much.
    static let longest = Duration.seconds(35)
    /// How long nobody else may have discovered. bluetoothd begins the discoveries of its clients again after 5 to 10 s, and would
    /// not be able to.
    static let quiet = Duration.seconds(30)
    /// Programs that have left no such pause for this long discover all the time. A person who looks for a new device is done before.
    static let patience = Duration.seconds(60)

    private var stage = Stage.closed
    private var othersDiscover = false
    /// Until when the discovery of another program counts.
    private var quietFrom = MonotonicInstant.zero
    /// Since when other programs have left no pause for a window; of use while `isBusy`.
    private var busySince = MonotonicInstant.zero
    private var othersListen = false
    /// How the kernel refused the last discovery.
    private var refusal: UInt8?
    /// When the window ends; nil: none is wanted.
    private(set) var end: MonotonicInstant?

    init() {}

    /// Whether a discovery of this window runs.
    var isRunning: Bool { stage == .running || stage == .stopping }
    /// Whether the discovery that runs, or begins at any moment, is that of this window.
    var isOwn: Bool { isRunning || stage == .starting }

    /// What stands against windows; nil: nothing does, or it passes in a moment.
    func obstacle(at now: MonotonicInstant) -> Obstacle? {
        if othersListen { return .monitors }
        if let refusal { return .refused(status: refusal) }
        return isBusy(at: now) && busySince.duration(to: now) >= Self.patience ? .discovery : nil
    }

    /// When `obstacle` changes although nothing happens; nil: it does not.
    func nextChange(after now: MonotonicInstant) -> MonotonicInstant? {
        guard isBusy(at: now) else { return nil }
        let others = busySince.advanced(by: Self.patience)
        if now < others { return others }
        return othersDiscover ? nil : quietFrom
    }

    private func isBusy(at now: MonotonicInstant) -> Bool { othersDiscover || now < quietFrom }

    private mutating func othersBegin(at now: MonotonicInstant) {
        if !isBusy(at: now) { busySince = now }
    }

    // MARK: What is wanted

    /// Somebody wants a window. One that is open is not made longer.
    mutating func open(at now: MonotonicInstant) -> Command? {
        guard end == nil else { return nil }
        end = now.advanced(by: Self.longest)
        return next(at: now)
    }

    /// Nobody wants it any longer, or its time has passed.
    mutating func close() -> Command? {
        end = nil
        // The kernel refuses to stop a discovery that is only beginning, so its answer is waited for.
        guard stage == .running else { return nil }
        stage = .stopping
        return .stopDiscovery
    }

    /// The adapter is off, asleep or gone, which ends every discovery.
    mutating func lost() { (stage, end, othersDiscover, refusal) = (.closed, nil, false, nil) }

    private mutating func next(at now: MonotonicInstant) -> Command? {
        guard stage == .closed, let end, now < end else { return nil }
        guard !isBusy(at: now) else {
            self.end = nil
            return nil
        }
        stage = .counting
        return .countMonitors
    }

    // MARK: What the kernel says

    /// - Parameter others: The monitors of other programs.
    mutating func counted(others: Int, at now: MonotonicInstant) -> Command? {
        othersListen = others > 0
        guard stage == .counting else { return nil }
        stage = .closed
        guard let end, now < end else { return nil }
        guard others == 0, !othersDiscover else {
            self.end = nil
            return nil
        }
        stage = .starting
        return .startDiscovery
    }

    mutating func started(status: UInt8, at now: MonotonicInstant) -> Command? {
        guard stage == .starting else { return nil }
        guard status == ManagementStatus.success else {
            (stage, end) = (.closed, nil)
            if status == ManagementStatus.busy {
                othersBegin(at: now)
                quietFrom = now.advanced(by: Self.quiet)
            } else {
                refusal = status
            }
            return nil
        }
        (stage, refusal) = (.running, nil)
        return end == nil ? close() : nil
    }

    mutating func stopped(status: UInt8, at now: MonotonicInstant) -> Command? {
        // What cannot be stopped has ended by itself. Otherwise the kernel says so.
        guard stage == .stopping, status != ManagementStatus.success else { return nil }
        stage = .closed
        return next(at: now)
    }

    /// A discovery, of whatever program, began or ended.
    mutating func discovering(_ isOn: Bool, at now: MonotonicInstant) -> Command? {
        if isOwn {
            guard !isOn, stage != .starting else { return nil }
            stage = .closed
            return next(at: now)
        }
        if isOn { othersBegin(at: now) } else { quietFrom = now.advanced(by: Self.quiet) }
        othersDiscover = isOn
        return nil
    }
}
