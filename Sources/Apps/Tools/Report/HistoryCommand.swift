import Base
import Configuration
import JSON
import OwnTracks
import Regions
import Shell
import Storage
import System

/// `history`: past transitions from the store, whether the service runs or not.
enum HistoryCommand {
    static let specification = CommandSpecification(
        "history", "show who came and went",
        options: [
            OptionSpecification("region", "REGION", "show only this region (name or RID)"),
            OptionSpecification(
                "since", "TIME", "start at this time: 2h, 3d, 90m, epoch seconds, or 2026-01-31[T12:00[:00]] (UTC)"),
            OptionSpecification(TimeText.Zone.option, nil, TimeText.Zone.help),
            OptionSpecification("csv", nil, "print comma-separated values"),
            OptionSpecification("gpx", nil, "print locations instead, as a GPX file with a track for each tracker"),
        ],
        examples: [
            ("ibeacon-gateway history --since 2d", "the last two days"),
            ("ibeacon-gateway history --region Kitchen --csv > kitchen.csv", "for a spreadsheet"),
            ("ibeacon-gateway history --since 7d --gpx > week.gpx", "for a map"),
        ])

    static func run(_ arguments: Arguments) throws -> ExitCode {
        if let word = arguments.operands.first {
            throw Failure(.usage, "history takes no '\(word)'; --region \(word)?")
        }
        try arguments.needOneForm()
        let settings = try Settings.load(arguments)
        var filter = HistoryFilter()
        filter.region = arguments.value("region")
        if let text = arguments.value("since") { filter.since = try TimeText.epochSeconds(text) }
        if arguments.has("gpx") { return try printTracks(filter, arguments, settings) }
        var entries: [PastTransition] = []
        let hasState = try StoreReader.read(settings.stateDirectory) { reader in
            try reader.forEachTransition(filter) {
                entries.append($0)
                return true
            }
            return true
        }
        let absence = HistoryAbsence(filter: filter, settings: settings, zone: TimeText.Zone(arguments))
        if entries.isEmpty { try absence.checkRegion() }
        if arguments.has("json") {
            for entry in entries { Terminal.print(json: json(entry).text) }
        } else if arguments.has("csv") {
            Terminal.print((["time,event,name,rid,beacon,tracker"] + entries.map(csv)).joined(separator: "\n"))
        } else if entries.isEmpty {
            Terminal.print(
                hasState == nil
                    ? "nothing happened yet: there is no state in \(settings.stateDirectory); --state-dir names another directory"
                    : try absence.text())
        } else {
            let trackers = settings.configuration.trackers
            let names = Dictionary(trackers.map { ($0.topics.base, $0.name) }) { first, _ in first }
            let text = HistoryText(
                names: names, zone: TimeText.Zone(arguments), hasDetails: arguments.has("verbose"))
            Terminal.print(text.table(entries))
        }
        return .ok
    }

    private static func printTracks(
        _ filter: HistoryFilter, _ arguments: Arguments, _ settings: Settings
    ) throws -> ExitCode {
        for other in ["csv", "json", "region"] where arguments.has(other) {
            throw Failure(.usage, "--gpx prints locations; --\(other) is for transitions. Omit one of them")
        }
        var points: [ExactString: [Track.Point]] = [:]
        _ = try StoreReader.read(settings.stateDirectory) { reader in
            try reader.forEachLocation(filter) { entry in
                // A location without a known time cannot be placed on a track.
                guard entry.stamp != .provisional else { return true }
                let time = TimeText.utc(entry.timestamp).split(separator: " ").joined(separator: "T") + "Z"
                points[entry.tracker, default: []].append(
                    Track.Point(coordinates: entry.coordinates, time: time, trigger: entry.trigger))
                return true
            }
        }
        let tracks = points.sorted { $0.key < $1.key }.map { Track(name: $0.key.text, points: $0.value) }
        Terminal.print(gpx(tracks, creator: "ibeacon-gateway \(Program.version)"))
        return .ok
    }

    private static func json(_ entry: PastTransition) -> JSONValue {
        var members: [String: JSONValue] = [
            "event": .string("\(entry.event)"), "desc": .string(entry.name), "rid": .string(entry.rid),
            "tracker": .string(entry.tracker),
        ]
        if entry.stamp != .provisional { members["tst"] = .integer(entry.timestamp) }
        if entry.stamp == .estimated { members["estimated"] = true }
        if let beacon = entry.beacon { members["beacon"] = .string("\(beacon)") }
        return .object(members)
    }

    private static func csv(_ entry: PastTransition) -> String {
        let fields = [
            HistoryText.time(of: entry, in: .utc), "\(entry.event)", entry.name, entry.rid,
            entry.beacon.map { "\($0)" } ?? "", entry.tracker,
        ]
        return fields.map(CSV.quoted).joined(separator: ",")
    }
}
