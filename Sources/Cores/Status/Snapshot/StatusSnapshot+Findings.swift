import Base
import Gateway
package import Health
import JSON

extension StatusSnapshot {
    /// The findings of the health check that follow from this snapshot, the worst first.
    package var liveFindings: [Finding] {
        let all =
            radioFindings + brokers.map(\.finding) + brokerRefusals.findings(besides: Self.mainConnection, at: now) + [
                storeFinding, queueFinding, clockFinding, regionFinding, crowdFinding, batteryFinding,
            ]
        return all.compactMap(\.self).sorted { $0.level.rank > $1.level.rank }
    }

    /// The name of the connection whose state is among `brokers`.
    private static let mainConnection = "main"
    /// What to do with a controller that does not scan although it is asked to.
    package static let troubleCure =
        "the gateway tries again by itself; if it stays so, unplug the adapter and plug it in, and see: "
        + "journalctl -k | grep -i bluetooth"

    private var radioFindings: [Finding] {
        if let problem = scanner.problem, !scanner.adapters.contains(where: \.isListening) {
            return [Finding(.error, "adapter", problem.text, cure: problem.cure)]
        }
        guard !scanner.adapters.isEmpty else {
            return [
                Finding(
                    .error, "adapter", "no Bluetooth adapter is in use",
                    cure: "plug one in; 'ibeacon-gateway doctor' shows the reason")
            ]
        }
        return scanner.adapters.map { adapter in
            guard adapter.isListening || adapter.isPausing else {
                if let trouble = adapter.trouble {
                    return Finding(
                        .error, "adapter", "\(adapter.name) does not listen: \(trouble)",
                        cure: Self.troubleCure)
                }
                return Finding(
                    .error, "adapter", "\(adapter.name) does not listen",
                    cure: "'ibeacon-gateway doctor' says why; a blocked radio is freed by: rfkill unblock bluetooth")
            }
            guard let wanted = scanner.scanDuty else { return Finding(.ok, "adapter", "\(adapter.name) listens") }
            guard let duty = adapter.duty else {
                return Finding(
                    .warning, "adapter",
                    "scanDuty \(JSONValue.plain(wanted).text) has no effect on \(adapter.name): '\(scanner.name)' did not set it",
                    cure: "use scanner \"mgmt\" or \"hci\", or set scanDuty to \"auto\"")
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
        guard let problem = store.problem else { return Finding(.ok, "disk", "the state can be written") }
        return Finding(
            .error, "disk", "the state cannot be written: \(problem)",
            cure: "make room on the disk, or check that the state directory can be written; it is tried again")
    }

    /// What receives the messages, in words.
    private var receiver: String { brokers.first?.kind.rawValue ?? BrokerState.Kind.broker.rawValue }

    private var queueFinding: Finding {
        if queue.dropped > 0 {
            return Finding(
                .error, "queue", "dropped because the queue was full: \(counted(queue.dropped, "message"))",
                cure: "reconnect the \(receiver); the events of that time are in: ibeacon-gateway history")
        }
        guard queue.setAside > 0 else { return Finding(.ok, "queue", "messages that wait: \(queue.pending)") }
        return Finding(
            .warning, "queue", "the \(receiver) refused \(counted(queue.setAside, "message")) for good",
            cure: "check the gateway's rights on the \(receiver); the log names the reason")
    }

    private var clockFinding: Finding {
        guard !wallClock.isKnown else { return Finding(.ok, "clock", "the time of day is known") }
        return Finding(
            .warning, "clock", "the time of day is not known yet; messages wait for it",
            cure: "connect the machine to the internet, or set the clock: timedatectl set-ntp true")
    }

    private var regionFinding: Finding {
        let count = trackers.reduce(0) { $0 + $1.regionCount }
        guard count == 0 else { return Finding(.ok, "regions", "beacon regions: \(count)") }
        guard !servesSite else {
            return Finding(.ok, "regions", "no beacon regions of its own; it sends the readings of a site's tags")
        }
        return Finding(
            .warning, "regions", "there are no beacon regions, so there are no transitions",
            cure: "make one of a beacon on the status page, or: ibeacon-gateway regions add NAME:UUID:MAJOR:MINOR")
    }

    /// Largest number of names in a finding. A person replaces the batteries one after the other.
    private static let namedBatteries = 3

    private var batteryFinding: Finding? {
        guard !lowBatteries.isEmpty else { return nil }
        let named = lowBatteries.prefix(Self.namedBatteries).map {
            "\($0.names.joined(separator: ", ")) \($0.state.battery)"
        }
        let others = lowBatteries.count - named.count
        let list = named.joined(separator: "; ") + (others > 0 ? "; and \(others) more" : "")
        return Finding(
            .warning, "battery", "low batteries: \(list)",
            cure: "replace the battery; a beacon with an empty battery looks like one that left")
    }

    private var crowdFinding: Finding? {
        guard let crowded = overflow.crowded else { return nil }
        return Finding(
            .warning, "strangers", "\(crowded)",
            cure: "give your own beacons regions with UUID, major and minor; such beacons always find a place")
    }
}

extension BrokerState {
    fileprivate var finding: Finding {
        switch phase {
        case .connected where reason.isEmpty: .init(.ok, kind.rawValue, "\(name) is connected")
        case .connected: .init(.warning, kind.rawValue, "\(name) is connected, but \(reason)", cure: cure)
        case .connecting: .init(.warning, kind.rawValue, "\(name) is not connected yet")
        case .offline: .init(.ok, "broker", "port 0: nothing is sent")
        case .disconnected:
            .init(
                .error, kind.rawValue, "\(name): \(reason)",
                cure: (cure.isEmpty ? "'ibeacon-gateway doctor' finds the cause" : cure)
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
