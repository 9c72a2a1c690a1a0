package import Configuration
import OwnTracks
import Rooms
import SiteProtocol

extension SiteSettings {
    /// The settings of a site, from the configuration.
    package init(_ configuration: Configuration) {
        self.init()
        site = configuration.rooms?.site
        tags = configuration.rooms?.tags ?? []
        for entry in configuration.rooms?.gateways ?? [] { gateways[entry.gateway] = RoomName(entry.room) }
        floors = Self.floors(of: configuration.rooms)
        position = configuration.position
        publishesVirtualNodes = configuration.rooms?.publishesVirtualNodes ?? false
        surveysGateways = configuration.rooms?.surveysGateways ?? false
        commandRights = CommandGate.Rights(
            obeysCommands: configuration.obeysCommands,
            allowsRemoteConfiguration: configuration.allowsRemoteConfiguration, needsEncryption: false)
    }

    /// By room. Of two forms of a name, the first counts.
    private static func floors(of rooms: RoomsSettings?) -> [RoomName: RoomFloor] {
        var known: [(room: RoomName, floor: RoomFloor)] = []
        func add(_ name: String, _ change: (inout RoomFloor) -> Void) {
            guard let room = RoomName(name) else { return }
            let index = known.firstIndex { $0.room.isSame(as: room) } ?? known.endIndex
            if index == known.endIndex { known.append((room, RoomFloor())) }
            change(&known[index].floor)
        }
        for entry in rooms?.floors ?? [] { add(entry.room) { $0.floor = $0.floor ?? entry.floor } }
        for room in rooms?.stairs ?? [] { add(room) { $0.isStairs = true } }
        return Dictionary(known.map { ($0.room, $0.floor) }) { first, _ in first }
    }
}
