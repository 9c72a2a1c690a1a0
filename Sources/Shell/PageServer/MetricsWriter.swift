import Base
package import Health
import JSON
package import OwnTracks

/// Writes Prometheus' text format, version 0.0.4: each family once, with its help and type.
package struct MetricsWriter {
    package private(set) var text = ""

    package enum Kind: String { case counter, gauge }

    package init() {}

    /// - Parameter samples: Labels and value of each line; nothing is written if there are none.
    package mutating func family(
        _ name: String, _ kind: Kind, _ help: String, _ samples: [(labels: [(String, String)], value: Double)]
    ) {
        guard !samples.isEmpty else { return }
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        for sample in samples {
            let labels = sample.labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
            text += name + (labels.isEmpty ? "" : "{\(labels)}") + " " + Self.number(sample.value) + "\n"
        }
    }

    package mutating func single(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        family(name, kind, help, [([], value)])
    }

    /// A label's value: any text, with backslash, quote and line feed escaped, and cut to a bounded length.
    static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(JSONValue.shownCharacters) {
            switch scalar {
            case "\\", "\"": result.append(contentsOf: ["\\", scalar])
            case "\n": result.append(contentsOf: ["\\", "n"])
            case "\0"..."\u{1f}", "\u{7f}": result.append(" ")
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    private static func number(_ value: Double) -> String {
        guard let whole = Int64(exactly: value) else { return "\(value)" }
        return "\(whole)"
    }

    /// The resources of the process, under the names that all Prometheus clients use.
    ///
    /// - Parameter startedAt: Epoch seconds; nil if the time of day is not known.
    package mutating func process(_ process: ProcessState, startedAt: Int64?) {
        single(
            "process_cpu_seconds_total", .counter, "Processor time of user and kernel.",
            process.processorTime.inSeconds)
        single("process_resident_memory_bytes", .gauge, "Resident memory.", Double(process.residentBytes))
        single("process_open_fds", .gauge, "Open file descriptors.", Double(process.openDescriptors))
        if let startedAt {
            single(
                "process_start_time_seconds", .gauge, "When the process started, in seconds since 1970.",
                Double(startedAt))
        }
    }

    /// The results of the commands on `/cmd`.
    ///
    /// - Parameter service: The prefix of the service's metrics.
    package mutating func commands(_ counts: CommandCounts, of service: String) {
        family(
            "\(service)_commands_total", .counter, "Commands that arrived, by result.",
            [([("result", "done")], Double(counts.done)), ([("result", "refused")], Double(counts.refused))])
        family(
            "\(service)_commands_refused_total", .counter, "Commands that were refused, by reason.",
            CommandRefusal.Reason.allCases.map { ([("reason", $0.rawValue)], Double(counts[$0])) })
    }

    /// The counters of a page's clients.
    ///
    /// - Parameter service: The prefix of the service's metrics.
    package mutating func clients(_ clients: ClientCounters, of service: String) {
        single(
            "\(service)_http_event_streams", .gauge, "Status pages that are open.", Double(clients.streams))
        single(
            "\(service)_http_clients_dropped_total", .counter,
            "HTTP clients dropped because they were too slow.", Double(clients.dropped))
        single(
            "\(service)_http_streams_refused_total", .counter,
            "Status pages that were refused because too many were open.", Double(clients.streamsRefused))
        single(
            "\(service)_http_connections_full_total", .counter,
            "Times that the limit of HTTP connections was reached.", Double(clients.timesFull))
    }
}
