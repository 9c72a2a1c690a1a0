import Base

/// Memory that windows share, so that none of them allocates.
struct Scratch: Sendable {
    var vector = LevelVector()
    /// Each gateway's part of the squared distance to a fingerprint in which nothing was heard.
    var parts: [Float] = []
    /// Rooms that are weighed, and what they come to.
    var rooms: [Int16] = []
    var placement: [Float] = []
    var fingerprint: [Float] = []
    var evidence: [Float] = []
    /// Their probabilities before the window, and of coming there if the tag changes its room.
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
            vector.levels.append(.nan)
        }
    }
}

extension RoomEngine {
    /// Weighs what was heard of a tag since the last window.
    mutating func judge(_ tag: Int, at now: MonotonicInstant, _ effects: inout [Effect]) {
        states[tag].isPending = false
        let elapsed =
            states[tag].judged == .min
            ? 1 : Float(min(600_000_000_000, now.nanoseconds - states[tag].judged)) * 1e-9
        counters.windows += 1
        scratch.vector.elapsed = elapsed
        gatherLevels(of: tag, now: now.nanoseconds)
        chooseRooms(for: tag)
        weigh(tag)
        states[tag].judged = now.nanoseconds
        if trainedRoom(of: tag) >= 0, train(tag, at: now, elapsed: elapsed) {
            report(tag, at: now, &effects)
        } else if !scratch.rooms.isEmpty {
            believe(tag, at: now, elapsed: elapsed)
            report(tag, at: now, &effects)
            remember(tag, at: now, elapsed: min(elapsed, 1))
        }
    }

    // MARK: What was heard

    /// Spreads the tag's levels out over the gateways.
    mutating func gatherLevels(of tag: Int, now: Int64) {
        let fresh = Int64(tuning.freshSeconds * 1e9)
        scratch.vector.packets = 1
        scratch.vector.heard.removeAll(keepingCapacity: true)
        scratch.vector.isLoudestNew = false
        var loudest = -Float.infinity
        for gateway in gateways.indices {
            let isHeeded = gateways[gateway].isListening && !gateways[gateway].isQuiet
            scratch.vector.levels[gateway] = isHeeded ? tuning.missLevel : .nan
        }
        for heard in states[tag].levels {
            let gateway = Int(heard.gateway)
            guard gateways[gateway].isListening else { continue }
            if now - heard.at <= fresh {
                scratch.vector.levels[gateway] = max(heard.level, tuning.missLevel)
                if heard.level > tuning.missLevel { scratch.vector.heard.append(heard.gateway) }
                scratch.vector.packets = max(scratch.vector.packets, heard.packets)
                if heard.level > loudest {
                    loudest = heard.level
                    scratch.vector.isLoudestNew = heard.at > states[tag].judged
                }
            } else if gateways[gateway].lastMessage <= heard.at + 200_000_000 {
                // It has sent nothing since. Whether it fails or only hears nothing, the next message tells.
                scratch.vector.levels[gateway] = .nan
            }
        }
    }

    /// The rooms that the tag may be in: those believed in, those whose gateways hear it, those whose fingerprints
    /// have such gateways. With few rooms, all.
    mutating func chooseRooms(for tag: Int) {
        scratch.rooms.removeAll(keepingCapacity: true)
        if rooms.count <= Tag.mostRooms {
            for room in rooms.indices where isPossible(room) { scratch.rooms.append(Int16(room)) }
            return
        }
        for belief in states[tag].belief where isPossible(Int(belief.room)) { scratch.rooms.append(belief.room) }
        for heard in states[tag].levels {
            let gateway = Int(heard.gateway)
            guard !scratch.vector.levels[gateway].isNaN else { continue }
            let room = gateways[gateway].room
            if room >= 0, !scratch.rooms.contains(room) { scratch.rooms.append(room) }
        }
        for room in rooms.indices where rooms[room].gateways.isEmpty && rooms[room].labelled.count > 0 {
            if scratch.rooms.count < 2 * Tag.mostRooms, !scratch.rooms.contains(Int16(room)) {
                scratch.rooms.append(Int16(room))
            }
        }
    }

    /// Whether anything at all can speak for the room.
    private func isPossible(_ room: Int) -> Bool {
        !rooms[room].gateways.isEmpty || rooms[room].labelled.count > 0
    }

    // MARK: What it means

    /// Makes the log likelihood of each room.
    mutating func weigh(_ tag: Int) {
        weighPlacement(tag)
        let trust = weighFingerprints(tag)
        scratch.evidence.removeAll(keepingCapacity: true)
        for place in scratch.rooms.indices {
            scratch.evidence.append((1 - trust) * scratch.placement[place] + trust * scratch.fingerprint[place])
        }
    }

    /// Without training: a tag is likely to be in the room whose gateway hears it best.
    private mutating func weighPlacement(_ tag: Int) {
        scratch.placement.removeAll(keepingCapacity: true)
        var best = tuning.missLevel
        for gateway in gateways.indices where scratch.vector.levels[gateway] > best {
            best = scratch.vector.levels[gateway]
        }
        for room in scratch.rooms {
            var sum: Float = 0
            for gateway in rooms[Int(room)].gateways {
                let level = heldLevel(of: gateway, tag: tag, room: room)
                sum += FixedMath.exp(tuning.levelSlope * (level - best))
            }
            // Nothing but its fingerprints can speak for a room without a gateway, or against it.
            scratch.placement.append(sum > 0 ? FixedMath.log(sum) : 0)
        }
    }

    /// The level of a gateway for its own room. One that says nothing keeps the tag where it is.
    private func heldLevel(of gateway: Int, tag: Int, room: Int16) -> Float {
        let level = scratch.vector.levels[gateway]
        guard level.isNaN || level <= tuning.missLevel else { return level }
        if let heard = states[tag].levels.first(where: { Int($0.gateway) == gateway }) {
            guard level.isNaN else {
                // A packet may just be lost, and rarely several in a row.
                let step = tuning.missStep * Float(scratch.vector.packets) * missedWindows(since: heard.at, tag)
                return max(tuning.missLevel, heard.level - step)
            }
            // A node that sends nothing has not failed: it sends when it likes.
            let hasFailed = room == states[tag].room && gateways[gateway].sendsAlways
            return hasFailed ? max(heard.level, tuning.failedLevel) : heard.level
        }
        return tuning.missLevel
    }

    /// About how many windows a gateway missed that heard the tag last at `instant`.
    private func missedWindows(since instant: Int64, _ tag: Int) -> Float {
        let judged = states[tag].judged
        guard judged != .min else { return 1 }
        let window = max(1, scratch.vector.elapsed)
        return max(1, Float(judged - instant) * 1e-9 / window + 1)
    }

    /// - Returns: How much fingerprints count, 0 … 1.
    private mutating func weighFingerprints(_ tag: Int) -> Float {
        scratch.fingerprint.removeAll(keepingCapacity: true)
        var base: Float = 0
        for gateway in gateways.indices {
            let level = scratch.vector.levels[gateway]
            guard !level.isNaN else {
                scratch.parts[gateway] = 0
                continue
            }
            let difference = (level - tuning.missLevel) / tuning.kernelWidth
            scratch.parts[gateway] = min(difference * difference, tuning.distanceCap)
            base += scratch.parts[gateway]
        }
        let novelty = -0.5 * tuning.noveltyDistance * max(Float(scratch.vector.heard.count), 2)
        let unknown = FixedMath.exp(novelty) * tuning.noveltySeconds
        // Nearly all trust in the levels alone goes where people said which room it is.
        var labelledSeconds: Float = 0
        var allSeconds: Float = 0
        scratch.shares.removeAll(keepingCapacity: true)
        for room in scratch.rooms {
            let place = Int(room)
            var sum = unknown
            var seconds = tuning.noveltySeconds
            let labelled = rooms[place].labelled.seconds * tuning.labelWorth
            if labelled > 0 {
                sum +=
                    tuning.labelWorth
                    * rooms[place].labelled.likelihood(scratch.vector, base: base, parts: scratch.parts, tuning)
                seconds += labelled
            }
            let own = rooms[place].own.seconds
            if own > 0 {
                sum += own * FixedMath.exp(rooms[place].own.logLikelihood(scratch.vector, tuning))
                seconds += own
            }
            scratch.fingerprint.append(FixedMath.log(sum / seconds))
            let doubted =
                tuning.trustSeconds / (tuning.trustSeconds + rooms[place].labelled.seconds)
                * (tuning.ownTrustSeconds / (tuning.ownTrustSeconds + own))
            scratch.shares.append(1 - doubted)
            labelledSeconds += labelled
            allSeconds += labelled + own
        }
        let share = labelledSeconds / max(1, allSeconds)
        scratch.labelledShare = share
        completeFingerprints(novelty: novelty)
        if let place = scratch.rooms.firstIndex(of: states[tag].room), isGatewayMissing(to: tag) {
            scratch.fingerprint[place] += tuning.missingWorth
        }
        return tuning.ownTrust + (tuning.labelledTrust - tuning.ownTrust) * share
    }

    /// Whether a gateway of the tag's room fails that heard the tag there until then. Of what does not always send, nobody
    /// knows.
    private func isGatewayMissing(to tag: Int) -> Bool {
        states[tag].levels.contains { heard in
            let gateway = Int(heard.gateway)
            return gateways[gateway].room == states[tag].room && gateways[gateway].sendsAlways
                && scratch.vector.levels[gateway].isNaN && heard.at >= states[tag].since
        }
    }

    /// A room that was hardly learned stands to the others as its gateways hear, not as its few fingerprints say:
    /// else the rooms that are known would draw everything to them. Where people trained, they will have trained the
    /// room that they are in: one that they did not train is less likely, if another fits.
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

    /// Takes the evidence into the belief: rooms change now and then, and what was heard tells.
    private mutating func believe(_ tag: Int, at now: MonotonicInstant, elapsed: Float) {
        let count = Float(scratch.rooms.count)
        let moved = 1 - FixedMath.exp(-elapsed / meanStay(of: tag, at: now))
        let packets = Float(scratch.vector.packets)
        let weight = min(1, elapsed) * packets / (packets + tuning.packetDoubt)
        let best = scratch.evidence.max() ?? 0
        let reported = scratch.rooms.firstIndex(of: states[tag].room).map { scratch.evidence[$0] }
        scratch.belief.removeAll(keepingCapacity: true)
        var sum: Float = 0
        scratch.before.removeAll(keepingCapacity: true)
        for room in scratch.rooms {
            scratch.before.append(states[tag].belief.isEmpty ? 1 / count : states[tag].probability(of: room))
        }
        weighArrivals(of: tag)
        for place in scratch.rooms.indices {
            let room = scratch.rooms[place]
            let prior = scratch.before[place] * (1 - moved) + moved * scratch.arriving[place]
            let evidence = max(scratch.evidence[place] - best, -tuning.windowCap) * weight
            let probability = prior * FixedMath.exp(evidence)
            sum += probability
            let speaks = reported == nil || scratch.evidence[place] > reported ?? 0
            let support = speaks ? min(states[tag].support(of: room), 100) + (scratch.vector.isLoudestNew ? 1 : 0) : 0
            scratch.belief.append(RoomBelief(room: room, support: support, probability: probability))
        }
        guard sum > 0 else { return }
        for place in scratch.belief.indices { scratch.belief[place].probability /= sum }
        if scratch.belief.count > Tag.mostRooms {
            scratch.belief.sort { ($0.probability, $1.room) > ($1.probability, $0.room) }
            scratch.belief.removeLast(scratch.belief.count - Tag.mostRooms)
        }
        // The memory of before is used again, and there is no more of it than needed.
        states[tag].belief.removeAll(keepingCapacity: true)
        states[tag].belief.reserveCapacity(scratch.belief.count)
        for belief in scratch.belief { states[tag].belief.append(belief) }
    }

    /// Seconds until a tag changes its room. What has been in one room for long is likely to stay: stays of people and
    /// things have no typical length.
    private func meanStay(of tag: Int, at now: MonotonicInstant) -> Float {
        guard states[tag].room >= 0 else { return tuning.staySeconds }
        let since = Float(max(0, now.nanoseconds - states[tag].since)) * 1e-9
        return min(tuning.longestStaySeconds, max(tuning.staySeconds, since * tuning.stayShare))
    }

    /// Reports the room, once it is probable enough for long enough.
    private mutating func report(_ tag: Int, at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard states[tag].isHome, var best = states[tag].belief.first else { return }
        for belief in states[tag].belief where belief.probability > best.probability { best = belief }
        let needed =
            tuning.reportProbability
            + (tuning.labelledReportProbability - tuning.reportProbability) * scratch.labelledShare
        guard best.room != states[tag].room, best.probability >= needed,
            best.support >= tuning.readingsToReport
        else { return }
        let from = states[tag].room
        states[tag].room = best.room
        states[tag].since = now.nanoseconds
        decide(tag, from: from, confidence: best.probability, &effects)
    }
}
