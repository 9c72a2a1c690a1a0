/// Makes of what gateways hear of each other what is known of each room.
///
/// A level says something of the room in which its sender stood when it was measured. A gateway that names another room since counts for
/// nothing until the survey has dropped its levels, and measures them anew.
struct SurveyedSite: Sendable {
    /// The room in which each gateway stood when its levels were first told.
    private var rooms: [GatewayIndex: RoomIndex] = [:]

    /// Whether its levels are from another room than the one in which it is.
    func wasCarried(_ gateway: GatewayIndex, _ hearing: Hearing) -> Bool {
        guard let room = rooms[gateway] else { return false }
        return room != hearing.gateways[gateway].room
    }

    mutating func forget(_ gateway: GatewayIndex) { rooms[gateway] = nil }

    /// What the levels say of each room, in the order of the rooms. It takes time proportional to the pairs, and to the gateways' square.
    mutating func take(_ survey: SurveyedLevels, _ hearing: Hearing, _ tuning: RoomTuning) -> [SurveyedRoom] {
        let pairs = survey.pairs.compactMap { pair -> (GatewayIndex, GatewayIndex, Float)? in
            guard let sender = hearing.gateway(named: pair.sender),
                let receiver = hearing.gateway(named: pair.receiver), pair.level.isFinite
            else { return nil }
            return (sender, receiver, pair.level)
        }
        let named = Set(pairs.flatMap { [$0.0, $0.1] })
        rooms = rooms.filter { named.contains($0.key) }
        for gateway in named where rooms[gateway] == nil { rooms[gateway] = hearing.gateways[gateway].room }
        var (levels, receivers): ([GatewayIndex: [GatewayIndex: Float]], Set<GatewayIndex>) = ([:], [])
        for (sender, receiver, level) in pairs
        where !wasCarried(sender, hearing) && !wasCarried(receiver, hearing) {
            levels[sender, default: [:]][receiver] = level
            receivers.insert(receiver)
        }
        let sorted = receivers.sorted()
        let offsets = sorted.map { survey.offsets[hearing.gateways[$0].name] ?? 0 }
        let loudest = zip(sorted, offsets).compactMap { receiver, offset in
            levels.values.compactMap { $0[receiver] }.max().map { $0 - offset }
        }
        guard loudest.count > 1 else { return hearing.rooms.indices.map { _ in SurveyedRoom() } }
        let own = loudest.reduce(0, +) / Float(loudest.count) + tuning.surveyed.ownLead - tuning.surveyed.bodyLoss
        return hearing.rooms.elements.map { room in
            let senders = room.gateways.compactMap { levels[$0] }
            guard !senders.isEmpty else { return SurveyedRoom() }
            let means = zip(sorted, offsets).map { receiver, offset -> (gateway: GatewayIndex, level: Float) in
                if room.gateways.contains(receiver) { return (receiver, own + offset) }
                let sum = senders.reduce(0) { $0 + ($1[receiver] ?? tuning.surveyed.unheard) }
                return (receiver, sum / Float(senders.count) - tuning.surveyed.bodyLoss)
            }
            return SurveyedRoom(means, tuning)
        }
    }
}
