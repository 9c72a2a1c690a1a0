import Base
import RoomMessages
import Shell
import SiteProtocol
import System

/// `rooms compare`: what the rules of other programs and this project's say of the same recordings.
enum RoomsCompareCommand {
    static func run(_ arguments: Arguments) throws -> ExitCode {
        let files = arguments.operands.dropFirst()
        guard !files.isEmpty else {
            throw Failure(.usage, "name the recording to compare the rules on; see 'ibeacon-gateway rooms --help'")
        }
        let truth = try arguments.value("truth").map { path in
            let text = String(decoding: try FileAccess.read(path), as: UTF8.self)
            let truth = try mapError({ Failure(.badData, "\(path): \($0)") }) { () throws(FeedError) in
                try RoomTruth(text)
            }
            return (path: path, truth: truth)
        }
        let (settings, open) = try RoomsReplayCommand.settings(arguments.value("config"))
        var comparison = RoomComparison(settings, open: open)
        for path in files {
            comparison.beginRecording()
            var lines = try LineReader(path: path, longest: RecordedMessage.longestLine)
            var (number, told) = (0, 0)
            while let line = try lines.next() {
                number += 1
                guard line.contains(where: { $0 > 0x20 }) else { continue }
                do throws(FeedError) {
                    try comparison.play(line: line)
                } catch {
                    told += 1
                    if told <= 20, !arguments.has("quiet") { Terminal.printError("\(path):\(number): \(error)") }
                }
            }
        }
        let results = comparison.results(truth: truth?.truth)
        guard !results.isEmpty else {
            throw Failure(
                .badData,
                "no tag was heard by a gateway with a room; record the topics that 'ibeacon-gateway rooms --help' names, from before the gateways' cards on"
            )
        }
        if let (path, truth) = truth {
            if !arguments.has("quiet") {
                for remark in remarks(on: truth, comparison) { Terminal.printError("\(path): \(remark)") }
            }
            try check(truth, path, results)
        }
        Terminal.print(text(comparison, results))
        return .ok
    }

    /// What a truth names that the recordings do not have.
    static func remarks(on truth: RoomTruth, _ comparison: RoomComparison) -> [String] {
        let (tags, rooms) = (comparison.tags, comparison.rooms)
        let unknownTags = truth.tags.filter { word in
            !tags.contains { RoomTruth.isTag(word, name: $0.name, id: $0.id) }
        }
        let unknownRooms = truth.rooms.filter { room in !rooms.contains { $0.key == room.key } }
        return unknownTags.map { "there is no tag '\($0)'\(hint(for: $0, among: tags.map(\.name)))" }
            + unknownRooms.map {
                "no gateway is in the room '\($0.name)', so that no program can name it"
                    + hint(for: $0.name, among: rooms.map(\.name))
            }
    }

    /// - Throws: That the truth is of no use.
    static func check(_ truth: RoomTruth, _ path: String, _ results: [TagComparison]) throws(Failure) {
        let heard = results.filter { result in
            truth.tags.contains { RoomTruth.isTag($0, name: result.name, id: result.id) }
        }
        guard !heard.isEmpty else {
            let names = results.map(\.name)
            let few = names.prefix(5).joined(separator: ", ") + (names.count > 5 ? " …" : "")
            throw Failure(.badData, "\(path) names no tag that was heard; heard were: \(few)")
        }
        guard heard.contains(where: { $0.lines.contains { $0.truth != nil } }) else {
            throw Failure(
                .badData, "\(path) says of no time of the recording where a tag was; its times are in UTC")
        }
    }

    /// The tables, as they are printed.
    static func text(_ comparison: RoomComparison, _ results: [TagComparison]) -> String {
        var lines = [
            "\(fixed(comparison.seconds / 3600, 1)) hours; gateways with a room: \(comparison.gatewayCount)"
        ]
        for tag in results {
            let hasTruth = tag.lines.contains { $0.truth != nil }
            let kind = tag.isAddressAssumed ? ", taken for a fixed address" : ""
            lines += ["", "\(tag.name), heard \(tag.readings) times\(kind)"]
            let head = ["rule", "changes a day", "taken back a day"]
            lines.append(columns(head + (hasTruth ? ["right", "false a day", "seconds to change", "never"] : [])))
            for line in tag.lines {
                var texts = [line.name, fixed(line.changesPerDay, 1), fixed(line.takenBackPerDay, 1)]
                if let truth = line.truth {
                    texts += [
                        fixed(truth.right, 3), fixed(truth.falsePerDay, 1), truth.delay.map { fixed($0, 1) } ?? "-",
                        "\(truth.never) of \(truth.entries)",
                    ]
                }
                lines.append(columns(texts))
            }
        }
        lines += [
            "",
            "taken back: within a minute the tag was said to be in its former room again, so that the change was probably false.",
        ]
        if results.contains(where: \.isAddressAssumed) {
            lines.append(
                "taken for a fixed address: the UUID stands for one, or for a phone, and no gateway says that it has the key of a phone for "
                    + "it. Bermuda computes a fixed address once in each cycle, and all else twice.")
        }
        return lines.joined(separator: "\n")
    }

    private static func columns(_ texts: [String]) -> String {
        let widths = [36, 15, 18, 7, 13, 19, 0]
        let line = zip(texts, widths).map { text, width in
            text + String(repeating: " ", count: max(2, width - text.count))
        }.joined()
        return String(line.prefix(line.count - (line.reversed().prefix { $0 == " " }.count)))
    }

    /// - Parameter digits: 1 to 3.
    private static func fixed(_ value: Double, _ digits: Int) -> String {
        var scale = 1
        for _ in 0..<digits { scale *= 10 }
        guard value.isFinite, value >= 0, value < 1e12 else { return "-" }
        let scaled = Int((value * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        return "\(scaled / scale)." + String(repeating: "0", count: digits - fraction.utf8.count) + fraction
    }
}
