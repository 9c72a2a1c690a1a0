import Base
import Scanning

/// The windows of active scan of one adapter: carries out what `ActiveWindow` decides, and says what becomes of it.
final class WindowKeeper {
    private let watch: AdapterWatch
    private let observer: ScanObserver
    private let host: any EventHost
    private let send: (ManagementCommand) -> Void
    private var window = ActiveWindow()
    private var end: (any EventRegistration)?
    private var change: (any EventRegistration)?
    private var saidObstacle: ActiveWindow.Obstacle?
    /// Whether windows are offered to anybody.
    private var isOffered = false
    /// Called when a discovery of a window may have begun or ended.
    var onChange: () -> Void = {}

    init(
        _ watch: AdapterWatch, _ observer: ScanObserver, host: any EventHost,
        send: @escaping (ManagementCommand) -> Void
    ) {
        (self.watch, self.observer, self.host, self.send) = (watch, observer, host, send)
    }

    deinit {
        end?.cancel()
        change?.cancel()
    }

    /// Whether the discovery that runs, or begins at any moment, is that of a window.
    var isOwn: Bool { window.isOwn }

    func setOffered(_ isOffered: Bool) {
        self.isOffered = isOffered
        carryOut(isOffered ? nil : window.close())
    }

    /// Begins a window, unless another program would be disturbed.
    func open() {
        // Without the raw socket, presence would hear what the kernel makes of the answers.
        guard isOffered, observer.isOpen, watch.isScanning else { return }
        carryOut(window.open(at: host.now))
        end = window.end.map { host.at($0) { [weak self] in self?.close() } }
    }

    func close() { carryOut(window.close()) }

    /// The scanner is stopped: the discovery is not left to the kernel's limit.
    func stop() {
        if window.isRunning { send(.stopDiscovery(watch.index)) }
        end?.cancel()
        change?.cancel()
    }

    // MARK: What the kernel says

    /// Another program has added or removed monitors. `counted` follows, where that matters.
    func monitorsChanged() {
        if isOffered { send(.readMonitorFeatures(watch.index)) }
    }

    /// - Parameter others: The monitors of other programs.
    func counted(others: Int) { carryOut(window.counted(others: others, at: host.now)) }

    func started(status: UInt8) {
        guard window.isOwn else { return }
        let command = window.started(status: status, at: host.now)
        // The discovery of another program may have made the kernel busy.
        if !window.isOwn { observer.isDiscovering = status == ManagementStatus.busy }
        carryOut(command)
    }

    func stopped(status: UInt8) { carryOut(window.stopped(status: status, at: host.now)) }

    /// A discovery, of whatever program, began or ended.
    func discovering(_ isOn: Bool) {
        observer.isDiscovering = isOn
        carryOut(window.discovering(isOn, at: host.now))
    }

    /// The adapter is off, asleep or gone.
    func lost() {
        window.lost()
        carryOut(nil)
        observer.isDiscovering = false
    }

    private func carryOut(_ command: ActiveWindow.Command?) {
        observer.leavesOutResponses = window.isOwn
        switch command {
        case .countMonitors: send(.readMonitorFeatures(watch.index))
        case .startDiscovery:
            // Before the kernel begins, so that it makes nothing of the answers.
            observer.isDiscovering = true
            send(.startDiscovery(watch.index))
        case .stopDiscovery: send(.stopDiscovery(watch.index))
        case nil: break
        }
        if window.end == nil {
            end?.cancel()
            end = nil
        }
        onChange()
        tell()
    }

    /// Shows whether a window can be had.
    func tell() {
        let obstacle = window.obstacle(at: host.now)
        let canBe = isOffered && observer.isOpen && obstacle == nil
        watch.status.activeScan = window.isRunning ? .running : canBe ? .available : .unavailable
        change?.cancel()
        change =
            isOffered ? window.nextChange(after: host.now).map { host.at($0) { [weak self] in self?.tell() } } : nil
        guard isOffered, let obstacle, obstacle != saidObstacle else { return }
        saidObstacle = obstacle
        watch.notice(.info, "no windows of active scan for the Bluetooth proxy: \(obstacle)")
    }
}
