package import Base
package import SiteProtocol

extension RoomEngine {
    /// The gateways whose rooms are known, sorted by name.
    ///
    /// - Parameter connected: Since when their messages can arrive. Earlier silence does not count.
    package func gatewayHealth(at now: MonotonicInstant, connected: MonotonicInstant) -> [GatewayHealth] {
        let exchanged = exchangedGateways(at: now)
        return gateways.indices.compactMap { index in
            let gateway = gateways[index]
            return gateway.room.map { room in
                GatewayHealth(
                    name: gateway.name, room: rooms[room].name, isListening: gateway.isListening,
                    trouble: trouble(of: gateway, at: now, connected: connected)
                        ?? (exchanged.contains(index) ? .exchanged : nil))
            }
        }.sorted { $0.name < $1.name }
    }

    private func trouble(
        of gateway: GatewayState, at now: MonotonicInstant, connected: MonotonicInstant
    ) -> GatewayHealth.Trouble? {
        if gateway.isShared { return .sharedName }
        if !gateway.isAvailable { return .offline }
        if gateway.isDeaf { return .deaf }
        let silentSince = [connected, gateway.lastMessage, gateway.placed].compactMap(\.self).max() ?? connected
        if silentSince.advanced(bySeconds: gateway.silenceSeconds(tuning)) <= now {
            if let late = gateway.lastLate, late.advanced(bySeconds: gateway.silenceSeconds(tuning)) > now {
                return .late
            }
            return gateway.lastMessage == nil ? .noReadings : .silent
        }
        return gateway.isListening || gateway.lastMessage.map { $0 < silentSince } ?? true ? nil : .notListening
    }

    /// The rooms that have a gateway, a tag or learned data, sorted by id.
    package var knownRooms: [RoomName] { roomNames { !$0.gateways.isEmpty } }

    /// The same without rooms that are known only by the card of a gateway that does not count. Only these are published.
    package var trustedRooms: [RoomName] { roomNames(where: hasGatewayThatCounts) }

    /// Whether the gateway is published: its messages count, or the configuration names its room.
    package func isTrusted(gateway name: String) -> Bool {
        gatewayIndices[name].map { gateways[$0].isTrusted } ?? false
    }

    /// Whether the silence of any gateway about a tag is evidence.
    package var isListening: Bool { gateways.elements.contains(where: \.isListening) }

    /// Whether the gateway has a place and was heard, or is trusted.
    package func isHeard(gateway name: String) -> Bool {
        gatewayIndices[name].map { gateways[$0].acquaintance != .unknown || gateways[$0].isConfigured } ?? false
    }

    /// Whether anything was learned of the room with this id or name.
    package func isLearned(room name: String) -> Bool {
        (roomIndices[name] ?? roomIndices[RoomName.id(of: name)]).map { rooms[$0].isLearned } ?? false
    }

    private func roomNames(where hasGateway: (Room) -> Bool) -> [RoomName] {
        let isTaken = roomsOfTags
        return rooms.indices.filter { isTaken[$0] || rooms[$0].isLearned || hasGateway(rooms[$0]) }
            .map { rooms[$0].name }.sorted { $0.id < $1.id }
    }
}
