import Base
import Gateway
package import Health
import JSON

extension StatusSnapshot {
    /// The findings of the health check that follow from this snapshot, the worst first.
    package var liveFindings: [Finding] { LiveFindings(of: self).all }
}

/// What the health check finds in a snapshot.
package struct LiveFindings {
    private let snapshot: StatusSnapshot

    fileprivate init(of snapshot: StatusSnapshot) { self.snapshot = snapshot }

    /// The worst first.
    fileprivate var all: [Finding] {
        let connections =
            snapshot.brokers.map(\.finding)
            + snapshot.brokerRefusals.findings(besides: Self.mainConnection, at: snapshot.now)
        let others = [
            storeFinding, queueFinding, clockFinding, regionFinding, crowdFinding, batteryFinding, unheardFinding,
            snapshot.pageProblem.map { Finding(unservedPage: $0.text, remedy: $0.remedy) },
            snapshot.newerVersion.map { Finding(newer: $0, than: snapshot.version) }, snapshot.ownBeacon?.finding,
        ]
        let proxies = snapshot.proxies.flatMap(\.findings)
        return (radioFindings + connections + others.compactMap(\.self) + proxies).sorted {
            $0.level.rank > $1.level.rank
        }
    }

    /// The name of the connection whose state is among `brokers`.
    private static let mainConnection = "main"
    /// What to do with a controller that does not scan although it is asked to.
    package static let troubleRemedy =
        "the gateway tries again by itself; if it stays so, unplug the adapter and plug it in, and see: "
        + "journalctl -k | grep -i bluetooth"

    private var radioFindings: [Finding] {
        if let problem = snapshot.scanner.problem, !snapshot.scanner.adapters.contains(where: \.isListening) {
            return [Finding(.error, "adapter", problem.text, remedy: problem.remedy)]
        }
        guard !snapshot.scanner.adapters.isEmpty else {
            return [
                Finding(
                    .error, "adapter", "no Bluetooth adapter is in use",
                    remedy: "plug one in; 'ibeacon-gateway doctor' shows the reason")
            ]
        }
        return snapshot.scanner.adapters.map { adapter in
            guard adapter.isListening || adapter.isPausing else {
                if let trouble = adapter.trouble {
                    return Finding(
                        .error, "adapter", "\(adapter.name) does not listen: \(trouble)",
                        remedy: Self.troubleRemedy)
                }
                return Finding(
                    .error, "adapter", "\(adapter.name) does not listen",
                    remedy: "'ibeacon-gateway doctor' says why; a blocked radio is freed by: rfkill unblock bluetooth")
            }
            guard let wanted = snapshot.scanner.scanDuty else {
                return Finding(.ok, "adapter", "\(adapter.name) listens")
            }
            guard let duty = adapter.duty else {
                return Finding(
                    .warning, "adapter",
                    "scanDuty \(JSONValue.plain(wanted).text) has no effect on \(adapter.name): '\(snapshot.scanner.name)' did not set it",
                    remedy: "use scanner \"mgmt\" or \"hci\", or set scanDuty to \"auto\"")
            }
            let share = "\(Int((duty * 100).rounded())) % of the time"
            // Another program's scan, such as a discovery, has a share of its own. A window is a multiple of 0.625 ms of 60 ms.
            guard abs(duty - wanted) < 0.01 else {
                return Finding(.ok, "adapter", "\(adapter.name) listens \(share) during another program's scan")
            }
            return Finding(.ok, "adapter", "\(adapter.name) listens \(share), as scanDuty says")
        }
    }

    private var storeFinding: Finding {
        guard let problem = snapshot.store.problem else { return Finding(.ok, "disk", "the state can be written") }
        return Finding(
            .error, "disk", "the state cannot be written: \(problem)",
            remedy: "make room on the disk, or check that the state directory can be written; it is tried again")
    }

    /// What receives the messages, in words.
    private var receiver: String { snapshot.brokers.first?.kind.rawValue ?? BrokerState.Kind.broker.rawValue }

    private var queueFinding: Finding {
        if snapshot.queue.dropped > 0 {
            return Finding(
                .error, "queue", "dropped because the queue was full: \(counted(snapshot.queue.dropped, "message"))",
                remedy: "reconnect the \(receiver); the events of that time are in: ibeacon-gateway history")
        }
        guard snapshot.queue.refused > 0 else {
            return Finding(.ok, "queue", "messages that wait: \(snapshot.queue.pending)")
        }
        return Finding(
            .warning, "queue", "the \(receiver) refused \(counted(snapshot.queue.refused, "message")) for good",
            remedy: "check the gateway's rights on the \(receiver); the log names the reason")
    }

    private var clockFinding: Finding {
        guard !snapshot.wallClock.isKnown else { return Finding(.ok, "clock", "the time of day is known") }
        return Finding(
            .warning, "clock", "the time of day is not known yet; messages wait for it",
            remedy: "connect the machine to the internet, or set the clock: timedatectl set-ntp true")
    }

    private var regionFinding: Finding {
        let count = snapshot.trackers.reduce(0) { $0 + $1.regionCount }
        guard count == 0 else { return Finding(.ok, "regions", "beacon regions: \(count)") }
        guard !snapshot.servesSite else {
            return Finding(.ok, "regions", "no beacon regions of its own; it sends the readings of a site's tags")
        }
        return Finding(
            .warning, "regions", "there are no beacon regions, so there are no transitions",
            remedy: "make one of a beacon on the status page, or: "
                + "sudo ibeacon-gateway regions add NAME:UUID:MAJOR:MINOR")
    }

    /// Largest number of names in a finding. A person goes to one beacon after the other.
    private static let mostNamed = 3

    private var batteryFinding: Finding? {
        let batteries = snapshot.lowBatteries.map { "\($0.names.joined(separator: ", ")) \($0.state.battery)" }
        return Finding(lowBatteries: batteries, named: Self.mostNamed)
    }

    /// Uptime from which a beacon that was never heard is worth a look.
    static let longSilence: Duration = .seconds(3600)

    /// Regions that no beacon has entered in the history, and whose beacon was not heard since the start. While nobody listens, and
    /// soon after a start, that says nothing.
    private var unheardFinding: Finding? {
        guard snapshot.startedAt.duration(to: snapshot.now) >= Self.longSilence,
            snapshot.scanner.adapters.contains(where: \.isListening)
        else { return nil }
        var names: [String] = []
        for region in snapshot.trackers.lazy.flatMap(\.regions)
        where !region.isInside && region.since == nil && region.lastHeard == nil && !names.contains(region.name) {
            names.append(region.name)
        }
        return Finding(unheard: names, named: Self.mostNamed)
    }

    private var crowdFinding: Finding? {
        guard let crowded = snapshot.overflow.crowded else { return nil }
        return Finding(
            .warning, "strangers", "\(crowded)",
            remedy: "give your own beacons regions with UUID, major and minor; such beacons always find a place")
    }
}

extension BrokerState {
    fileprivate var finding: Finding {
        switch phase {
        case .connected where reason.isEmpty: .init(.ok, kind.rawValue, "\(name) is connected")
        case .connected: .init(.warning, kind.rawValue, "\(name) is connected, but \(reason)", remedy: remedy)
        case .connecting: .init(.warning, kind.rawValue, "\(name) is not connected yet")
        case .offline: .init(.ok, "broker", "port 0: nothing is sent")
        case .disconnected:
            .init(
                .error, kind.rawValue, "\(name): \(reason)",
                remedy: (remedy.isEmpty ? "'ibeacon-gateway doctor' finds the cause" : remedy)
                    + "; nothing is lost meanwhile")
        }
    }
}

extension Finding.Level {
    fileprivate var rank: Int {
        switch self {
        case .ok: 0
        case .warning: 1
        case .error: 2
        }
    }
}
