package import Base
package import SiteProtocol

extension SitePlan {
    func name(of room: RoomIndex?) -> RoomName? { room.map { hearing.rooms[$0].name } }

    // MARK: Gateways

    /// Whether the gateway's room is known.
    package func hasRoom(gateway: String) -> Bool { roomID(ofGateway: gateway) != nil }

    /// The id of the gateway's room; nil if unknown.
    package func roomID(ofGateway gateway: String) -> String? { room(ofGateway: gateway)?.id }

    /// The gateway's room; nil if unknown.
    package func room(ofGateway gateway: String) -> RoomName? {
        hearing.gateway(named: gateway).flatMap { name(of: hearing.gateways[$0].room) }
    }

    /// The names of the gateways in the room with a form of this name.
    package func gateways(in room: RoomName) -> [String] {
        hearing.roomIndices[room].map { hearing.rooms[$0].gateways.map { hearing.gateways[$0].name } } ?? []
    }

    /// Gateways in the order in which they appeared, without those that have no room and do not listen.
    package var gatewayReports: [GatewayReport] {
        hearing.gateways.elements.compactMap { GatewayReport($0, in: name(of: $0.room)) }
    }

    /// Whether the gateway is published: its messages count, or the configuration names its room.
    package func isTrusted(gateway name: String) -> Bool {
        hearing.gateway(named: name).map { hearing.gateways[$0].isTrusted } ?? false
    }

    /// Whether a message of the gateway that has just arrived counts: it is neither late nor repeated.
    package func hasCounted(messageOf name: String, at now: MonotonicInstant) -> Bool {
        hearing.gateway(named: name).map {
            hearing.gateways[$0].isTrusted && hearing.gateways[$0].lastMessage == now
        } ?? false
    }

    /// Whether the silence of any gateway about a tag is evidence.
    package var isListening: Bool { hearing.gateways.elements.contains(where: \.isListening) }

    /// Whether the gateway has a place and was heard, or is trusted.
    package func isHeard(gateway name: String) -> Bool {
        hearing.gateway(named: name).map {
            hearing.gateways[$0].acquaintance != .unknown || hearing.gateways[$0].isConfigured
        } ?? false
    }

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

    // MARK: Rooms

    /// Rooms in the order in which they appeared.
    package var roomReports: [RoomReport] {
        hearing.rooms.indices.map { index in
            let names = hearing.rooms[index].gateways.map { hearing.gateways[$0].name }
            return RoomReport(hearing.rooms[index].name, names, learning.rooms[index])
        }
    }

    /// The rooms that a tag is in, about which anything was learned, or that have a gateway of a kind, sorted by id.
    func roomNames(_ areTaken: Table<RoomIndex, Bool>, where hasGateway: (RoomIndex) -> Bool) -> [RoomName] {
        hearing.rooms.indices.filter { areTaken[$0] || learning.rooms[$0].isLearned || hasGateway($0) }
            .map { hearing.rooms[$0].name }.sorted { $0.id < $1.id }
    }

    /// Whether anything was learned of the room with this id or name.
    package func isLearned(room name: RoomName) -> Bool {
        hearing.roomIndices[idOrName: name].map { learning.rooms[$0].isLearned } ?? false
    }

    /// With which rooms a trained room is mistaken; nil if nothing was trained in the room. This runs on request.
    package func confusion(ofRoom id: String) -> RoomConfusion? {
        hearing.roomIndices[id: id].flatMap {
            RoomConfusion(of: $0, learning.rooms, names: hearing.rooms, gateways: hearing.gateways.count, tuning)
        }
    }

    // MARK: Renaming

    /// What a person must say about gateways that name another room than before.
    package func questions(at now: MonotonicInstant) -> [RoomQuestion] {
        RoomRenaming.questions(hearing, learning, at: now)
    }

    /// Why a room, given by its id or name, is not renamed when a person says so; nil if it is.
    package func refusal(
        ofRenaming room: RoomName, to name: RoomName, at now: MonotonicInstant
    ) -> RenamingRefusal? {
        RoomRenaming.refusal(of: room, to: name, hearing, learning, at: now)
    }

    // MARK: What was learned

    /// When the latest training run with each tag ends, or ended.
    package var trainingEnds: [MonotonicInstant] { learning.trainingEnds }

    /// All that was learned.
    package var learned: LearnedSite { learnedSource.site }

    /// The same, to be converted on another thread: at the limits of a site its JSON has tens of MB and takes seconds.
    package var learnedSource: LearnedSource {
        LearnedSource(gateways: hearing.gateways, rooms: hearing.rooms, learned: learning.rooms)
    }
}
