import Base
import Beacon
import Gateway
import Health
import JSON
import OwnTracks
import Status

/// `/status.json` as text. Any program may have answered, so the text is made of a snapshot that was read.
struct StatusText {
    private let status: StatusSnapshot
    private let zone: TimeText.Zone

    init(_ status: StatusSnapshot, in zone: TimeText.Zone = .utc) { (self.status, self.zone) = (status, zone) }

    var text: String {
        let head =
            "ibeacon-gateway \(Terminal.printable(status.version)) on \(Terminal.printable(status.device)), "
            + "running for \(Self.span(status.startedAt.duration(to: status.now)))"
        var blocks = [head, Terminal.table(["PART", "STATE", "MORE"], parts)]
        blocks.append(regions.isEmpty ? "no beacon regions yet" : regionTable)
        if !status.phones.isEmpty { blocks.append(Self.phoneTable(status.phones, at: status.now)) }
        if let refusals = RefusalText.table(status.brokerRefusals, at: status.now) { blocks.append(refusals) }
        let trouble = status.findings.filter { $0.level != .ok }.map { finding in
            "\(finding.level.rawValue): \(Terminal.printable(finding.text))"
                + (finding.remedy.isEmpty ? "" : "\n    -> \(Terminal.printable(finding.remedy))")
        }
        if !trouble.isEmpty { blocks.append(trouble.joined(separator: "\n")) }
        if !status.refusals.isEmpty { blocks.append(refusalTable) }
        return blocks.joined(separator: "\n\n")
    }

    /// The last commands and waypoints that were refused.
    private var refusalTable: String {
        Terminal.table(
            status.refusals,
            [
                ("REFUSED", { ago($0.last) }), ("TIMES", { "\($0.count)" }), ("TOPIC", { $0.topic }),
                ("REASON", { $0.text }),
            ])
    }

    /// The phones and watches whose keys are known, and where.
    static func phoneTable(_ phones: [StatusSnapshot.PhoneStatus], at now: MonotonicInstant) -> String {
        Terminal.table(
            phones,
            [
                ("PHONE", { $0.name }), ("UUID", { $0.uuid }), ("HEARD", { silence($0, at: now) }),
                ("ALSO AT", { ($0.gateways ?? []).joined(separator: ", ") }), ("NOTE", { note($0, at: now) }),
            ])
    }

    /// `now` within ten seconds, `silent for 4 min`.
    private static func silence(_ phone: StatusSnapshot.PhoneStatus, at now: MonotonicInstant) -> String {
        guard let silence = phone.lastHeard?.duration(to: now) else { return "never" }
        let seconds = silence.components.seconds
        guard seconds >= 10 else { return "now" }
        let time = seconds < 60 ? "\(seconds) s" : seconds < 3600 ? "\(seconds / 60) min" : span(silence)
        return "silent for \(time)"
    }

    private static func note(_ phone: StatusSnapshot.PhoneStatus, at now: MonotonicInstant) -> String {
        if phone.isLost(at: now) {
            return
                "away, or it was reset and has another key: sudo ibeacon-gateway phones add \(ShellWord.quoted(phone.name))"
        }
        return phone.isOrdered ? "" : "the order of its key is not known yet"
    }

    private var parts: [[String]] {
        let scanner = status.scanner.name
        var rows = status.scanner.adapters.map { adapter in
            let unheard = adapter.unheard.joined(separator: ", ")
            let room = unheard.isEmpty ? "" : "; the controller's filter has no room for \(unheard)"
            let duty = adapter.duty.map { ", duty \(Int64(saturating: $0 * 100)) %" } ?? ""
            return [
                "radio", adapter.isListening ? "listening" : adapter.isPausing ? "pausing" : "not listening",
                "\(adapter.name) by \(scanner): \(Self.figure(adapter.reportsPerSecond)) reports/s, "
                    + "\(adapter.malformed) unreadable, \(adapter.lost) lost, "
                    + "\(adapter.restarts) restarts\(duty), heard \(ago(adapter.lastHeard))\(room)"
                    + (adapter.trouble.map { "; \($0)" } ?? ""),
            ]
        }
        if let problem = status.scanner.problem {
            rows.append(["radio", "none", "\(problem.text); \(problem.remedy) (\(scanner))"])
        } else if rows.isEmpty {
            rows.append(["radio", "none", "no adapter is in use (\(scanner))"])
        }
        // Those of an adapter are reports that cannot be read; these are also frames that are not whole.
        if status.malformed.total > 0 {
            let kinds = status.malformed.byKind.map { "\($0.count) \($0.kind.name)" }
            rows.append(["packets", "\(status.malformed.total) malformed", kinds.joined(separator: ", ")])
        }
        rows += status.brokers.map { broker in
            let since = broker.since.map { " for \(Self.span($0.duration(to: status.now)))" } ?? ""
            let retry = broker.nextTry.map { "; next try in \(Self.span(status.now.duration(to: $0)))" } ?? ""
            let reason = broker.reason + retry
            return [
                broker.kind.rawValue, broker.phase.rawValue + since,
                broker.name + (reason.isEmpty ? "" : ": \(reason)"),
            ]
        }
        rows += status.proxies.map { proxy in
            [
                "proxy", proxy.problem == nil ? "port \(proxy.port)" : "not listening",
                "\(proxy.name) by \(proxy.adapter): \(proxy.problem ?? proxy.clientText); \(proxy.sent) packets, "
                    + "\(proxy.dropped) dropped, \(proxy.lost) lost, \(proxy.refused) refused, \(proxy.failed) without the key",
            ]
        }
        if let beacon = status.ownBeacon {
            let remedy = beacon.problem.map { "; \($0.remedy)" } ?? ""
            rows.append(["own beacon", beacon.word, beacon.text + remedy])
        }
        let queue = status.queue
        let receiver = (status.brokers.first?.kind ?? .broker).rawValue
        rows.append([
            "queue", "\(queue.pending) waiting",
            "\(queue.sent) sent, \(queue.refused) refused by the \(receiver), \(queue.dropped) dropped",
        ])
        let problem = status.store.problem
        rows.append(["disk", problem == nil ? "ok" : "trouble", problem ?? "\(status.store.writes) writes"])
        rows.append([
            "clock", status.wallClock.isKnown ? "set" : "not set",
            status.wallClock.isKnown
                ? TimeText.full(status.wallClock.epochSeconds(at: status.now), in: zone) + (zone == .utc ? " UTC" : "")
                : "messages wait for it",
        ])
        return rows
    }

    /// The regions with what people call them. Trackers without a name are told apart by their ids.
    private var regions: [(who: String, region: StatusSnapshot.RegionStatus)] {
        status.trackers.flatMap { tracker in
            let suffix = tracker.name == nil && status.trackers.count > 1 ? " (\(tracker.tid))" : ""
            return tracker.regions.map { (PersonalName.of(region: $0.name, tracker: tracker.name) + suffix, $0) }
        }
    }

    private var regionTable: String {
        Terminal.table(
            regions,
            [
                ("WHO", { $0.who }),
                ("STATE", { state($0.region) }),
                ("BEACON", { $0.region.beacon.map { "\($0)" } ?? "" }),
                ("RSSI", { $0.region.rssi.map { "\($0)" } ?? "" }),
                ("DISTANCE", { $0.region.distance.map { Self.figure($0) + " m" } ?? "" }),
                ("HEARD", { ago($0.region.lastHeard) }),
                ("LEAVES IN", { $0.region.leaveDeadline.map { Self.span(status.now.duration(to: $0)) } ?? "" }),
                ("BATTERY", { $0.region.battery.map(Self.battery) ?? "" }),
            ])
    }

    /// Where no adapter listens, the state is the last one known.
    private func state(_ region: StatusSnapshot.RegionStatus) -> String {
        var state = region.isInside ? "here" : "away"
        if let since = region.since {
            let clock = status.wallClock
            state +=
                clock.isKnown
                ? " since "
                    + TimeText.short(
                        clock.epochSeconds(at: since), at: clock.epochSeconds(at: status.now), in: zone)
                : " for \(Self.span(since.duration(to: status.now)))"
        }
        return region.isStale ? "last known: \(state)" : state
    }

    /// `12 %`, followed by `low` if the battery is low.
    private static func battery(_ state: BatteryState) -> String {
        "\(state.battery.percent) %" + (state.isLow ? " low" : "")
    }

    private func ago(_ instant: MonotonicInstant?) -> String {
        instant.map { Self.span($0.duration(to: status.now)) + " ago" } ?? "never"
    }

    /// A number as JSON writes it.
    static func figure(_ number: Double) -> String { JSONValue.plain(number).text }

    /// A duration in at most two units.
    static func span(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        switch seconds {
        case ..<0: return "unknown"
        case ..<10:
            let tenths = Int64(saturating: duration.inSeconds * 10)
            return "\(tenths / 10).\(tenths % 10) s"
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60) min \(seconds % 60) s"
        case ..<86400: return "\(seconds / 3600) h \(seconds / 60 % 60) min"
        default: return "\(seconds / 86400) d \(seconds / 3600 % 24) h"
        }
    }
}
