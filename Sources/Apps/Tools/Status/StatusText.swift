import JSON
import OwnTracks

/// `/status.json` as text.
struct StatusText {
    private let status: JSONValue

    init(_ status: JSONValue) { self.status = status }

    var text: String {
        let head =
            "ibeacon-gateway \(string(status["version"])) on \(string(status["device"])), "
            + "running for \(Self.span(status["uptime"]))"
        var blocks = [head, Terminal.table(["PART", "STATE", "MORE"], parts)]
        blocks.append(regions.isEmpty ? "no beacon regions yet" : regionTable)
        if !phones.isEmpty { blocks.append(Self.phoneTable(phones)) }
        let trouble = (status["findings"]?.array ?? []).filter { $0["level"]?.string != "ok" }.map { finding in
            let cure = string(finding["cure"])
            return "\(string(finding["level"])): \(string(finding["text"]))" + (cure.isEmpty ? "" : "\n    -> \(cure)")
        }
        if !trouble.isEmpty { blocks.append(trouble.joined(separator: "\n")) }
        return blocks.joined(separator: "\n\n")
    }

    private var phones: [JSONValue] { status["phones"]?.array ?? [] }

    /// The phones and watches whose keys are known, and where.
    static func phoneTable(_ phones: [JSONValue]) -> String {
        Terminal.table(
            phones,
            [
                ("PHONE", { string($0["name"]) }), ("UUID", { string($0["uuid"]) }), ("HEARD", silence),
                (
                    "ALSO AT",
                    { phone in (phone["gateways"]?.array ?? []).map { string($0) }.joined(separator: ", ") }
                ),
                ("NOTE", note),
            ])
    }

    /// `now` within ten seconds, `silent for 4 min`.
    private static func silence(_ phone: JSONValue) -> String {
        guard let seconds = phone["heardAgo"]?.asNumber else { return "never" }
        guard seconds >= 10 else { return "now" }
        let time =
            seconds < 60 ? "\(Int(seconds)) s" : seconds < 3600 ? "\(Int(seconds / 60)) min" : span(phone["heardAgo"])
        return "silent for \(time)"
    }

    private static func note(_ phone: JSONValue) -> String {
        if phone["lost"] == .bool(true) {
            return "away, or it was reset and has another key: ibeacon-gateway phones add '\(string(phone["name"]))'"
        }
        return phone["ordered"] == .bool(false) ? "the order of its key is not known yet" : ""
    }

    private var parts: [[String]] {
        var rows: [[String]] = []
        let scanner = string(status["scanner"]?["name"])
        for adapter in status["scanner"]?["adapters"]?.array ?? [] {
            let isListening = adapter["listening"] == .bool(true)
            let duty = adapter["duty"]?.asNumber.map { ", duty \(Int(($0 * 100).rounded())) %" } ?? ""
            rows.append([
                "radio", isListening ? "listening" : "not listening",
                "\(string(adapter["name"])) by \(scanner): \(string(adapter["reportsPerSecond"])) reports/s, "
                    + "\(string(adapter["malformed"])) malformed, \(string(adapter["lost"])) lost, "
                    + "\(string(adapter["restarts"])) restarts\(duty), heard \(Self.ago(adapter["heardAgo"]))",
            ])
        }
        if rows.isEmpty { rows.append(["radio", "none", "no adapter is in use (\(scanner))"]) }
        for broker in status["brokers"]?.array ?? [] {
            let since = broker["sinceAgo"]?.asNumber == nil ? "" : " for \(Self.span(broker["sinceAgo"]))"
            let retry = broker["retryIn"]?.asNumber == nil ? "" : "; next try in \(Self.span(broker["retryIn"]))"
            let reason = string(broker["reason"]) + retry
            rows.append([
                "broker", string(broker["state"]) + since,
                string(broker["name"]) + (reason.isEmpty ? "" : ": \(reason)"),
            ])
        }
        let queue = status["queue"]
        rows.append([
            "queue", "\(string(queue?["pending"])) waiting",
            "\(string(queue?["sent"])) sent, \(string(queue?["setAside"])) refused by the broker, "
                + "\(string(queue?["dropped"])) dropped",
        ])
        let problem = string(status["store"]?["problem"])
        rows.append([
            "disk", problem.isEmpty ? "ok" : "trouble",
            problem.isEmpty ? "\(string(status["store"]?["writes"])) writes" : problem,
        ])
        rows.append([
            "clock", status["time"]?.asInteger == nil ? "not set" : "set",
            status["time"]?.asInteger.map { TimeText.utc($0) + " UTC" } ?? "messages wait for it",
        ])
        return rows
    }

    private var regions: [(tracker: JSONValue, region: JSONValue)] {
        (status["trackers"]?.array ?? []).flatMap { tracker in
            (tracker["regions"]?.array ?? []).map { (tracker, $0) }
        }
    }

    private var regionTable: String {
        Terminal.table(
            regions,
            [
                ("TRACKER", { string($0.tracker["tid"]) }),
                ("REGION", { string($0.region["name"]) }),
                ("STATE", { $0.region["inside"] == .bool(true) ? "inside" : "outside" }),
                ("SINCE", { known($0.region["sinceAgo"]).map(Self.span) ?? "" }),
                ("BEACON", { string($0.region["beacon"]) }),
                ("RSSI", { known($0.region["rssi"]).map { string($0) + " dBm" } ?? "" }),
                ("DISTANCE", { known($0.region["distance"]).map { string($0) + " m" } ?? "" }),
                ("HEARD", { Self.ago($0.region["heardAgo"]) }),
                ("LEAVES IN", { known($0.region["leavesIn"]).map(Self.span) ?? "" }),
                ("BATTERY", { known($0.region["battery"]).map(Self.battery) ?? "" }),
            ])
    }

    /// nil for null.
    private func known(_ value: JSONValue?) -> JSONValue? { value == .null ? nil : value }

    /// `12 %`, followed by `low` if the battery is low.
    private static func battery(_ battery: JSONValue) -> String {
        string(battery["percent"]) + " %" + (battery["low"] == .bool(true) ? " low" : "")
    }

    private func string(_ value: JSONValue?) -> String { Self.string(value) }

    /// A string made printable, a number as JSON writes it; empty for null.
    static func string(_ value: JSONValue?) -> String {
        switch value {
        case nil, .null: ""
        case .string(let text): Terminal.printable(text)
        case .some(let value): value.text
        }
    }

    /// A number of seconds in at most two units.
    static func span(_ value: JSONValue?) -> String {
        guard let number = value?.asNumber, number >= 0, number < 1e12 else { return "unknown" }
        let seconds = Int64(number)
        switch seconds {
        case ..<10: return "\(Int64((number * 10).rounded()) / 10).\(Int64((number * 10).rounded()) % 10) s"
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60) min \(seconds % 60) s"
        case ..<86400: return "\(seconds / 3600) h \(seconds / 60 % 60) min"
        default: return "\(seconds / 86400) d \(seconds / 3600 % 24) h"
        }
    }

    static func ago(_ value: JSONValue?) -> String {
        value?.asNumber == nil ? "never" : span(value) + " ago"
    }
}

/// One region of `/explain.json` as text.
enum ExplanationText {
    static func text(_ region: JSONValue) -> String {
        let state = region["inside"] == .bool(true) ? "inside" : "outside"
        let head =
            "\(StatusText.string(region["name"])) (\(StatusText.string(region["rid"]))), "
            + "tracker \(StatusText.string(region["tid"])): \(state)\n\(StatusText.string(region["explanation"]))"
        let rows = (region["beacons"]?.array ?? []).flatMap { beacon in
            (beacon["receivers"]?.array ?? []).map { (beacon: beacon, link: $0) }
        }
        guard !rows.isEmpty else { return head }
        func ifKnown(_ link: JSONValue, _ text: String, else other: String = "") -> String {
            link["rhythmKnown"] == .bool(true) ? text : other
        }
        let table = Terminal.table(
            rows,
            [
                ("BEACON", { StatusText.string($0.beacon["beacon"]) }),
                ("NEAR", { $0.beacon["near"] == .bool(true) ? "yes" : "no" }),
                ("ADAPTER", { StatusText.string($0.link["adapter"]) }),
                ("LISTENS", { $0.link["listening"] == .bool(true) ? "yes" : "no" }),
                ("SILENCE", { seconds($0.link["silence"]) }),
                ("INTERVAL", { ifKnown($0.link, seconds($0.link["interval"]), else: "not known yet") }),
                (
                    "ARRIVES",
                    { ifKnown($0.link, "\(Int((($0.link["shareHeard"]?.asNumber ?? 0) * 100).rounded())) %") }
                ),
                ("LONGEST GAP", { seconds($0.link["longestGap"]) }),
                (
                    "LEVEL",
                    { $0.link["level"]?.asNumber == nil ? "" : "\(StatusText.string($0.link["level"])) dBm" }
                ),
                ("GIVEN UP AFTER", { seconds($0.link["leaveTimeout"]) }),
                ("LEAVES IN", { seconds($0.beacon["leavesIn"]) }),
            ])
        return head + "\n" + table
    }

    private static func seconds(_ value: JSONValue?) -> String {
        value?.asNumber == nil ? "" : "\(StatusText.string(value)) s"
    }
}
