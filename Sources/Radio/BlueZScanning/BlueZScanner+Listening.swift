import Base
import DBus
import Scanning

/// How an adapter is brought to listen, and how the scanner knows that it does.
extension BlueZScanner {
    static let retryDelay = Duration.seconds(2)
    /// For bluetoothd to switch an adapter on, or to activate a monitor, after it has agreed.
    private static let effectTimeout = Duration.seconds(3)

    func begin(_ adapter: BlueZAdapter) {
        guard adapter.method == nil else { return }
        guard adapter.isPowered else { return powerOn(adapter) }
        if adapter.offersMonitor && !adapter.monitorFailed {
            adapter.method = .monitor
            register(adapter)
        } else {
            adapter.method = .discovery
            discover(adapter)
        }
    }

    // MARK: The monitor

    private func register(_ adapter: BlueZAdapter) {
        let message = call(adapter.path, "org.bluez.AdvertisementMonitorManager1", "RegisterMonitor")
        message?.append { $0.path(BeaconMonitorObject.root(of: adapter)) }
        ask(adapter, message) { scanner, adapter, answer in
            guard answer.isError else {
                adapter.isReleased = false
                return scanner.waitForActivation(adapter)
            }
            // bluetoothd keeps the monitor while the adapter is off, and does not call Activate again.
            if answer.errorName.hasSuffix(".AlreadyExists"), !adapter.isReleased {
                guard adapter.method == .monitor else { return }
                return scanner.reportListening(adapter, true, because: "advertisement monitor of bluetoothd")
            }
            scanner.giveUpMonitor(adapter, because: answer.errorText)
        }
    }

    /// bluetoothd calls Activate when the kernel has the monitor.
    private func waitForActivation(_ adapter: BlueZAdapter) {
        guard !adapter.status.isListening else { return }
        after(Self.effectTimeout, adapter) { scanner, adapter in
            guard adapter.method == .monitor, !adapter.status.isListening else { return }
            scanner.giveUpMonitor(adapter, because: "bluetoothd took it and has not activated it")
        }
    }

    private func giveUpMonitor(_ adapter: BlueZAdapter, because reason: String) {
        adapter.monitorFailed = true
        adapter.method = nil
        notice(adapter, .info, "no advertisement monitor: \(reason)")
        begin(adapter)
    }

    // MARK: The discovery

    private func discover(_ adapter: BlueZAdapter) {
        if adapter.hasAskedForDiscovery {
            // An earlier request that stands would be answered like a start that fails. There may be none.
            ask(adapter, call(adapter.path, "org.bluez.Adapter1", "StopDiscovery")) { _, _, _ in }
        }
        adapter.hasAskedForDiscovery = true
        adapter.discovery.asked()
        let filter = call(adapter.path, "org.bluez.Adapter1", "SetDiscoveryFilter")
        filter?.append { writer in
            writer.container(BusType.array, "{sv}") { entries in
                entries.property("Transport", "s") { $0.string("le") }
                entries.property("DuplicateData", "b") { $0.boolean(true) }
                // The lowest strength, so that every report passes. Without a limit, bluetoothd after 5.87 tells a strength
                // only when it has changed by 8 dB.
                entries.property("RSSI", "n") { $0.int16(-127) }
            }
        }
        ask(adapter, filter) { scanner, adapter, answer in
            guard answer.isError, !adapter.hasListened, adapter.said == nil else { return }
            scanner.notice(adapter, .warning, "no discovery filter: \(answer.errorText)")
        }
        ask(adapter, call(adapter.path, "org.bluez.Adapter1", "StartDiscovery")) { scanner, adapter, answer in
            let meaning: DiscoveryEvidence.Answer =
                !answer.isError
                ? .granted : answer.errorName.hasSuffix(".InProgress") ? .inProgress : .refused(answer.errorText)
            scanner.carryOut(adapter.discovery.answered(meaning, at: scanner.host.now), adapter)
        }
    }

    func carryOut(_ effects: [DiscoveryEvidence.Effect], _ adapter: BlueZAdapter) {
        for effect in effects {
            switch effect {
            case .listens: reportListening(adapter, true, because: "discovery by bluetoothd")
            case .fails(let reason, let delay):
                adapter.method = nil
                // The line that says why is said below, once for all attempts.
                reportListening(adapter, false, because: delay > .zero ? "no discovery" : reason)
                guard delay > .zero else { return begin(adapter) }
                say(adapter, reason, remedy: BusRefusal.remedy(reason) ?? Self.discoveryRemedy)
                again(adapter, after: delay)
            case .askAnew: discover(adapter)
            case .look(let delay):
                after(delay, adapter) { $0.carryOut($1.discovery.elapsed(at: $0.host.now), $1) }
            case .stopLooking:
                adapter.retry?.cancel()
                adapter.retry = nil
            }
        }
    }

    private static let discoveryRemedy =
        "it is tried again; if it stays so: sudo systemctl restart bluetooth; why: journalctl -k | grep -i bluetooth"

    // MARK: Power

    private func powerOn(_ adapter: BlueZAdapter) {
        let message = call(adapter.path, Self.properties, "Set")
        message?.append { writer in
            writer.string("org.bluez.Adapter1")
            writer.string("Powered")
            writer.container(BusType.variant, "b") { $0.boolean(true) }
        }
        ask(adapter, message) { scanner, adapter, answer in
            guard answer.isError else {
                // PropertiesChanged reports success.
                return scanner.after(Self.effectTimeout, adapter) { scanner, adapter in
                    guard !adapter.isPowered else { return }
                    scanner.staysOff(adapter, because: "bluetoothd agreed to switch it on, and it stays off")
                }
            }
            let reason = "bluetoothd does not switch it on: \(answer.errorText)"
            scanner.staysOff(adapter, because: reason, isBlocked: answer.errorName.hasSuffix(".Blocked"))
        }
    }

    private func staysOff(_ adapter: BlueZAdapter, because reason: String, isBlocked: Bool = false) {
        reportListening(adapter, false, because: "off")
        if isBlocked || self.isBlocked(adapter) {
            say(adapter, "off, and blocked by rfkill", remedy: "to unblock: rfkill unblock bluetooth")
        } else {
            say(adapter, "off; \(reason)", remedy: BusRefusal.remedy(reason) ?? Self.powerRemedy)
        }
        again(adapter, after: Self.retryDelay)
    }

    private static let powerRemedy = "by hand: bluetoothctl power on; rfkill list shows whether it is blocked"

    // MARK: Requests

    /// Asks bluetoothd. The answer is dropped if the adapter was switched off, unplugged or lost meanwhile.
    private func ask(
        _ adapter: BlueZAdapter, _ message: BusMessage?,
        _ answered: @escaping (BlueZScanner, BlueZAdapter, BusMessage) -> Void
    ) {
        let attempt = adapter.attempt
        bus?.call(message) { [weak self, weak adapter] answer in
            guard let self, let adapter, adapter.attempt == attempt else { return }
            answered(self, adapter, answer)
        }
    }

    func again(_ adapter: BlueZAdapter, after delay: Duration) {
        after(delay, adapter) { $0.begin($1) }
    }

    /// Waits, instead of what the adapter waited for before.
    private func after(
        _ delay: Duration, _ adapter: BlueZAdapter, _ body: @escaping (BlueZScanner, BlueZAdapter) -> Void
    ) {
        adapter.retry?.cancel()
        adapter.retry = host.at(host.now.advanced(by: delay)) { [weak self, weak adapter] in
            guard let self, let adapter else { return }
            adapter.retry = nil
            body(self, adapter)
        }
    }

    // MARK: What is said

    func reportListening(_ adapter: BlueZAdapter, _ listening: Bool, because reason: String) {
        if listening { adapter.said = nil }
        // That it does not listen is reported at first, too: presence may remember the adapter from an earlier run.
        guard adapter.status.isListening != listening || !adapter.hasReported else { return }
        adapter.hasReported = true
        adapter.status.isListening = listening
        if listening {
            if adapter.hasListened { adapter.status.restarts += 1 }
            adapter.hasListened = true
            reportLimits(adapter)
        }
        let reason = "\(adapter.status.name): \(reason)"
        output?.listening(listening, of: adapter.status.receiver, at: host.now, because: reason)
    }

    /// Says why an adapter does not listen, once until the reason changes or it listens.
    private func say(_ adapter: BlueZAdapter, _ reason: String, remedy: String) {
        let problem = ScanProblem("\(adapter.status.name): \(reason)", remedy: remedy)
        guard adapter.said != problem else { return }
        adapter.said = problem
        output?.notice(Notice(.warning, "\(problem)"))
    }

    func notice(_ adapter: BlueZAdapter, _ priority: LogPriority, _ text: String) {
        output?.notice(Notice(priority, "\(adapter.status.name): \(text)"))
    }
}
