import Base

/// What one window of a tag says: the level of each gateway, the rooms that the tag may be in, and how well the window fits each.
///
/// All windows share its memory, so that none of them allocates. It changes no tag: tags are `inout` so that they are not copied.
struct Observation: Sendable {
    /// Between two windows, the levels of `gathered` are those of the latest window's tag, and those of all other gateways say
    /// what their silence means: so a window touches only the gateways that heard its tag.
    private(set) var window = LevelVector()
    private(set) var gathered: [GatewayIndex] = []
    /// Each gateway's part of the squared distance to a fingerprint in which nothing was heard; 0 for all but `weighed`.
    private(set) var parts = Table<GatewayIndex, Float>()
    private(set) var weighed: [GatewayIndex] = []
    /// Rooms that are weighed, and their log likelihoods: by the levels alone, by what was learned, and by both.
    private(set) var rooms: [RoomIndex] = []
    private var placement: [Float] = []
    private var fingerprint: [Float] = []
    private(set) var evidence: [Float] = []
    /// How much of each room was learned, 0 … 1.
    private var shares: [Float] = []
    /// How much of all that was learned came with labels, 0 … 1.
    private(set) var labelledShare: Float = 0
    private var surveyed: SurveyedWindow
    private let tuning: RoomTuning

    /// Largest number of gateways of one room at which each of them counts, even one that did not hear the tag.
    static let mostSilent = 16

    init(_ tuning: RoomTuning) { (self.tuning, surveyed) = (tuning, SurveyedWindow(tuning)) }

    // MARK: Gateways

    mutating func addGateway() {
        parts.append(0)
        window.levels.append(.none)
    }

    /// Sets what the silence of a gateway says. This is called whenever that may have changed, so that no window has to look at all gateways.
    mutating func setSilence(of gateway: GatewayIndex, _ level: OptionalLevel) { window.levels[gateway] = level }

    // MARK: What was heard

    /// Fills `window` with the tag's level at each gateway.
    ///
    /// - Parameter elapsed: Seconds since the tag's previous window.
    @inline(__always)
    mutating func gather(
        _ tag: inout Tag, _ gateways: Table<GatewayIndex, GatewayState>, elapsed: Float, at now: MonotonicInstant
    ) {
        window.elapsed = elapsed
        let freshSince = now.advanced(bySeconds: -tuning.silence.freshSeconds)
        for index in gathered.indices {
            let gateway = gathered[index]
            window.levels[gateway] = gateways[gateway].levelOfSilence(tuning.silence)
        }
        gathered.removeAll(keepingCapacity: true)
        window.packets = 1
        window.heard.removeAll(keepingCapacity: true)
        window.isLoudestNew = false
        window.now = now
        var loudest = -Float.infinity
        var loudestHeld = -Float.infinity
        var isHeardByGateway = false
        for heard in tag.levels {
            let gateway = heard.gateway
            gathered.append(gateway)
            if gateways[gateway].isListening, heard.at >= freshSince {
                window.levels[gateway] = OptionalLevel(max(heard.level, tuning.silence.missLevel))
                if heard.level > tuning.silence.missLevel {
                    window.heard.append(gateway)
                    if !isHeardByGateway { isHeardByGateway = gateways[gateway].sendsAlways }
                }
                window.packets = max(window.packets, heard.packets)
                if heard.level > loudest {
                    loudest = heard.level
                    if let judged = tag.judged {
                        window.isLoudestNew = heard.at > judged
                    } else {
                        window.isLoudestNew = true
                    }
                }
                continue
            }
            // The next message shows whether the gateway failed or only hears nothing.
            if !gateways[gateway].speaks(since: heard, at: now, tuning.silence) { window.levels[gateway] = .none }
            let isNode = !gateways[gateway].sendsAlways
            if window.levels[gateway].dBm == nil, heard.isOverdue(at: now, isOfNode: isNode, tuning.silence),
                gateways[gateway].room != tag.room
            {
                loudestHeld = max(loudestHeld, heard.aged(at: now, isOfNode: isNode, tuning.silence))
            }
        }
        window.isHeardByGateway = isHeardByGateway
        // The loudest reading is not repeated by what other gateways heard since.
        if loudestHeld > loudest { window.isLoudestNew = false }
    }

    /// Chooses the rooms that the tag may be in: those believed in, those whose gateways hear it, and trained rooms in which no gateway
    /// listens. With few rooms, all that are possible.
    ///
    /// - Parameters:
    ///   - places: The gateways in each room.
    ///   - learned: What was learned of each room.
    ///   - trained: The trained rooms in which no gateway listens (`SitePlan.trainedWithoutGateway`).
    @inline(__always)
    mutating func chooseRooms(
        for tag: inout Tag, _ gateways: Table<GatewayIndex, GatewayState>, _ places: Table<RoomIndex, Room>,
        _ learned: Table<RoomIndex, RoomKnowledge>, trained: [RoomIndex]
    ) {
        /// Whether there can be any evidence for the room.
        func isPossible(_ room: RoomIndex) -> Bool {
            !places[room].gateways.isEmpty || learned[room].labelled.count > 0
        }
        rooms.removeAll(keepingCapacity: true)
        if places.count <= Tag.mostRooms {
            for room in places.indices where isPossible(room) { rooms.append(room) }
            return
        }
        for belief in tag.belief.rooms where isPossible(belief.room) { rooms.append(belief.room) }
        for heard in tag.levels {
            guard window.levels[heard.gateway].dBm != nil, let room = gateways[heard.gateway].room else { continue }
            if !rooms.contains(room) { rooms.append(room) }
        }
        for room in trained where rooms.count < 2 * Tag.mostRooms && !rooms.contains(room) { rooms.append(room) }
    }

    // MARK: What it means

    /// Computes the log likelihood of each room.
    @inline(__always)
    mutating func weigh(
        _ tag: inout Tag, _ gateways: Table<GatewayIndex, GatewayState>, _ places: Table<RoomIndex, Room>,
        _ learned: Table<RoomIndex, RoomKnowledge>
    ) {
        weighPlacement(&tag, gateways, places)
        let trust = weighFingerprints(&tag, gateways, learned)
        evidence.resize(to: rooms.count, 0)
        for index in rooms.indices {
            evidence[index] = (1 - trust) * placement[index] + trust * fingerprint[index]
        }
    }

    /// Without training: a tag is likely to be in the room whose gateway hears it best.
    private mutating func weighPlacement(
        _ tag: inout Tag, _ gateways: Table<GatewayIndex, GatewayState>, _ places: Table<RoomIndex, Room>
    ) {
        placement.resize(to: rooms.count, 0)
        var best = tuning.silence.missLevel
        for index in window.heard.indices {
            if let level = window.levels[window.heard[index]].dBm, level > best { best = level }
        }
        for index in rooms.indices {
            let room = rooms[index]
            var sum: Float = 0
            if places[room].gateways.count > Self.mostSilent {
                // Otherwise a room would gain by the number of its gateways alone, which any client can invent, and a window would cost
                // as much as there are of them. So those that heard the tag count, and `mostSilent` of those that did not.
                var count = 0
                for heard in tag.levels where gateways[heard.gateway].room == room {
                    sum += FixedMath.exp(
                        tuning.observation.levelSlope * (placedLevel(of: heard.gateway, tag, gateways) - best))
                    count += 1
                }
                let silent = Float(min(places[room].gateways.count - count, Self.mostSilent))
                sum =
                    sum + silent
                    * FixedMath.exp(tuning.observation.levelSlope * (tuning.silence.missLevel - best))
            } else {
                // By index: an iterator would hold the array.
                for index in places[room].gateways.indices {
                    let level = placedLevel(of: places[room].gateways[index], tag, gateways)
                    sum += FixedMath.exp(tuning.observation.levelSlope * (level - best))
                }
            }
            // Only fingerprints can speak for or against a room without a gateway.
            placement[index] = sum > 0 ? FixedMath.log(sum) : 0
        }
    }

    /// - Returns: How much fingerprints count, 0 … 1.
    private mutating func weighFingerprints(
        _ tag: inout Tag, _ gateways: Table<GatewayIndex, GatewayState>, _ learned: Table<RoomIndex, RoomKnowledge>
    ) -> Float {
        // Copied once, and not for each room.
        let tuning = tuning
        let own = tuning.observation
        let base = weighNothingHeard()
        let novelty = -0.5 * own.noveltyDistance * max(Float(window.heard.count), 2)
        let unknown = FixedMath.exp(novelty) * own.noveltySeconds
        // Where people trained, the levels alone have hardly any weight.
        var (labelledSeconds, placedSeconds): (Float, Float) = (0, 0)
        var (surveyedSeconds, allSeconds): (Float, Float) = (0, 0)
        fingerprint.resize(to: rooms.count, 0)
        shares.resize(to: rooms.count, 0)
        for index in rooms.indices {
            let room = rooms[index]
            var sum = unknown
            var seconds = own.noveltySeconds
            let labelled = learned[room].labelled.seconds * own.labelWorth
            if labelled > 0 {
                sum +=
                    own.labelWorth * learned[room].labelled.likelihood(window, base: base, parts: parts, tuning)
                seconds += labelled
            }
            let decided = learned[room].own.seconds
            if decided > 0 {
                sum += decided * FixedMath.exp(learned[room].own.logLikelihood(window, tuning))
                seconds += decided
            }
            let told = learned[room].surveyed.seconds(
                labelled: learned[room].labelled.seconds, decided: decided, tuning.surveyed)
            if told > 0 {
                if surveyedSeconds == 0 { surveyed.take(window, knownIn: learned[room].surveyed, tuning) }
                sum += told * FixedMath.exp(surveyed.logLikelihood(in: learned[room].surveyed, window.levels))
                seconds += told
                surveyedSeconds += told
            }
            fingerprint[index] = FixedMath.log(sum / seconds)
            let doubted =
                own.trustSeconds / (own.trustSeconds + learned[room].labelled.seconds)
                * (own.ownTrustSeconds / (own.ownTrustSeconds + decided + told))
            shares[index] = 1 - doubted
            labelledSeconds += labelled
            placedSeconds += labelled * learned[room].placed
            allSeconds += labelled + decided + told
        }
        let share = labelledSeconds / max(1, allSeconds)
        labelledShare = share
        completeFingerprints(novelty: novelty)
        if let room = tag.room, let index = rooms.firstIndex(of: room), isGatewayMissing(to: tag, gateways) {
            fingerprint[index] += own.missingWorth
        }
        let placed = placedSeconds / max(1, labelledSeconds)
        let worth = own.placementWorth / max(1, window.elapsed)
        let labelledTrust = own.labelledTrust * (1 - worth * placed * placed)
        let surveyedShare = surveyedSeconds / max(1, allSeconds - labelledSeconds)
        let ownTrust = own.ownTrust + (tuning.surveyed.trust - own.ownTrust) * surveyedShare
        return ownTrust + (labelledTrust - ownTrust) * share
    }

    /// Fills `parts`. A gateway that did not hear the tag has no part.
    ///
    /// - Returns: Their sum.
    @inline(__always)
    private mutating func weighNothingHeard() -> Float {
        var base: Float = 0
        for index in weighed.indices { parts[weighed[index]] = 0 }
        weighed.removeAll(keepingCapacity: true)
        for index in window.heard.indices {
            let gateway = window.heard[index]
            guard let level = window.levels[gateway].dBm else { continue }
            weighed.append(gateway)
            let difference = (level - tuning.silence.missLevel) / tuning.prints.kernelWidth
            parts[gateway] = min(difference * difference, tuning.prints.distanceCap)
            base += parts[gateway]
        }
        return base
    }

    /// A room about which little was learned is compared with the others by its gateways' levels, not by its few fingerprints:
    /// otherwise the known rooms would attract every tag. Where people trained, they probably trained the room that they are
    /// in, so an untrained room is less likely if another one fits.
    private mutating func completeFingerprints(novelty: Float) {
        guard let best = fingerprint.max(), let placed = placement.max() else { return }
        let untrained = labelledShare * min(max(0, best - novelty), tuning.observation.untrainedPenalty)
        for index in rooms.indices {
            let share = shares[index]
            fingerprint[index] =
                share * fingerprint[index] + (1 - share) * (best + placement[index] - placed - untrained)
        }
    }

    /// The probability of a room after some windows like this one, from the levels alone.
    func placedProbability(of room: RoomIndex) -> Float {
        guard let index = rooms.firstIndex(of: room), let best = placement.max() else { return 0 }
        let windows = tuning.observation.placementWindows
        let sum = placement.reduce(0) { $0 + FixedMath.exp(windows * ($1 - best)) }
        return FixedMath.exp(windows * (placement[index] - best)) / sum
    }

    /// Whether one reading is enough to report the first room of a tag: a gateway of this room hears the tag clearly louder than all gateways
    /// elsewhere do. One of those has to hear it, too: a tag that a single gateway hears may be at the edge of the house, or a nearer gateway lost the
    /// packet. All that count have to listen: a gateway that is off, and a node that says nothing, may be the nearest.
    func isClear(_ room: RoomIndex, _ gateways: Table<GatewayIndex, GatewayState>) -> Bool {
        guard window.isLoudestNew else { return false }
        var (own, others) = (-Float.infinity, -Float.infinity)
        for gateway in window.heard {
            guard let measured = window.levels[gateway].dBm else { continue }
            let level = measured - gateways[gateway].offset
            if gateways[gateway].room == room { own = max(own, level) } else { others = max(others, level) }
        }
        guard others.isFinite, own >= others + tuning.report.clearLead else { return false }
        // This looks at all gateways, 2,000 at most, but only in the first windows of a tag without a room: the second reading reports it anyway.
        return gateways.indices.allSatisfy { other in
            window.levels[other].dBm != nil || gateways[other].room == room || !gateways[other].isKnown
        }
    }

    /// How far the evidence for a room exceeds that for the best other room, of the last window that was gathered.
    ///
    /// - Parameter gateway: Its level is left out; nil: none is.
    mutating func margin(
        of index: Int, without gateway: GatewayIndex? = nil, _ tag: inout Tag,
        _ gateways: Table<GatewayIndex, GatewayState>,
        _ places: Table<RoomIndex, Room>, _ learned: Table<RoomIndex, RoomKnowledge>
    ) -> Float {
        let level = gateway.map { window.levels[$0] }
        if let gateway { window.levels[gateway] = .none }
        weigh(&tag, gateways, places, learned)
        if let gateway, let level { window.levels[gateway] = level }
        let others = evidence.indices.filter { $0 != index }.map { evidence[$0] }
        return evidence[index] - (others.max() ?? 0)
    }
}

// MARK: What it means that a gateway does not report a tag

// A gateway that speaks and does not report the tag does not hear it. A gateway that does not speak says nothing: messages are late, or
// the gateway failed. Then its last level keeps the tag in its room until the tag moves. From then on that level fades, within
// `shortFailureSeconds`, to that in the middle of a room (`failedLevel`): others have to hear the tag better.
extension Observation {
    /// The level of a gateway for its own room, as it would be if all gateways measured alike.
    @inline(__always)
    private func placedLevel(
        of gateway: GatewayIndex, _ tag: borrowing Tag, _ gateways: Table<GatewayIndex, GatewayState>
    ) -> Float {
        let level = heldLevel(of: gateway, tag, gateways)
        return level > tuning.silence.missLevel ? level - gateways[gateway].offset : level
    }

    /// The level of a gateway for its own room. A failed gateway keeps the tag where it is.
    @inline(__always)
    private func heldLevel(
        of gateway: GatewayIndex, _ tag: borrowing Tag, _ gateways: Table<GatewayIndex, GatewayState>
    ) -> Float {
        let level = window.levels[gateway].dBm
        if let level, level > tuning.silence.missLevel { return level }
        guard let heard = tag.levels.first(where: { $0.gateway == gateway }) else { return tuning.silence.missLevel }
        return level == nil ? keptLevel(heard, tag, gateways) : missedLevel(heard, tag)
    }

    /// The level of a gateway that speaks and did not hear the tag. A single packet may be lost, but rarely several in a row.
    @inline(__always)
    private func missedLevel(_ heard: HeardLevel, _ tag: borrowing Tag) -> Float {
        // Approximate number of windows that it missed.
        var missed: Float = 1
        if let judged = tag.judged {
            let interval = max(1, window.elapsed)
            missed = max(1, judged.seconds(since: heard.at) / interval + 1)
        }
        let step = tuning.silence.missStep * Float(window.packets) * missed
        return max(tuning.silence.missLevel, heard.level - step)
    }

    /// The level that is kept for a gateway that says nothing.
    @inline(__always)
    private func keptLevel(
        _ heard: HeardLevel, _ tag: borrowing Tag, _ gateways: Table<GatewayIndex, GatewayState>
    ) -> Float {
        let now = window.now
        let isNode = !gateways[heard.gateway].sendsAlways
        guard isConfirmed(heard, tag, gateways) else { return heard.aged(at: now, isOfNode: isNode, tuning.silence) }
        let hasMoved = tag.movement.hasMoved(since: heard, tuning)
        guard gateways[heard.gateway].hasFailed(at: now) else {
            return hasMoved ? heard.aged(at: now, isOfNode: isNode, tuning.silence) : heard.level
        }
        let failed = tuning.silence.failedLevel
        let excess = max(0, heard.level - failed)
        guard hasMoved else { return failed + excess }
        // Most failures are short: a restart, or an access point. A tag that moves within its room stays there meanwhile.
        let share = max(0, 1 - now.seconds(since: heard.at) / tuning.silence.shortFailureSeconds)
        return failed + excess * share
    }

    /// Whether a gateway that had heard the tag in its room, where it still lies, has failed. The other gateways alone hardly distinguish
    /// that room from its neighbours.
    @inline(__always)
    private func isGatewayMissing(to tag: borrowing Tag, _ gateways: Table<GatewayIndex, GatewayState>) -> Bool {
        for heard in tag.levels
        where window.levels[heard.gateway].dBm == nil && isConfirmed(heard, tag, gateways)
            && gateways[heard.gateway].hasFailed(at: window.now) && !tag.movement.hasMoved(since: heard, tuning)
        { return true }
        return false
    }

    /// Whether a gateway of the tag's room heard the tag after the room was reported. Otherwise it may have caused a wrong report. A
    /// node may send nothing for long, so its silence does not show that it failed.
    @inline(__always)
    private func isConfirmed(
        _ heard: HeardLevel, _ tag: borrowing Tag, _ gateways: Table<GatewayIndex, GatewayState>
    ) -> Bool {
        guard let room = tag.room, gateways[heard.gateway].room == room, gateways[heard.gateway].sendsAlways,
            let since = tag.since
        else { return false }
        return heard.at >= since
    }
}
