import Base

/// Memory that windows share, so that none of them allocates.
struct Scratch: Sendable {
    /// Between two windows, the levels of `gathered` are those of the latest window's tag, and those of all other gateways say
    /// what their silence means: so a window touches only the gateways that heard its tag.
    var vector = LevelVector()
    var gathered: [GatewayIndex] = []
    /// Each gateway's part of the squared distance to a fingerprint in which nothing was heard; 0 for all but `weighed`.
    var parts = Table<GatewayIndex, Float>()
    var weighed: [GatewayIndex] = []
    /// Whether the window's tag seems to move.
    var seemsToMove = false
    /// Rooms that are weighed, and their results.
    var rooms: [RoomIndex] = []
    var placement: [Float] = []
    var fingerprint: [Float] = []
    var evidence: [Float] = []
    /// Their probabilities before the window, and the probabilities that the tag comes there if it changes its room.
    var before: [Float] = []
    var arriving: [Float] = []
    var belief: [RoomBelief] = []
    var learning = LearningScratch()
    /// How much of each room was learned, 0 … 1.
    var shares: [Float] = []
    /// How much of all that was learned came with labels, 0 … 1.
    var labelledShare: Float = 0

    mutating func resize(to count: Int) {
        while parts.count < count {
            parts.append(0)
            vector.levels.append(.none)
        }
    }
}

extension RoomEngine {
    /// Weighs what was heard of a tag since the last window.
    mutating func judge(_ tag: TagIndex, at now: MonotonicInstant, _ effects: inout [Effect]) {
        states[tag].isPending = false
        let elapsed =
            states[tag].judged.map { now.seconds(since: max($0, now.advanced(bySeconds: -Self.longestPause))) } ?? 1
        counters.windows += 1
        scratch.vector.elapsed = elapsed
        gatherLevels(of: tag, now: now)
        senseMovement(of: tag, at: now)
        chooseRooms(for: tag)
        weigh(tag)
        states[tag].judged = now
        if trainedRoom(of: tag) != nil, train(tag, at: now, elapsed: elapsed) {
            report(tag, at: now, &effects)
        } else if !scratch.rooms.isEmpty {
            believe(tag, at: now, elapsed: elapsed)
            report(tag, at: now, &effects)
            remember(tag, at: now, elapsed: elapsed)
        }
    }

    /// Longest pause between two windows that counts, seconds.
    static let longestPause: Float = 600

    // MARK: What was heard

    /// Fills `scratch.vector` with the tag's level at each gateway.
    mutating func gatherLevels(of tag: TagIndex, now: MonotonicInstant) {
        let freshSince = now.advanced(bySeconds: -tuning.freshSeconds)
        for place in scratch.gathered.indices {
            let gateway = scratch.gathered[place]
            scratch.vector.levels[gateway] = gateways[gateway].levelOfSilence(tuning)
        }
        scratch.gathered.removeAll(keepingCapacity: true)
        scratch.vector.packets = 1
        scratch.vector.heard.removeAll(keepingCapacity: true)
        scratch.vector.isLoudestNew = false
        scratch.vector.now = now
        var loudest = -Float.infinity
        var loudestHeld = -Float.infinity
        var isHeardByGateway = false
        for heard in states[tag].levels {
            let gateway = heard.gateway
            scratch.gathered.append(gateway)
            if gateways[gateway].isListening, heard.at >= freshSince {
                scratch.vector.levels[gateway] = OptionalLevel(max(heard.level, tuning.missLevel))
                if heard.level > tuning.missLevel {
                    scratch.vector.heard.append(gateway)
                    if !isHeardByGateway { isHeardByGateway = gateways[gateway].sendsAlways }
                }
                scratch.vector.packets = max(scratch.vector.packets, heard.packets)
                if heard.level > loudest {
                    loudest = heard.level
                    scratch.vector.isLoudestNew = states[tag].judged.map { heard.at > $0 } ?? true
                }
                continue
            }
            // The next message shows whether the gateway failed or only hears nothing.
            if !speaks(since: heard) { scratch.vector.levels[gateway] = .none }
            if scratch.vector.levels[gateway].dBm == nil, isOverdue(heard), gateways[gateway].room != states[tag].room {
                loudestHeld = max(loudestHeld, agedLevel(heard))
            }
        }
        scratch.vector.isHeardByGateway = isHeardByGateway
        // The loudest reading is not repeated by what other gateways heard since.
        if loudestHeld > loudest { scratch.vector.isLoudestNew = false }
    }

    /// The rooms that the tag may be in: those believed in, those whose gateways hear it, and trained rooms in which no gateway
    /// listens. With few rooms, all that are possible.
    mutating func chooseRooms(for tag: TagIndex) {
        scratch.rooms.removeAll(keepingCapacity: true)
        if rooms.count <= Tag.mostRooms {
            for room in rooms.indices where isPossible(room) { scratch.rooms.append(room) }
            return
        }
        for belief in states[tag].belief where isPossible(belief.room) { scratch.rooms.append(belief.room) }
        for heard in states[tag].levels {
            guard scratch.vector.levels[heard.gateway].dBm != nil, let room = gateways[heard.gateway].room else {
                continue
            }
            if !scratch.rooms.contains(room) { scratch.rooms.append(room) }
        }
        let trained = roomsWithoutGateway ?? findRoomsWithoutGateway()
        for room in trained where scratch.rooms.count < 2 * Tag.mostRooms && !scratch.rooms.contains(room) {
            scratch.rooms.append(room)
        }
    }

    /// Finds the rooms that are known from training alone, or are as long as their gateways fail. There is not always a place for
    /// all, so those that never have a gateway come first. A node that says nothing has not necessarily failed; a gateway that has sent
    /// nothing since the start has.
    private mutating func findRoomsWithoutGateway() -> [RoomIndex] {
        let trained = rooms.indices.filter { rooms[$0].labelled.count > 0 }
        let failed = trained.filter { room in
            !rooms[room].gateways.isEmpty
                && !rooms[room].gateways.contains { gateways[$0].isListening || gateways[$0].isNode }
        }
        let found = trained.filter { rooms[$0].gateways.isEmpty } + failed
        roomsWithoutGateway = found
        return found
    }

    /// Whether there can be any evidence for the room.
    private func isPossible(_ room: RoomIndex) -> Bool {
        !rooms[room].gateways.isEmpty || rooms[room].labelled.count > 0
    }

    // MARK: What it means

    /// Computes the log likelihood of each room.
    mutating func weigh(_ tag: TagIndex) {
        weighPlacement(tag)
        let trust = weighFingerprints(tag)
        scratch.evidence.removeAll(keepingCapacity: true)
        for place in scratch.rooms.indices {
            scratch.evidence.append((1 - trust) * scratch.placement[place] + trust * scratch.fingerprint[place])
        }
    }

    /// Without training: a tag is likely to be in the room whose gateway hears it best.
    private mutating func weighPlacement(_ tag: TagIndex) {
        scratch.placement.removeAll(keepingCapacity: true)
        var best = tuning.missLevel
        for place in scratch.vector.heard.indices {
            if let level = scratch.vector.levels[scratch.vector.heard[place]].dBm, level > best { best = level }
        }
        for room in scratch.rooms {
            var sum: Float = 0
            if rooms[room].gateways.count > Self.mostSilent {
                sum = sumOfHall(room, tag: tag, best: best)
            } else {
                // By position: an iterator would hold the array.
                for place in rooms[room].gateways.indices {
                    let level = heldLevel(of: rooms[room].gateways[place], tag: tag)
                    sum += FixedMath.exp(tuning.levelSlope * (level - best))
                }
            }
            // Only fingerprints can speak for or against a room without a gateway.
            scratch.placement.append(sum > 0 ? FixedMath.log(sum) : 0)
        }
    }

    /// Largest number of gateways of one room of which each counts, also one that did not hear the tag.
    static let mostSilent = 16

    /// The same sum for a room of more gateways: those that heard the tag, and `mostSilent` that did not. Otherwise a room would
    /// gain by the number of its gateways alone, which any client can invent, and a window would cost as much as there are.
    private func sumOfHall(_ room: RoomIndex, tag: TagIndex, best: Float) -> Float {
        var sum: Float = 0
        var count = 0
        for heard in states[tag].levels where gateways[heard.gateway].room == room {
            sum += FixedMath.exp(tuning.levelSlope * (heldLevel(of: heard.gateway, tag: tag) - best))
            count += 1
        }
        let silent = Float(min(rooms[room].gateways.count - count, Self.mostSilent))
        return sum + silent * FixedMath.exp(tuning.levelSlope * (tuning.missLevel - best))
    }

    /// - Returns: How much fingerprints count, 0 … 1.
    private mutating func weighFingerprints(_ tag: TagIndex) -> Float {
        scratch.fingerprint.removeAll(keepingCapacity: true)
        // Copied once, and not for each room.
        let tuning = tuning
        var base: Float = 0
        for place in scratch.weighed.indices { scratch.parts[scratch.weighed[place]] = 0 }
        scratch.weighed.removeAll(keepingCapacity: true)
        // A gateway that did not hear the tag has no part.
        for place in scratch.vector.heard.indices {
            let gateway = scratch.vector.heard[place]
            guard let level = scratch.vector.levels[gateway].dBm else { continue }
            scratch.weighed.append(gateway)
            let difference = (level - tuning.missLevel) / tuning.kernelWidth
            scratch.parts[gateway] = min(difference * difference, tuning.distanceCap)
            base += scratch.parts[gateway]
        }
        let novelty = -0.5 * tuning.noveltyDistance * max(Float(scratch.vector.heard.count), 2)
        let unknown = FixedMath.exp(novelty) * tuning.noveltySeconds
        // Where people trained, the levels alone have hardly any weight.
        var labelledSeconds: Float = 0
        var placedSeconds: Float = 0
        var allSeconds: Float = 0
        scratch.shares.removeAll(keepingCapacity: true)
        for room in scratch.rooms {
            var sum = unknown
            var seconds = tuning.noveltySeconds
            let labelled = rooms[room].labelled.seconds * tuning.labelWorth
            if labelled > 0 {
                sum +=
                    tuning.labelWorth
                    * rooms[room].labelled.likelihood(scratch.vector, base: base, parts: scratch.parts, tuning)
                seconds += labelled
            }
            let own = rooms[room].own.seconds
            if own > 0 {
                sum += own * FixedMath.exp(rooms[room].own.logLikelihood(scratch.vector, tuning))
                seconds += own
            }
            scratch.fingerprint.append(FixedMath.log(sum / seconds))
            let doubted =
                tuning.trustSeconds / (tuning.trustSeconds + rooms[room].labelled.seconds)
                * (tuning.ownTrustSeconds / (tuning.ownTrustSeconds + own))
            scratch.shares.append(1 - doubted)
            labelledSeconds += labelled
            placedSeconds += labelled * rooms[room].placed
            allSeconds += labelled + own
        }
        let share = labelledSeconds / max(1, allSeconds)
        scratch.labelledShare = share
        completeFingerprints(novelty: novelty)
        if let place = states[tag].room.flatMap({ scratch.rooms.firstIndex(of: $0) }), isGatewayMissing(to: tag) {
            scratch.fingerprint[place] += tuning.missingWorth
        }
        let placed = placedSeconds / max(1, labelledSeconds)
        let worth = tuning.placementWorth / max(1, scratch.vector.elapsed)
        let labelledTrust = tuning.labelledTrust * (1 - worth * placed * placed)
        return tuning.ownTrust + (labelledTrust - tuning.ownTrust) * share
    }

    /// A room of which little was learned is compared with the others by its gateways' levels, not by its few fingerprints:
    /// otherwise the known rooms would attract every tag. Where people trained, they probably trained the room that they are
    /// in, so an untrained room is less likely if another one fits.
    private mutating func completeFingerprints(novelty: Float) {
        guard let best = scratch.fingerprint.max(), let placed = scratch.placement.max() else { return }
        let untrained = scratch.labelledShare * min(max(0, best - novelty), tuning.untrainedPenalty)
        for place in scratch.rooms.indices {
            let share = scratch.shares[place]
            scratch.fingerprint[place] =
                share * scratch.fingerprint[place]
                + (1 - share) * (best + scratch.placement[place] - placed - untrained)
        }
    }

    // MARK: What is believed

    /// Updates the belief with the evidence. Tags change their rooms now and then.
    private mutating func believe(_ tag: TagIndex, at now: MonotonicInstant, elapsed: Float) {
        let count = Float(scratch.rooms.count)
        let rest = restReports(of: tag, at: now)
        let moved = 1 - FixedMath.exp(-elapsed / meanStay(of: tag, atRestFor: rest, at: now))
        let packets = Float(scratch.vector.packets)
        let weight =
            worth(atRestFor: rest) * countedSeconds(of: tag, at: now, elapsed: elapsed) * packets
            / (packets + tuning.packetDoubt)
        let best = scratch.evidence.max() ?? 0
        let reported = states[tag].room.flatMap { scratch.rooms.firstIndex(of: $0) }.map { scratch.evidence[$0] }
        scratch.belief.removeAll(keepingCapacity: true)
        var sum: Float = 0
        scratch.before.removeAll(keepingCapacity: true)
        for room in scratch.rooms { scratch.before.append(states[tag].probability(of: room)) }
        // Nothing was believed yet, or the gateways of all rooms that were believed in are gone.
        if !scratch.before.contains(where: { $0 > 0 }) {
            for place in scratch.before.indices { scratch.before[place] = 1 / count }
        }
        weighArrivals(of: tag)
        for place in scratch.rooms.indices {
            let room = scratch.rooms[place]
            let prior = scratch.before[place] * (1 - moved) + moved * scratch.arriving[place]
            let evidence = max(scratch.evidence[place] - best, -tuning.windowCap) * weight
            let probability = prior * FixedMath.exp(evidence)
            sum += probability
            let speaks = reported.map { scratch.evidence[place] > $0 } ?? true
            let support = speaks ? min(states[tag].support(of: room), 100) + (scratch.vector.isLoudestNew ? 1 : 0) : 0
            scratch.belief.append(RoomBelief(room: room, support: support, probability: probability))
        }
        guard sum > 0 else { return }
        for place in scratch.belief.indices { scratch.belief[place].probability /= sum }
        if scratch.belief.count > Tag.mostRooms {
            scratch.belief.sort { ($0.probability, $1.room) > ($1.probability, $0.room) }
            scratch.belief.removeLast(scratch.belief.count - Tag.mostRooms)
        }
        // Reuses the memory of the previous belief, which is no larger than needed.
        states[tag].belief.removeAll(keepingCapacity: true)
        states[tag].belief.reserveCapacity(scratch.belief.count)
        for belief in scratch.belief { states[tag].belief.append(belief) }
    }

    /// Seconds as which the window counts: at most one for a quick beacon, and more for a packet of a slow one, which repeats less of
    /// the packet before. The part above one second shrinks with the time in the room and with what was learned with labels. Messages of
    /// nodes have no such part: a node smooths the level over several packets.
    @inline(__always)
    private func countedSeconds(of tag: TagIndex, at now: MonotonicInstant, elapsed: Float) -> Float {
        guard elapsed > 1, scratch.vector.isHeardByGateway else { return min(1, elapsed) }
        let further = min(elapsed, tuning.mostWindowSeconds) - 1
        let stay = secondsInRoom(of: tag, at: now) ?? 0
        return 1 + further * (1 - scratch.labelledShare) * tuning.freshStaySeconds / (tuning.freshStaySeconds + stay)
    }

    /// Mean seconds until a tag changes its room. A tag that has been in one room for long is likely to stay: stays of people
    /// and things have no typical length. A tag that lies still is the more likely to, and one that just moved is not.
    @inline(__always)
    private func meanStay(of tag: TagIndex, atRestFor reports: Float, at now: MonotonicInstant) -> Float {
        guard reports > 0, let stay = secondsInRoom(of: tag, at: now) else {
            return tuning.staySeconds
        }
        return min(
            tuning.longestStaySeconds,
            max(tuning.staySeconds, stay * tuning.stayShare, restSeconds(of: tag, at: now) * tuning.restStayShare))
    }

    /// Seconds since the tag's room was reported; nil without a room.
    @inline(__always)
    private func secondsInRoom(of tag: TagIndex, at now: MonotonicInstant) -> Float? {
        guard states[tag].room != nil, let since = states[tag].since else { return nil }
        return max(0, now.seconds(since: since))
    }

    /// Reports the room, once it is probable enough for long enough.
    private mutating func report(_ tag: TagIndex, at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard states[tag].isHome, var best = states[tag].belief.first else { return }
        for belief in states[tag].belief where belief.probability > best.probability { best = belief }
        let needed =
            tuning.reportProbability
            + (tuning.labelledReportProbability - tuning.reportProbability) * scratch.labelledShare
        guard best.room != states[tag].room, best.probability >= needed,
            best.support >= tuning.readingsToReport || states[tag].room == nil && isClear(best.room, for: tag)
        else { return }
        let from = states[tag].room
        states[tag].room = best.room
        states[tag].since = now
        decide(tag, from: from, confidence: best.probability, &effects)
    }

    /// Whether one reading is enough to report the first room of a tag: a gateway of this room hears the tag clearly louder than all gateways
    /// elsewhere do. One of those has to hear it, too: a tag that a single gateway hears may be at the edge of the house, or a nearer gateway lost the
    /// packet. All that count have to listen: a gateway that is off, and a node that says nothing, may be the nearest.
    private func isClear(_ room: RoomIndex, for tag: TagIndex) -> Bool {
        guard scratch.vector.isLoudestNew, trainedRoom(of: tag) == nil else { return false }
        var (own, others) = (-Float.infinity, -Float.infinity)
        for gateway in scratch.vector.heard {
            guard let level = scratch.vector.levels[gateway].dBm else { continue }
            if gateways[gateway].room == room { own = max(own, level) } else { others = max(others, level) }
        }
        guard others.isFinite, own >= others + tuning.clearLead else { return false }
        // This looks at all gateways, 2,000 at most, but only in the first windows of a tag without a room: the second reading reports it anyway.
        return gateways.indices.allSatisfy { other in
            scratch.vector.levels[other].dBm != nil || gateways[other].room == room || !gateways[other].isKnown
        }
    }
}
