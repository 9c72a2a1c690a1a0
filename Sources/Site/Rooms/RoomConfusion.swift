package import SiteProtocol

/// How well a trained room can be told apart from the others.
package struct RoomConfusion: Hashable, Sendable {
    /// Seconds of the room's training that are remembered.
    package var seconds: Float
    /// Rooms for which the room is mistaken, the worst first, each with the share of the training, 0 … 1, that fits it.
    package var mistaken: [Mistaken] = []
    /// The share of its training, 0 … 1, in which at most one gateway heard the tag.
    package var alone: Float = 0

    package struct Mistaken: Hashable, Sendable {
        package var room: RoomName
        package var share: Float
    }

    /// Largest number of moments of one room that are weighed: those that represent the most seconds.
    private static let mostMoments = 24
    /// Largest number of moments times rooms: with more rooms, fewer moments are weighed.
    private static let mostComparisons = 2400

    /// Weighs each moment of a room's training as if it were heard again, without the moment itself: which rooms fit?
    ///
    /// A room is compared with all others, up to 8,000 · 64 distances: call this on request, not for each reading. Nil if nothing was
    /// trained in the room.
    ///
    /// - Parameter gateways: Their number.
    init?(
        of trained: RoomIndex, _ rooms: Table<RoomIndex, RoomKnowledge>, names: Table<RoomIndex, Room>, gateways: Int,
        _ tuning: RoomTuning
    ) {
        guard rooms[trained].labelled.count > 0 else { return nil }
        seconds = rooms[trained].labelled.seconds
        let count = min(Self.mostMoments, max(4, Self.mostComparisons / rooms.count))
        let moments = rooms[trained].labelled.prints.sorted { $0.seconds > $1.seconds }.prefix(count)
        var shares = Table<RoomIndex, Float>([Float](repeating: 0, count: rooms.count))
        var total: Float = 0
        for moment in moments {
            let heard = HeardMoment(moment, gateways: gateways, tuning)
            var densities = Table<RoomIndex, Float>(rooms.elements.map { heard.density(in: $0, tuning) })
            // The moment itself fits perfectly, so it is left out.
            densities[trained] = heard.density(in: rooms[trained], without: moment.seconds, tuning)
            let sum = densities.elements.reduce(0, +)
            guard sum > 0 else { continue }
            for room in rooms.indices { shares[room] += moment.seconds * densities[room] / sum }
            total += moment.seconds
            if heard.vector.heard.count <= 1 { alone += moment.seconds }
        }
        guard total > 0 else { return }
        alone /= moments.reduce(0) { $0 + $1.seconds }
        mistaken = rooms.indices.filter { $0 != trained && shares[$0] > 0 }.map {
            Mistaken(room: names[$0].name, share: shares[$0] / total)
        }
        mistaken.sort { ($0.share, $1.room.id) > ($1.share, $0.room.id) }
    }
}

/// A fingerprint as if it had just been heard.
private struct HeardMoment {
    var vector = LevelVector()
    /// Each gateway's part of the squared distance to a fingerprint in which nothing was heard, and their sum.
    var parts = Table<GatewayIndex, Float>()
    var base: Float = 0

    init(_ moment: Fingerprint, gateways: Int, _ tuning: RoomTuning) {
        vector.levels = Table([OptionalLevel](repeating: OptionalLevel(tuning.silence.missLevel), count: gateways))
        for entry in moment.levels where vector.levels.contains(index: entry.gateway) {
            vector.levels[entry.gateway] = OptionalLevel(entry.eighths.map { Float($0) / 8 })
        }
        for gateway in vector.levels.indices {
            guard let level = vector.levels[gateway].dBm else {
                parts.append(0)
                continue
            }
            let difference = (level - tuning.silence.missLevel) / tuning.prints.kernelWidth
            parts.append(min(difference * difference, tuning.prints.distanceCap))
            if level > tuning.silence.missLevel { vector.heard.append(gateway) }
        }
        base = parts.elements.reduce(0, +)
    }

    /// Likelihood of the levels, per second of the room, weighed as for windows: besides the learned places, one counts that was
    /// not learned yet. 0 for a room about which nothing was learned.
    func density(in room: RoomKnowledge, without seconds: Float = 0, _ tuning: RoomTuning) -> Float {
        guard room.labelled.count > 0 || room.own.seconds > 0 else { return 0 }
        let labelled = max(0, room.labelled.seconds - seconds) * tuning.observation.labelWorth
        var sum =
            FixedMath.exp(-0.5 * tuning.observation.noveltyDistance * Float(max(vector.heard.count, 2)))
            * tuning.observation.noveltySeconds
        if labelled > 0 {
            let likelihood = room.labelled.likelihood(vector, base: base, parts: parts, tuning)
            sum += tuning.observation.labelWorth * max(0, likelihood - seconds)
        }
        if room.own.seconds > 0 {
            sum += room.own.seconds * FixedMath.exp(room.own.logLikelihood(vector, tuning))
        }
        return sum / (tuning.observation.noveltySeconds + labelled + room.own.seconds)
    }
}
