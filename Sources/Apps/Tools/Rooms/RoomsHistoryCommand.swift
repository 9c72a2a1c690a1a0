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
            let rows = visits.map { $0.fields(in: .utc).map(CSV.quoted).joined(separator: ",") }
            Terminal.print((["from,to,name,room,tag,roomId"] + rows).joined(separator: "\n"))
        } else if visits.isEmpty {
            Terminal.print("no tag was in a room yet")
        } else {
            let zone = TimeText.Zone(arguments)
            let rows = visits.map { Array($0.fields(in: zone).prefix(4)) }
            Terminal.print(Terminal.table([zone.title("FROM"), "TO", "TAG", "ROOM"], rows))
        }
        return .ok
    }
}

extension Visits.Visit {
    fileprivate func fields(in zone: TimeText.Zone) -> [String] {
        let times = [from, isOver ? to : nil].map { $0.map { TimeText.full($0, in: zone) } ?? "" }
        return times + [name, roomName, tag, room]
    }
}
