package import Base
package import SiteProtocol

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
