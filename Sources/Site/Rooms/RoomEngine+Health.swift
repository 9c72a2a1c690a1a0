package import Base
package import SiteProtocol

extension RoomEngine {
    /// The gateways whose rooms are known, sorted by name.
    ///
    /// - Parameter connected: Since when their messages can arrive. Earlier silence does not count.
    package func gatewayHealth(at now: MonotonicInstant, connected: MonotonicInstant) -> [GatewayHealth] {
        let exchanged = ExchangedGateways(hearing, learning.rooms, missLevel: tuning.silence.missLevel).found(at: now)
        return hearing.gateways.indices.compactMap { index in
            let gateway = hearing.gateways[index]
            return gateway.room.map { room in
                GatewayHealth(
                    name: gateway.name, room: hearing.rooms[room].name, isListening: gateway.isListening,
                    trouble: gateway.trouble(at: now, connected: connected, tuning.hearing)
                        ?? (exchanged.contains(index) ? .exchanged : nil),
                    formerRoom: RoomRenaming.question(about: index, hearing, learning, at: now)?.from)
            }
        }.sorted { $0.name < $1.name }
    }

    /// What a person must say of gateways that name another room than before.
    package func questions(at now: MonotonicInstant) -> [RoomQuestion] {
        RoomRenaming.questions(hearing, learning, at: now)
    }

    /// Why a room, given by its id or name, is not renamed when a person says so; nil if it is.
    package func refusal(
        ofRenaming room: RoomName, to name: RoomName, at now: MonotonicInstant
    ) -> RenamingRefusal? {
        RoomRenaming.refusal(of: room, to: name, hearing, learning, at: now)
    }

    /// The rooms that have a gateway, a tag or learned data, sorted by id.
    package var knownRooms: [RoomName] { roomNames { !hearing.rooms[$0].gateways.isEmpty } }

    /// The same without rooms that are known only by the card of a gateway that does not count. Only these are published.
    package var trustedRooms: [RoomName] { roomNames(where: hearing.hasGatewayThatCounts) }

    /// Whether the gateway is published: its messages count, or the configuration names its room.
    package func isTrusted(gateway name: String) -> Bool {
        hearing.gateway(named: name).map { hearing.gateways[$0].isTrusted } ?? false
    }

    /// Whether the silence of any gateway about a tag is evidence.
    package var isListening: Bool { hearing.gateways.elements.contains(where: \.isListening) }

    /// Whether the gateway has a place and was heard, or is trusted.
    package func isHeard(gateway name: String) -> Bool {
        hearing.gateway(named: name).map {
            hearing.gateways[$0].acquaintance != .unknown || hearing.gateways[$0].isConfigured
        } ?? false
    }

    /// Whether anything was learned of the room with this id or name.
    package func isLearned(room name: RoomName) -> Bool {
        hearing.roomIndices[idOrName: name].map { learning.rooms[$0].isLearned } ?? false
    }

    private func roomNames(where hasGateway: (RoomIndex) -> Bool) -> [RoomName] {
        let isTaken = roomsOfTags
        return hearing.rooms.indices.filter { isTaken[$0] || learning.rooms[$0].isLearned || hasGateway($0) }
            .map { hearing.rooms[$0].name }.sorted { $0.id < $1.id }
    }
}
