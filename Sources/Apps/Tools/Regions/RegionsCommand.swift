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
                "leave-after", "SECONDS", with: [("add", "silence before the region is left, or 'auto'")]),
            OptionSpecification(
                "tracker", "TID", "whose regions, if there are several trackers (default: the first)"),
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
            throw Failure(.usage, "name the action: \(name) \(actions.joined(separator: ", "))")
        }
        let operand = words.dropFirst().first
        guard words.count <= 2 else {
            throw Failure(.usage, "'\(words[2])' is unexpected; quote a description that contains spaces")
        }
        switch action {
        case "list": try list(context, isJSON: arguments.has("json"))
        case "show": try show(try need(operand, "\(name) show RID"), context)
        case "add": try add(try need(operand, "\(name) add NAME:UUID[:MAJOR[:MINOR]]"), arguments, context)
        case "remove": try remove(try need(operand, "\(name) remove RID"), arguments, context)
        case "import": return try importFile(try need(operand, "\(name) import FILE"), arguments, context)
        case "export": try export(to: operand ?? "-", context)
        default:
            throw Failure(.usage, "\(name) has no '\(action)'\(hint(for: action, among: actions))")
        }
        return .ok
    }

    /// The owner of the regions, and where they are stored.
    struct Context {
        let directory: String
        let base: NumberBase
        let topic: String
        /// The command's name, and the number of operands that are part of the name.
        let command: String
        let leadingWords: Int
        /// The tracker that holds the history of the region with this id; nil if regions share a history.
        private(set) var historyTopic: ((String) -> String)?
        /// nil for regions of a tracker.
        private(set) var tagRemarks: TagRemarks?

        init(_ arguments: Arguments) throws(Failure) {
            let settings = try Settings.loadInForce(arguments)
            directory = settings.stateDirectory
            base = settings.configuration.numberBase
            topic = settings.configuration.trackers[try settings.tracker(arguments.value("tracker"))].topics.base
            (command, leadingWords) = ("regions", 0)
        }

        private init(_ settings: Settings, topic: String, command: String) {
            directory = settings.stateDirectory
            base = settings.configuration.numberBase
            (self.topic, self.command, leadingWords) = (topic, command, 1)
        }

        /// The tags of the rooms service.
        static func tags(_ arguments: Arguments) throws(Failure) -> Context {
            let settings = try Settings.load(arguments, stateDirectory: RoomServiceProcess.defaultStateDirectory)
            let identity = try RoomServiceIdentity(settings.configuration)
            var context = Context(settings, topic: identity.topics.base, command: "rooms tags")
            context.historyTopic = identity.addresses.topic(ofTag:)
            context.tagRemarks = try TagRemarks(settings.configuration)
            return context
        }

        /// Says what may not be expected of the tags that changes make.
        func remark(on changes: [RegionChange]) {
            guard let tagRemarks else { return }
            for case .set(let region, _) in changes {
                for remark in tagRemarks.remarks(on: region) {
                    Terminal.printError("warning: '\(region.displayName)': \(remark)")
                }
            }
        }

        func regions() throws -> [Region] { try stored().regions }

        private func stored() throws -> RegionSet {
            try StoreReader.read(directory) { try $0.regions()[topic] ?? RegionSet() } ?? RegionSet()
        }

        /// The region with this key. A tag can also be named by its id, which its topics contain.
        func find(_ rid: String, in regions: [Region]) -> Region? {
            if let region = regions.first(where: { $0.rid.hasSameBytes(as: rid) }) { return region }
            return historyTopic == nil ? nil : regions.first { TagIdentity($0)?.id == rid }
        }

        /// The tag that `add` changes; nil if it adds one. Regions have no ids, and may share a beacon.
        ///
        /// - Parameter given: The id of the tag; nil: the id is made from its name.
        func existingTag(_ new: RegionDescription, id given: String?, in regions: [Region]) throws(Failure) -> Region? {
            guard historyTopic != nil else { return nil }
            let id = given ?? RoomName.id(of: new.name)
            let tag = find(id, in: regions)
            if given == nil, let tag, RoomName.id(of: tag.displayName) != id {
                let text = "'\(id)' is the id of the tag '\(tag.displayName)' already"
                throw Failure(.badData, "\(text); give the new tag another one with --rid")
            }
            if let other = regions.first(where: {
                tag?.rid.hasSameBytes(as: $0.rid) != true && $0.description.pattern == new.pattern
            }) {
                throw Failure(.badData, "this beacon is the tag '\(other.displayName)' already")
            }
            return tag
        }

        /// Takes the changes out of a list that would make a second tag of a beacon. The list may exchange the beacons of
        /// tags.
        ///
        /// - Returns: Why, for each of them.
        func refuseBeaconsOfTags(in changes: inout [RegionChange]) throws -> [String] {
            guard historyTopic != nil else { return [] }
            let before = try stored()
            var reasons: [String] = []
            // Without a refused change its tag keeps its beacon, which another change may give away.
            while case let refused = Self.secondTags(by: changes, in: before), !refused.isEmpty {
                reasons += refused.sorted { $0.key < $1.key }.map(\.value)
                changes = changes.indices.filter { refused[$0] == nil }.map { changes[$0] }
            }
            return reasons
        }

        /// What is wrong with changes that make a second tag of a beacon, by their positions.
        private static func secondTags(by changes: [RegionChange], in before: RegionSet) -> [Int: String] {
            var after = before
            after.apply(changes)
            func keepsBeacon(_ tag: Region) -> Bool {
                before[rid: tag.rid]?.description.pattern == tag.description.pattern
            }
            var holders: [BeaconPattern: Region] = [:]
            for tag in after.regions.filter(keepsBeacon) + after.regions {
                guard let pattern = tag.description.pattern, holders[pattern] == nil else { continue }
                holders[pattern] = tag
            }
            var reasons: [Int: String] = [:]
            for (position, change) in changes.enumerated() {
                guard case .set(let region, _) = change, let pattern = region.description.pattern,
                    let holder = holders[pattern],
                    // Without this `rid` the change means the tag with its time stamp.
                    let tag = after[rid: region.rid]
                        ?? after.regions.first(where: { $0.timestamp == region.timestamp }),
                    tag.description.pattern == pattern, !keepsBeacon(tag),
                    TagIdentity(tag)?.id != TagIdentity(holder)?.id
                else { continue }
                reasons[position] =
                    "waypoint '\(region.displayName)': the beacon \(pattern) is the tag '\(holder.displayName)' already"
            }
            return reasons
        }

        func hasHistory(of tracker: String) throws -> Bool {
            var isThere = false
            _ = try StoreReader.read(directory) { reader in
                try reader.forEachTransition(HistoryFilter(tracker: tracker, limit: 1)) { _ in
                    isThere = true
                    return false
                }
            }
            return isThere
        }

        func region(_ rid: String) throws -> Region {
            let all = try regions()
            if let region = find(rid, in: all) { return region }
            throw Failure(.badData, "there is no region '\(rid)'\(hint(for: rid, among: all.map(\.rid)))")
        }

        func edit(_ changes: [RegionChange], erasingHistoryOf erased: String? = nil) throws {
            try StoreEditor.edit(directory, of: topic, changes, erasingHistoryOf: erased)
            guard let reader = try? StoreReader(directory: directory),
                let served = ServedTopics.stored(in: reader),
                !served.contains(where: { $0.hasSameBytes(as: topic) })
            else { return }
            Terminal.printError(
                "the service was last started for \(served.joined(separator: ", ")); this waits until it is started "
                    + "or reloaded with the settings of \(topic): sudo systemctl reload-or-restart ibeacon-gateway")
        }
    }

    private static func need(_ operand: String?, _ usage: String) throws(Failure) -> String {
        guard let operand else { throw Failure(.usage, "a word is missing: \(usage)") }
        return operand
    }

    private static func list(_ context: Context, isJSON: Bool) throws {
        let regions = try context.regions()
        guard !isJSON else { return Terminal.print(json: waypointsMessage(regions, base: context.base).text) }
        guard !regions.isEmpty else {
            return Terminal.print(
                "none yet; add one with: ibeacon-gateway \(context.command) add NAME:UUID[:MAJOR[:MINOR]]")
        }
        // A tag has no leave rule of its own.
        let hasLeaveRules = context.tagRemarks == nil
        let rows = regions.map { region in
            let pattern = region.description.pattern
            return [
                region.rid, region.description.name, pattern.map { "\($0.uuid)" } ?? "",
                numbers(pattern?.major, pattern), numbers(pattern?.minor, pattern),
            ] + (hasLeaveRules ? [leave(region)] : []) + [kind(region)]
        }
        let titles = ["RID", "NAME", "UUID", "MAJOR", "MINOR"] + (hasLeaveRules ? ["LEAVE"] : []) + ["KIND"]
        Terminal.print(Terminal.table(titles, rows))
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
        case .circular: "not a beacon region: a circle of \(Int64(clamping: Int(region.radius.rounded()))) m"
        case .follow: "not a beacon region: +follow"
        case .plain: "not a beacon region: no UUID"
        }
    }

    private static func show(_ rid: String, _ context: Context) throws {
        Terminal.print(json: try context.region(rid).waypoint(base: context.base).text)
    }

    private static func add(_ text: String, _ arguments: Arguments, _ context: Context) throws {
        let shown = RegionDescription.shown(text)
        let description = try mapError({ Failure(.badData, "'\(shown)' cannot be used: \($0)") }) {
            () throws(RegionDescriptionError) in
            try RegionDescription(parsing: text, base: context.base)
        }
        guard description.pattern != nil else {
            throw Failure(.badData, "'\(text)' has no UUID; write NAME:UUID[:MAJOR[:MINOR]]")
        }
        let now = Int64(time(nil))
        let regions = try context.regions()
        let tag = try context.existingTag(description, id: arguments.value("rid"), in: regions)
        // With the id as its key, a tag keeps its id under every name.
        let rid =
            tag.flatMap(TagIdentity.init)?.id ?? arguments.value("rid")
            ?? derivedRID(name: description.name, timestamp: now)
        // A local edit changes only the given members: time stamps, position and the other members stay.
        var region =
            tag ?? regions.first { $0.rid.hasSameBytes(as: rid) }
            ?? Region(rid: rid, description: description, timestamp: now)
        (region.rid, region.description) = (rid, description)
        if arguments.value("leave-after") == "auto" {
            region.leaveRule = .auto
        } else if let seconds = try arguments.seconds("leave-after") {
            region.leaveRule = .after(seconds)
        }
        let replaced = tag.flatMap { $0.rid.hasSameBytes(as: rid) ? nil : RegionChange.remove(rid: $0.rid) }
        let changes = [replaced].compactMap(\.self) + [RegionChange.set(region.keepingIdentity(), isRIDDerived: false)]
        try context.edit(changes)
        context.remark(on: changes)
        Terminal.print(rid)
    }

    private static func remove(_ rid: String, _ arguments: Arguments, _ context: Context) throws {
        guard arguments.has("erase"), let topic = context.historyTopic else {
            return try context.edit([.remove(rid: try context.region(rid).rid)])
        }
        // The history of a tag that was removed before can be deleted as well, by the tag's id.
        let region = context.find(rid, in: try context.regions())
        let erased = topic(region.flatMap(TagIdentity.init)?.id ?? rid)
        if region == nil, try !context.hasHistory(of: erased) { _ = try context.region(rid) }
        try context.edit(region.map { [.remove(rid: $0.rid)] } ?? [], erasingHistoryOf: erased)
    }

    private static func importFile(_ file: String, _ arguments: Arguments, _ context: Context) throws -> ExitCode {
        // The rooms service has no keys of phones.
        let reading = try WaypointsFile.read(file, base: context.base, acceptsKeys: context.historyTopic == nil)
        for problem in reading.problems { Terminal.printError("\(file): \(problem)") }
        for remark in reading.remarks { Terminal.printError("\(file): \(remark)") }
        var changes = reading.changes
        let reasons = try context.refuseBeaconsOfTags(in: &changes)
        for reason in reasons { Terminal.printError("\(file): \(reason)") }
        if !reading.keys.isEmpty { try PhonesCommand.add(reading.keys, in: context.directory) }
        try context.edit(changes)
        context.remark(on: changes)
        let refused = reading.problemCount + reasons.count
        if !arguments.has("quiet") { Terminal.printError("\(changes.count) waypoints taken, \(refused) refused") }
        return refused == 0 ? .ok : .badData
    }

    private static func export(to file: String, _ context: Context) throws {
        let text = waypointsMessage(try context.regions(), base: context.base).text
        guard file != "-" else { return Terminal.print(json: text) }
        try FileAccess.writeNamed(Array((text + "\n").utf8), to: file)
    }
}
