import Base
import Scanning

/// One adapter of `MgmtScanner`: what it was asked for, and what of that is in force.
final class MonitoredAdapter {
    /// Refusals in a row, on every adapter that counts, after which the scanner gives up.
    private static let mostFailures = 5
    /// How long an adapter counts that is off. A power cycle is shorter; one that stays off or blocked says nothing about the kernel.
    private static let longestPowerCycle = Duration.seconds(30)

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
    var isArming = false
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
    var failures = 0
    var retry: (any EventRegistration)?

    init(_ watch: AdapterWatch, _ observer: ScanObserver, _ windows: WindowKeeper) {
        (self.watch, self.observer, self.windows) = (watch, observer, windows)
    }

    /// Whether the adapter gives no reason to go on with the scanner.
    func isUseless(at now: MonotonicInstant) -> Bool {
        let isOff = lost.map { $0.duration(to: now) > Self.longestPowerCycle } ?? false
        return isGone || isOff || failures >= Self.mostFailures
    }
}
