import Base
import Configuration
import GatewayApp
import Glibc
import Identities
import JSON
import OwnTracks
import Regions
import RoomsApp
import Shell
import SiteCore
import SiteProtocol
import Storage
import System

/// `regions`: the regions of a tracker, whether the service runs or not. A running service applies changes within
/// seconds.
enum RegionsCommand {
    static let specification = CommandSpecification(
        "regions", operands: "list | show RID | add DESCRIPTION | remove RID | import FILE | export [FILE]",
        "list, change, import and export regions",
        options: [
            OptionSpecification(
                "rid", "RID",
                with: [("add", "the key of the region; an existing region is changed (default: from name and time)")]),
            OptionSpecification(
                "leave-after", "SECONDS", with: [("add", "silence before the region is left, 1 to 86400, or 'auto'")]),
            OptionSpecification(
                "tracker", "TID",
                "whose regions, if there are several trackers (default: all for list, show and remove, otherwise the first)"
            ),
        ],
        examples: [
            (
                "ibeacon-gateway regions add 'Keys:CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7'",
                "add a region for one beacon"
            ),
            ("ibeacon-gateway regions list", "a table, with major and minor in decimal and hexadecimal"),
            ("ibeacon-gateway regions export phone.otrw", "write a file that OwnTracks apps can load"),
        ])

    static let actions = ["list", "show", "add", "remove", "import", "export"]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        try run(arguments, on: try Context(arguments))
    }

    /// Executes the action after the command's name.
    ///
    /// - Parameter context: The owner of the regions, and the command's name.
    static func run(_ arguments: Arguments, on context: Context) throws -> ExitCode {
        let words = Array(arguments.operands.dropFirst(context.leadingWords))
        let name = context.command
        guard let action = words.first else {
            throw Failure(.usage, "name the action: \(name) \(context.actions.joined(separator: ", "))")
        }
        let operand = words.dropFirst().first
        guard words.count <= 2 else {
            throw Failure(.usage, "'\(words[2])' is unexpected; quote a description that contains spaces")
        }
        if action == "list", let operand {
            throw Failure(
                .usage,
                "\(name) list takes no '\(operand)'; for one \(context.noun): \(name) show \(ShellWord.quoted(operand))"
            )
        }
        switch action {
        case "list":
            try list(context, isJSON: arguments.has("json"))
        case "show": try show(try need(operand, "\(name) show RID"), context)
        case "add": try add(try need(operand, "\(name) add NAME:UUID[:MAJOR[:MINOR]]"), arguments, context)
        case "remove": try remove(try need(operand, "\(name) remove RID"), arguments, context)
        case "import": return try importFile(try need(operand, "\(name) import FILE"), arguments, context)
        case "export": try export(to: operand ?? "-", context)
        default:
            throw Failure(.usage, "\(name) has no '\(action)'\(hint(for: action, among: context.actions))")
        }
        return .ok
    }

    private static func need(_ operand: String?, _ usage: String) throws(Failure) -> String {
        guard let operand else { throw Failure(.usage, "a word is missing: \(usage)") }
        return operand
    }

    private static func list(_ context: Context, isJSON: Bool) throws {
        let owned = try context.owners.map { ($0, try context.regions(of: $0)) }
        let hasTrackers = owned.count > 1
        // A tag has no leave rule of its own, and may be one of the configuration file.
        let hasSources = context.tagRemarks != nil
        guard !isJSON else {
            for (owner, regions) in owned {
                var message = waypointsMessage(regions, base: context.base).object ?? [:]
                if hasSources { mark(&message, context.areConfigured(regions)) }
                if hasTrackers { message["tracker"] = .string(owner.name) }
                Terminal.print(json: JSONValue.object(message).text)
            }
            return
        }
        guard !owned.allSatisfy(\.1.isEmpty) else {
            let waiting = owned.reduce(0) { $0 + $1.0.configured.count }
            return Terminal.print(
                waiting > 0
                    ? "none yet; the configuration file has \(counted(waiting, "waypoint")), which the service takes when it starts"
                    : "none yet; add one with: sudo ibeacon-gateway \(context.command) add NAME:UUID[:MAJOR[:MINOR]]")
        }
        let rows = owned.flatMap { owner, regions in
            zip(regions, context.areConfigured(regions)).map { region, isConfigured in
                (hasTrackers ? [owner.name] : []) + cells(of: region, hasLeaveRules: !hasSources)
                    + (hasSources ? [isConfigured ? "configuration file" : ""] : [])
            }
        }
        let titles =
            ["RID", "NAME", "UUID", "MAJOR", "MINOR"] + (hasSources ? [] : ["LEAVE"]) + ["KIND"]
            + (hasSources ? ["SOURCE"] : [])
        Terminal.print(Terminal.table((hasTrackers ? ["TRACKER"] : []) + titles, rows))
    }

    /// Says of each waypoint whether the configuration file defines it, as the page does.
    private static func mark(_ message: inout [String: JSONValue], _ areConfigured: [Bool]) {
        let waypoints = message["waypoints"]?.array ?? []
        message["waypoints"] = .array(
            zip(waypoints, areConfigured).map { waypoint, isConfigured in
                var members = waypoint.object ?? [:]
                members["configured"] = .bool(isConfigured)
                return .object(members)
            })
    }

    private static func cells(of region: Region, hasLeaveRules: Bool) -> [String] {
        let pattern = region.description.pattern
        return [
            region.rid, region.description.name, pattern.map { "\($0.uuid)" } ?? "",
            numbers(pattern?.major, pattern), numbers(pattern?.minor, pattern),
        ] + (hasLeaveRules ? [leave(region)] : []) + [kind(region)]
    }

    /// The number in both bases, because OwnTracks' documents use both.
    private static func numbers(_ number: UInt16?, _ pattern: BeaconPattern?) -> String {
        guard pattern != nil else { return "" }
        return number.map { "\($0) (\(hexadecimal($0)))" } ?? "any"
    }

    private static func leave(_ region: Region) -> String {
        switch region.leaveRule {
        case nil: ""
        case .auto: "auto"
        case .after(let duration): "\(decimal(duration)) s"
        }
    }

    private static func kind(_ region: Region) -> String {
        switch region.kind {
        case .beacon: region.identity?.text ?? "beacon"
        case .circular: "not a beacon region: a circle of \(Int64(saturating: region.radius)) m"
        case .follow: "not a beacon region: +follow"
        case .plain: "not a beacon region: no UUID"
        }
    }

    private static func show(_ word: String, _ context: Context) throws {
        Terminal.print(json: try context.region(word).region.waypoint(base: context.base).text)
    }

    private static func add(_ text: String, _ arguments: Arguments, _ context: Context) throws {
        guard !text.hasPrefix("owntracks:") else {
            throw Failure(
                .usage, "for a link write: sudo ibeacon-gateway \(context.command) import \(ShellWord.quoted(text))")
        }
        let shown = RegionDescription.shown(text)
        let description = try mapError({ Failure(.badData, "'\(shown)' cannot be used: \($0)") }) {
            () throws(RegionDescriptionError) in
            try RegionDescription(parsing: text, base: context.base)
        }
        guard description.pattern != nil else {
            throw Failure(.badData, "'\(text)' has no UUID; write NAME:UUID[:MAJOR[:MINOR]]")
        }
        guard context.historyTopic == nil else { return try addTag(description, arguments, context) }
        let leaveRule = try leaveRule(arguments)
        let now = Int64(time(nil))
        var added = Region(rid: "", description: description, timestamp: now)
        var isThere = false
        try context.edit { regions in
            var (region, old) = (added, nil as Region?)
            if let rid = arguments.value("rid") {
                // A local edit changes only the given members: time stamps, position and the other members stay.
                old = regions[rid: rid]
                region = old ?? region
                (region.rid, region.description) = (rid, description)
            } else {
                switch RegionAddition(region, to: regions) {
                case .isThere(let known): (region, old) = (known, known)
                case .new(let new): region = new
                }
            }
            if let leaveRule { region.leaveRule = leaveRule }
            added = region.keepingIdentity()
            isThere = added == old
            return isThere ? [] : [.set(added, isRIDDerived: false)]
        }
        if isThere { Terminal.printError("'\(added.displayName)' is already there; nothing was changed") }
        context.remark(on: [.set(added, isRIDDerived: false)])
        Terminal.print(added.rid)
    }

    /// The value of `--leave-after`; nil if it was not given.
    ///
    /// - Throws: `Failure` for what the setting `leaveAfter` does not take, because a file with it could not be imported.
    private static func leaveRule(_ arguments: Arguments) throws(Failure) -> LeaveRule? {
        guard let text = arguments.value("leave-after") else { return nil }
        guard let rule = LeaveRule(.string(text)) else {
            throw Failure(.usage, "--leave-after '\(text)' does not fit; write \(LeaveRule.allowed)")
        }
        return rule
    }

    /// A tag is known by its id, which is made from its name.
    private static func addTag(
        _ description: RegionDescription, _ arguments: Arguments, _ context: Context
    ) throws {
        let now = Int64(time(nil))
        let regions = try context.regions()
        try context.checkID(arguments.value("rid"), among: regions)
        let tag = try context.existingTag(description, id: arguments.value("rid"), in: regions)
        if let tag, context.areConfigured([tag]) == [true], tag.description.isSame(as: description) {
            Terminal.printError("'\(tag.displayName)' is already there; nothing was changed")
            return Terminal.print(TagIdentity(tag)?.id ?? tag.rid)
        }
        if let tag { try context.needEditable(tag) }
        // With the id as its key, a tag keeps its id under every name.
        let rid =
            tag.flatMap(TagIdentity.init)?.id ?? arguments.value("rid")
            ?? derivedRID(name: description.name, timestamp: now)
        var region =
            tag ?? regions.first { $0.rid.hasSameBytes(as: rid) }
            ?? Region(rid: rid, description: description, timestamp: now)
        (region.rid, region.description) = (rid, description)
        if let leaveRule = try leaveRule(arguments) { region.leaveRule = leaveRule }
        let replaced = tag.flatMap { $0.rid.hasSameBytes(as: rid) ? nil : RegionChange.remove(rid: $0.rid) }
        let changes = [replaced].compactMap(\.self) + [RegionChange.set(region.keepingIdentity(), isRIDDerived: false)]
        try context.edit(changes, of: context.topic)
        context.remark(on: changes)
        Terminal.print(rid)
    }

    private static func remove(_ word: String, _ arguments: Arguments, _ context: Context) throws {
        guard arguments.has("erase"), let historyTopic = context.historyTopic else {
            let (region, topic) = try context.region(word)
            try context.needEditable(region)
            try context.edit([.remove(rid: region.rid)], of: topic)
            return context.remark(onRemovalOf: region, of: topic)
        }
        // The history of a tag that was removed before can be deleted as well, by the tag's id.
        let region = try context.lookUp(word)?.region
        if let region { try context.needEditable(region) }
        let erased = historyTopic(region.flatMap(TagIdentity.init)?.id ?? word)
        if region == nil, try !context.hasHistory(of: erased) { _ = try context.region(word) }
        try context.edit(region.map { [.remove(rid: $0.rid)] } ?? [], of: context.topic, erasingHistoryOf: erased)
    }

    private static func importFile(_ file: String, _ arguments: Arguments, _ context: Context) throws -> ExitCode {
        // The rooms service has no keys of phones.
        let reading = try WaypointsFile.read(file, base: context.base, acceptsKeys: context.historyTopic == nil)
        for problem in reading.problems { Terminal.printError("\(file): \(problem)") }
        for remark in reading.remarks { Terminal.printError("\(file): \(remark)") }
        var changes = reading.changes
        let reasons =
            try context.refuseConfiguredTags(in: &changes) + context.refuseBeaconsOfTags(in: &changes)
        for reason in reasons { Terminal.printError("\(file): \(reason)") }
        if !reading.keys.isEmpty { try PhonesCommand.add(reading.keys, in: context.directory) }
        let resolved = try context.stored(context.topic).resolving(changes)
        for removal in resolved.unmatched { Terminal.printError("\(file): \(removal)") }
        changes = resolved.changes
        try context.edit(changes, of: context.topic)
        context.remark(on: changes, isRead: true)
        let refused = reading.problemCount + reasons.count
        if !arguments.has("quiet") {
            Terminal.printError("\(counted(changes.count, "waypoint")) taken, \(refused) refused")
        }
        return refused == 0 ? .ok : .badData
    }

    private static func export(to file: String, _ context: Context) throws {
        let text = waypointsMessage(try context.regions(), base: context.base).text
        guard file != "-" else { return Terminal.print(json: text) }
        try FileAccess.writeNamed(Array((text + "\n").utf8), to: file)
    }
}
