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
        let settings = try Settings.load(arguments, stateDirectory: RoomServiceProcess.defaultStateDirectory)
        let identity = try RoomServiceIdentity(settings.configuration)
        let read = try StoreReader.read(settings.stateDirectory) { reader in
            var regions = try reader.regions()[ExactString(identity.topics.base)] ?? RegionSet()
            regions.apply(settings.configuration.rooms?.tags ?? [])
            let tags = regions.regions.compactMap(TagIdentity.init)
            var filter = HistoryFilter()
            if let text = arguments.value("since") { filter.since = try TimeText.epochSeconds(text) }
            if let name = arguments.value("tag") {
                filter.tracker = identity.addresses.topic(ofTag: tags.first { $0.name == name }?.id ?? name)
            }
            var collected = Visits(names: Dictionary(tags.map { ($0.id, $0.name) }) { first, _ in first })
            try reader.forEachTransition(filter) {
                collected.add($0)
                return true
            }
            return collected.list
        }
        let visits = read ?? []
        if arguments.has("json") {
            for visit in visits { Terminal.print(json: visit.json.text) }
        } else if arguments.has("csv") {
            let rows = visits.map { $0.fields.map(CSV.quoted).joined(separator: ",") }
            Terminal.print((["from,to,name,room,tag,roomId"] + rows).joined(separator: "\n"))
        } else if visits.isEmpty {
            Terminal.print("no tag was in a room yet")
        } else {
            Terminal.print(
                Terminal.table(["FROM (UTC)", "TO", "TAG", "ROOM"], visits.map { Array($0.fields.prefix(4)) }))
        }
        return .ok
    }

    /// A stay of a tag in a room. Times are epoch seconds.
    struct Visit {
        let tag: String
        let name: String
        let room: String
        let roomName: String
        /// nil if the visit began before the shown period.
        let from: Int64?
        /// nil if the tag is still in the room.
        var to: Int64?
        var isOver = false

        var fields: [String] {
            [from.map(TimeText.utc) ?? "", isOver ? to.map(TimeText.utc) ?? "" : "", name, roomName, tag, room]
        }

        var json: JSONValue {
            [
                "tag": .string(tag), "name": .string(name), "room": .string(room), "roomName": .string(roomName),
                "from": from.map(JSONValue.integer) ?? .null, "to": to.map(JSONValue.integer) ?? .null,
            ]
        }
    }

    /// Builds visits from transitions.
    struct Visits {
        let names: [String: String]
        private(set) var list: [Visit] = []
        /// Position in `list` by the tag's id.
        private var open: [String: Int] = [:]

        init(names: [String: String]) { self.names = names }

        mutating func add(_ entry: PastTransition) {
            let tag = entry.tracker.split(separator: "/").last.map(String.init) ?? entry.tracker
            let last = open.removeValue(forKey: tag)
            let isItsEnd = last.map { list[$0].room == entry.rid } ?? false
            if let last {
                list[last].isOver = true
                // A visit without a stored end ends when the next one begins. When it ended is not known if that began elsewhere.
                if entry.event == .enter || isItsEnd { list[last].to = entry.timestamp }
            }
            switch entry.event {
            case .enter:
                open[tag] = list.count
                list.append(visit(tag, entry, from: entry.timestamp))
            case .leave:
                guard !isItsEnd else { return }
                var visit = visit(tag, entry, from: nil)
                (visit.to, visit.isOver) = (entry.timestamp, true)
                list.append(visit)
            }
        }

        private func visit(_ tag: String, _ entry: PastTransition, from: Int64?) -> Visit {
            Visit(tag: tag, name: names[tag] ?? tag, room: entry.rid, roomName: entry.name, from: from)
        }
    }
}
