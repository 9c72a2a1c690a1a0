import Base
import Configuration
import JSON
import OwnTracks
import Regions
import RoomsApp
import Shell
import SiteCore
import Storage
import System

/// `rooms history`: past visits of tags, from the store of the rooms service, whether the service runs or not.
enum RoomsHistoryCommand {
    static func run(_ arguments: Arguments) throws -> ExitCode {
        guard arguments.operands.count == 1 else {
            throw Failure(.usage, "rooms history takes no further word; --tag?")
        }
        try arguments.needOneForm()
        var filter = HistoryFilter()
        if let text = arguments.value("since") { filter.since = try TimeText.epochSeconds(text) }
        let settings = try Settings.load(arguments, stateDirectory: RoomServiceProcess.defaultStateDirectory)
        let identity = try RoomServiceIdentity(settings.configuration)
        let read = try StoreReader.read(settings.stateDirectory) { reader in
            var regions = try reader.regions()[ExactString(identity.topics.base)] ?? RegionSet()
            regions.apply(settings.configuration.rooms?.tags ?? [])
            let tags = regions.regions.compactMap(TagIdentity.init)
            if let word = arguments.value("tag") {
                let isExact = tags.contains { $0.id == word || $0.name == word }
                let id = try id(of: word, among: tags, isExact ? [] : idsWithHistory(reader, identity))
                filter.tracker = identity.addresses.topic(ofTag: id)
            }
            var collected = Visits(names: Dictionary(tags.map { ($0.id, $0.name) }) { first, _ in first })
            try reader.forEachTransition(filter) {
                collected.add($0)
                return true
            }
            return collected.list
        }
        guard let visits = read else {
            throw Failure(
                .noInput,
                "there is no state in \(settings.stateDirectory): no rooms service has run with it; --state-dir names another directory"
            )
        }
        if arguments.has("json") {
            for visit in visits { Terminal.print(json: visit.json.text) }
        } else if arguments.has("csv") {
            let rows = visits.map { $0.fields(in: .utc).map(CSV.quoted).joined(separator: ",") }
            Terminal.print((["from,to,name,room,tag,roomId"] + rows).joined(separator: "\n"))
        } else if visits.isEmpty {
            let subject = arguments.value("tag").map { "'\($0)' was in no room" } ?? "no tag was in a room"
            Terminal.print("\(subject) \(filter.since == nil ? "yet" : "since that time")")
        } else {
            let zone = TimeText.Zone(arguments)
            let rows = visits.map { Array($0.fields(in: zone).prefix(4)) }
            Terminal.print(Terminal.table([zone.title("FROM"), "TO", "TAG", "ROOM"], rows))
        }
        return .ok
    }

    /// The id of the tag that a word means: its name or id, in any case, or the id of a tag that was removed and has a history.
    ///
    /// - Parameters:
    ///   - tags: The tags that there are.
    ///   - ids: Those with a history.
    /// - Throws: `Failure` if there is no such tag.
    static func id(of word: String, among tags: [TagIdentity], _ ids: [String]) throws(Failure) -> String {
        if let tag = tags.first(where: { $0.id == word || $0.name == word }) { return tag.id }
        if ids.contains(word) { return word }
        let lowered = word.lowercased()
        if let tag = tags.first(where: { $0.id.lowercased() == lowered || $0.name.lowercased() == lowered }) {
            return tag.id
        }
        if let id = ids.first(where: { $0.lowercased() == lowered }) { return id }
        throw Failure(
            .badData,
            "there is no tag '\(word)', and no history of one\(hint(for: word, among: tags.map(\.name) + ids))")
    }

    /// The ids of all tags that were in a room, also of those that were removed since.
    private static func idsWithHistory(
        _ reader: borrowing StoreReader, _ identity: RoomServiceIdentity
    ) throws -> [String] {
        var ids: Set<String> = []
        try reader.forEachTransition(HistoryFilter()) { entry in
            let id = Visits.tag(of: entry)
            if identity.addresses.topic(ofTag: id).hasSameBytes(as: entry.tracker) { ids.insert(id) }
            return true
        }
        return ids.sorted()
    }
}

extension Visits.Visit {
    fileprivate func fields(in zone: TimeText.Zone) -> [String] {
        let times = [from, isOver ? to : nil].map { $0.map { TimeText.full($0, in: zone) } ?? "" }
        return times + [name, roomName, tag, room]
    }
}
