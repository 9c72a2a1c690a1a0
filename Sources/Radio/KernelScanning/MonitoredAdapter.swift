import Base
import Scanning

/// One adapter of `MgmtScanner`: what it was asked for, and what of that is in force.
final class MonitoredAdapter {
    /// Refusals in a row, on every adapter that counts, after which the scanner gives up.
    private static let mostFailures = 5
    /// How long an adapter counts that is off. A power cycle is shorter; one that stays off or blocked says nothing about the kernel.
    private static let longestPowerCycle = Duration.seconds(30)
    /// How long the kernel may take to answer a request for a monitor. It carries out one thing after the other: it gives a controller 2 s
    /// for each command, and an attempt to connect 20 s (HCI_LE_CONN_TIMEOUT).
    static let patience = Duration.seconds(30)

    let watch: AdapterWatch
    let observer: ScanObserver
    let windows: WindowKeeper
    var isReady = false
    /// Whether it is unplugged. It says nothing about the kernel then.
    var isGone = false
    /// When it ceased to be ready; nil while it is ready.
    var lost: MonotonicInstant?
    var monitor: UInt16?
    /// A monitor was requested, and the answer has not arrived yet.
    private(set) var isArming = false
    /// Ends the wait for that answer.
    private var deadline: (any EventRegistration)?
    /// Since when a monitor is wanted, and the kernel has neither set nor refused one.
    private var wantedSince: MonotonicInstant?
    /// That no monitor is set was told.
    private var isTold = false
    /// How many monitors there are was asked, because there is no room for one more.
    var isCounting = false
    /// Other programs have added or removed monitors, and that was not looked at yet.
    var othersChanged = false
    /// Whether its controller matches patterns itself, and delivers nothing else; nil: it was not asked.
    var isFiltering: Bool?
    /// A controller that matches patterns itself may have room only for the first of them.
    var room = PatternRoom()
    var takesDuty = true
    /// The duty and the patterns of the last request, of which as many were asked for as there is room for.
    var requestedDuty = ScanDuty.full
    var requestedPatterns: [BeaconPacketPattern] = []
    /// How many of the patterns in their order were requested.
    var requestedCount = 0
    private(set) var failures = 0
    var retry: (any EventRegistration)?

    init(_ watch: AdapterWatch, _ observer: ScanObserver, _ windows: WindowKeeper) {
        (self.watch, self.observer, self.windows) = (watch, observer, windows)
    }

    // MARK: The request for a monitor

    func beginArming(at now: MonotonicInstant, until deadline: any EventRegistration) {
        (isArming, self.deadline) = (true, deadline)
        wantedSince = wantedSince ?? now
    }

    /// The answer has come, or is not awaited any longer.
    func endArming() {
        deadline?.cancel()
        (isArming, isCounting, deadline) = (false, false, nil)
    }

    /// A monitor is set, or the adapter begins anew.
    func forgetFailures() {
        (failures, isTold, wantedSince) = (0, false, nil)
    }

    /// Whether a kernel that is busy has been so for too long to stay unnamed.
    func isOverdue(at now: MonotonicInstant) -> Bool {
        wantedSince.map { $0.duration(to: now) >= Self.patience } ?? false
    }

    /// The request has failed.
    func failed(because reason: String, at now: MonotonicInstant) {
        failures += 1
        wantedSince = nil
        lacksMonitor(because: reason, at: now)
    }

    /// Shows why there is no monitor, and tells it once until there is one.
    func lacksMonitor(because reason: String, at now: MonotonicInstant) {
        if !isTold {
            watch.notice(.warning, "no advertisement monitor: \(reason); it hears nothing; trying again")
        }
        isTold = true
        // After a restart of the scan, the previous monitor is gone.
        watch.scanStopped(because: "no advertisement monitor", at: now)
        watch.obstacle = "no advertisement monitor: \(reason)"
    }

    /// Shows what the controller is not asked for because it has no room, once for each change.
    func tellRoom() {
        let unheard = BeaconPacketPattern.kinds(of: requestedPatterns.dropFirst(requestedCount))
        guard unheard != watch.status.unheard else { return }
        watch.status.unheard = unheard
        guard !unheard.isEmpty else { return }
        watch.notice(
            .info,
            "the adapter has room for \(requestedCount) of \(requestedPatterns.count) patterns of packets; "
                + "\(BeaconPacketPattern.Kind.text(unheard)) are heard only if it delivers all packets")
    }

    /// Whether the adapter gives no reason to go on with the scanner.
    func isUseless(at now: MonotonicInstant) -> Bool {
        let isOff = lost.map { $0.duration(to: now) > Self.longestPowerCycle } ?? false
        return isGone || isOff || failures >= Self.mostFailures
    }
}
