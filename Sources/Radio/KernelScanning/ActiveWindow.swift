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
        /// Another program discovers, or did a moment ago.
        case discovery
        case refused(status: UInt8)

        var description: String {
            switch self {
            case .monitors: "another program listens on this adapter through advertisement monitors"
            case .discovery: "another program discovers devices on this adapter"
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

    private var stage = Stage.closed
    private var othersDiscover = false
    /// Until when the discovery of another program counts.
    private var quietFrom = MonotonicInstant.zero
    /// When the window ends; nil: none is wanted.
    private(set) var end: MonotonicInstant?
    /// What stood against the last window, or would stand against the next.
    private(set) var obstacle: Obstacle?

    init() {}

    /// Whether a discovery of this window runs.
    var isRunning: Bool { stage == .running || stage == .stopping }
    /// Whether the discovery that runs, or begins at any moment, is that of this window.
    var isOwn: Bool { isRunning || stage == .starting }
    /// Whether a window would be of use: what stands against it is nothing, or passes.
    var isOffered: Bool { obstacle == nil || obstacle == .discovery }

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
    mutating func lost() { (stage, end, othersDiscover) = (.closed, nil, false) }

    private mutating func next(at now: MonotonicInstant) -> Command? {
        guard stage == .closed, let end, now < end else { return nil }
        guard !othersDiscover, now >= quietFrom else {
            obstacle = .discovery
            self.end = nil
            return nil
        }
        stage = .counting
        return .countMonitors
    }

    // MARK: What the kernel says

    /// - Parameter others: The monitors of other programs.
    mutating func counted(others: Int, at now: MonotonicInstant) -> Command? {
        if others > 0 { obstacle = .monitors } else if obstacle == .monitors { obstacle = nil }
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
            let isOthers = status == ManagementStatus.busy
            if isOthers { quietFrom = now.advanced(by: Self.quiet) }
            obstacle = isOthers ? .discovery : .refused(status: status)
            return nil
        }
        (stage, obstacle) = (.running, nil)
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
        othersDiscover = isOn
        if isOn { obstacle = .discovery } else { quietFrom = now.advanced(by: Self.quiet) }
        return nil
    }
}
