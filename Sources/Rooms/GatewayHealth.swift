package import Base

/// What is known of a gateway of the site, for people.
package struct GatewayHealth: Hashable, Sendable {
    /// Why a gateway feeds no readings that are of use.
    package enum Trouble: String, Hashable, Sendable {
        /// Several gateways have its name.
        case sharedName
        /// The broker says that it is not connected.
        case offline
        /// It said where it stands, and has published no reading since.
        case noReadings
        /// It published readings, and does no longer.
        case silent
        /// Its radio does not listen.
        case notListening
        /// It receives nothing while others do.
        case deaf
        /// It seems to stand in the room of another gateway, which has its room.
        case exchanged
        /// Its messages cannot be decrypted. The engine does not know this: the service adds it.
        case wrongKey
    }

    package var name: String
    package var room: RoomName
    /// Whether its silence about a tag says that the tag is not near it.
    package var isListening: Bool
    package var trouble: Trouble?

    package init(name: String, room: RoomName, isListening: Bool, trouble: Trouble? = nil) {
        (self.name, self.room, self.isListening, self.trouble) = (name, room, isListening, trouble)
    }
}

extension RoomEngine {
    /// The gateways that have said where they stand, sorted by name.
    ///
    /// - Parameter connected: Since when their messages can arrive. Nothing is said about a silence of before.
    package func gatewayHealth(at now: MonotonicInstant, connected: MonotonicInstant) -> [GatewayHealth] {
        let exchanged = exchangedGateways(at: now.nanoseconds)
        return gateways.enumerated().filter { $0.element.room >= 0 }.map { place, gateway in
            GatewayHealth(
                name: gateway.name, room: rooms[Int(gateway.room)].name, isListening: gateway.isListening,
                trouble: trouble(of: gateway, at: now.nanoseconds, connected: connected.nanoseconds)
                    ?? (exchanged.contains(place) ? .exchanged : nil))
        }.sorted { $0.name < $1.name }
    }

    private func trouble(of gateway: GatewayState, at now: Int64, connected: Int64) -> GatewayHealth.Trouble? {
        if gateway.isShared { return .sharedName }
        if !gateway.isAvailable { return .offline }
        if gateway.isDeaf { return .deaf }
        let silentSince = max(gateway.lastMessage, gateway.placed, connected)
        if now - silentSince >= Int64(tuning.gatewaySilenceSeconds * 1e9) {
            return gateway.lastMessage == .min ? .noReadings : .silent
        }
        return gateway.isListening || gateway.lastMessage < silentSince ? nil : .notListening
    }

    /// The rooms that a gateway stands in, that a tag is in, or of which something was learned, sorted by id.
    package var knownRooms: [RoomName] {
        var isKnown = rooms.map { !$0.gateways.isEmpty || $0.labelled.count > 0 || $0.own.seconds > 0 }
        for tag in states where tag.room >= 0 { isKnown[Int(tag.room)] = true }
        return zip(rooms, isKnown).filter(\.1).map(\.0.name).sorted { $0.id < $1.id }
    }
}
