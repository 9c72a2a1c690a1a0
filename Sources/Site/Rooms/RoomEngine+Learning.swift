import Base
import SiteProtocol

/// A tag that is learned from, with its last windows. A window is learned once those before and after it are known.
///
/// The windows' elements are contiguous in two arrays, so that a window allocates nothing.
struct Learner: Sendable {
    struct Window: Sendable, BitwiseCopyable {
        /// How many elements of `levels` and of `rooms` belong to it.
        var levels: Int
        var rooms: Int
        var seconds: Float
        /// Seconds since the previous window, at most 1.
        var elapsed: Float
    }

    struct RoomWeight: Sendable, BitwiseCopyable {
        var room: RoomIndex
        /// Log likelihood of the window.
        var evidence: Float
        /// After the window, 0 … 1.
        var belief: Float
    }

    var tag: TagIndex
    var windows: [Window] = []
    var levels: [FingerprintLevel] = []
    var rooms: [RoomWeight] = []

    init(tag: TagIndex) { self.tag = tag }

    mutating func removeFirst(_ count: Int) {
        levels.removeFirst(windows.prefix(count).reduce(0) { $0 + $1.levels })
        rooms.removeFirst(windows.prefix(count).reduce(0) { $0 + $1.rooms })
        windows.removeFirst(count)
    }
}

/// A window whose room is certain from the windows before and after it.
struct CertainWindow: Sendable, BitwiseCopyable {
    var window: Int
    var room: RoomIndex
    /// Where its levels end in `Learner.levels`.
    var levelsEnd: Int
}

/// Memory that is reused for each window that is learned.
struct LearningScratch: Sendable {
    /// Levels of the window that is learned from a training run.
    var levels: [FingerprintLevel] = []
    /// What the windows after a window say about its rooms, up to a common factor.
    var after: [Float] = []
    /// The latest come first.
    var certain: [CertainWindow] = []
}

extension RoomEngine {
    /// Largest number of tags that are learned from at once: those that came first.
    static let mostLearners = 64
    /// Longest pause between training runs of two rooms that belong to one walk.
    private static let walk: Duration = .seconds(30)
    /// Largest distance from the last window that is certain of one room to the first that is certain of the next, in windows.
    private static let mostDoubtful = 6

    /// A window counts as so many seconds at most: packets of slow beacons are independent.
    private static let longestWindow: Float = 10

    // MARK: From people

    mutating func learn(
        _ roomName: String, _ id: String, _ duration: Duration, at now: MonotonicInstant,
        _ effects: inout [Effect]
    ) {
        guard let tag = states.firstIndex(where: { $0.description.id == id }),
            let room = roomIndex(roomName, at: now, &effects)
        else {
            counters.refused += 1
            return
        }
        if duration <= .zero {
            if trainedRoom(of: tag) == room {
                trainings[tag]?.until = now
                trainings[tag]?.isOver = true
            }
            return
        }
        learnRest(of: tag)
        if let last = trainings[tag], last.until.duration(to: now) < Self.walk {
            countChange(from: last.room, to: room, weight: 1)
        }
        trainings[tag] = TrainingRun(
            began: now, until: now.advanced(by: min(duration, .seconds(3600))), room: room)
    }

    mutating func forgetRoom(named name: String) {
        // `name` may be an id. `RoomName.id(of:)` may change an id that was cut.
        guard let room = roomIndices[name] ?? roomIndices[RoomName.id(of: name)] else { return }
        discardWindows()
        rooms[room].labelled.removeAll()
        rooms[room].own.removeAll()
        roomsWithoutGateway = nil
        rooms[room].placed = 0
        rooms[room].unplacedSeconds = 0
        forgetExits(of: room)
        forgetRest { $0.room == room }
    }

    /// The room that is being trained with the tag.
    func trainedRoom(of tag: TagIndex) -> RoomIndex? {
        guard !trainings.isEmpty, let training = trainings[tag], !training.isOver else { return nil }
        return training.room
    }

    /// Adds a window to a training run.
    ///
    /// - Returns: false if the run is over.
    mutating func train(_ tag: TagIndex, at now: MonotonicInstant, elapsed: Float) -> Bool {
        guard let training = trainings[tag], !training.isOver else { return false }
        guard now <= training.until else {
            trainings[tag]?.isOver = true
            return false
        }
        guard now >= training.learnsFrom else { return true }
        let room = training.room
        order += 1
        scratch.learning.levels.removeAll(keepingCapacity: true)
        Self.append(scratch.vector, gateways, to: &scratch.learning.levels, missLevel: tuning.missLevel)
        if rooms[room].labelled.count == 0 { roomsWithoutGateway = nil }
        rooms[room].labelled.add(scratch.learning.levels, seconds: min(elapsed, 1), order: order, tuning)
        let share = min(1, min(elapsed, 1) / max(1, rooms[room].placedSeconds))
        rooms[room].placed += share * (placedProbability(of: room) - rooms[room].placed)
        trainings[tag]?.learned += min(elapsed, 1)
        states[tag].belief = [RoomBelief(room: room, support: 0, probability: 1)]
        return true
    }

    /// The probability of a room after some windows like the weighed one, from the levels alone.
    private func placedProbability(of room: RoomIndex) -> Float {
        guard let place = scratch.rooms.firstIndex(of: room), let best = scratch.placement.max() else { return 0 }
        let sum = scratch.placement.reduce(0) { $0 + FixedMath.exp(tuning.placementWindows * ($1 - best)) }
        return FixedMath.exp(tuning.placementWindows * (scratch.placement[place] - best)) / sum
    }

    /// Appends the levels of a window in the form of a fingerprint. A gateway that does not count has none.
    ///
    /// It is static: a method would copy the engine, and with it the array that is appended to.
    private static func append(
        _ window: LevelVector, _ gateways: Table<GatewayIndex, GatewayState>, to levels: inout [FingerprintLevel],
        missLevel: Float
    ) {
        var unknown = 0
        for gateway in window.levels.indices {
            guard let level = window.levels[gateway].dBm else {
                guard unknown < Fingerprints.mostUnknown, gateways[gateway].isKnown else { continue }
                unknown += 1
                levels.append(FingerprintLevel(gateway: gateway, eighths: nil))
                continue
            }
            guard level > missLevel else { continue }
            levels.append(FingerprintLevel(gateway: gateway, eighths: Int16(level * 8)))
        }
    }

    // MARK: From its own decisions

    /// Keeps a window until the windows after it are known.
    mutating func remember(_ tag: TagIndex, at now: MonotonicInstant, elapsed: Float) {
        guard let learner = states[tag].learner ?? addLearner(of: tag) else { return }
        let levels = learners[learner].levels.count
        Self.append(scratch.vector, gateways, to: &learners[learner].levels, missLevel: tuning.missLevel)
        for (room, evidence) in zip(scratch.rooms, scratch.evidence) {
            learners[learner].rooms.append(
                Learner.RoomWeight(room: room, evidence: evidence, belief: states[tag].probability(of: room)))
        }
        learners[learner].windows.append(
            Learner.Window(
                levels: learners[learner].levels.count - levels, rooms: scratch.rooms.count,
                seconds: min(elapsed, Self.longestWindow) * learningWeight(of: tag, at: now), elapsed: min(elapsed, 1)))
        if learners[learner].windows.count >= 2 * tuning.learnLag { learnOldest(of: learner, tuning.learnLag) }
    }

    /// How much a window of the tag's present stay counts: the first ones most.
    @inline(__always)
    private func learningWeight(of tag: TagIndex, at now: MonotonicInstant) -> Float {
        guard let since = states[tag].since else { return 1 }
        let stay = now.seconds(since: since) / tuning.ownStaySeconds
        return 1 / (1 + stay * stay)
    }

    private mutating func addLearner(of tag: TagIndex) -> LearnerIndex? {
        guard learners.count < Self.mostLearners else { return nil }
        let learner = learners.append(Learner(tag: tag))
        states[tag].learner = learner
        return learner
    }

    /// Learns the remaining windows: no later window belongs to them.
    mutating func learnRest(of tag: TagIndex) {
        guard let learner = states[tag].learner else { return }
        learnOldest(of: learner, learners[learner].windows.count)
    }

    /// Discards the windows that are not learned yet: they were judged by what is known to be wrong now.
    mutating func discardWindows() {
        for learner in learners.indices { learners[learner].removeFirst(learners[learner].windows.count) }
    }

    /// Learns those of a tag's oldest windows whose room is certain from the windows before and after.
    private mutating func learnOldest(of index: LearnerIndex, _ count: Int) {
        guard count > 0 else { return }
        // Moved out, so that a change does not copy it.
        var learner = Learner(tag: learners[index].tag)
        swap(&learner, &learners[index])
        findCertainWindows(in: learner, count)
        let tuning = tuning
        // The latest come first.
        for (to, from) in zip(scratch.learning.certain, scratch.learning.certain.dropFirst())
        where to.window - from.window <= Self.mostDoubtful {
            countChange(from: from.room, to: to.room, weight: tuning.ownExit)
        }
        for certain in scratch.learning.certain.reversed() where !rooms[certain.room].gateways.isEmpty {
            let window = learner.windows[certain.window]
            let levels = learner.levels[certain.levelsEnd - window.levels..<certain.levelsEnd]
            rooms[certain.room].own.add(levels, seconds: window.seconds, tuning)
        }
        learner.removeFirst(count)
        swap(&learner, &learners[index])
    }

    /// Fills `scratch.learning.certain` with those of the first `count` windows whose room is certain; the latest come first.
    private mutating func findCertainWindows(in learner: borrowing Learner, _ count: Int) {
        scratch.learning.certain.removeAll(keepingCapacity: true)
        scratch.learning.after.removeAll(keepingCapacity: true)
        var levelsEnd = learner.levels.count
        var end = learner.rooms.count
        /// The range of the rooms of the window after this one.
        var later = end..<end
        for place in learner.windows.indices.reversed() {
            let window = learner.windows[place]
            let rooms = end - window.rooms..<end
            // Other rooms were chosen, so the later windows say nothing about these.
            let isSameChoice =
                rooms.count == later.count
                && zip(rooms, later).allSatisfy { learner.rooms[$0].room == learner.rooms[$1].room }
            if !isSameChoice {
                scratch.learning.after.removeAll(keepingCapacity: true)
                for _ in rooms { scratch.learning.after.append(1) }
            }
            var total: Float = 0
            var best: (product: Float, room: RoomIndex)?
            for (room, after) in zip(rooms, scratch.learning.after) {
                let product = learner.rooms[room].belief * after
                total += product
                if product > best?.product ?? -1 { best = (product, learner.rooms[room].room) }
            }
            if place < count, let best, total > 0, best.product / total >= tuning.learnProbability {
                scratch.learning.certain.append(CertainWindow(window: place, room: best.room, levelsEnd: levelsEnd))
            }
            lookBack(over: window, learner.rooms[rooms])
            later = rooms
            end = rooms.lowerBound
            levelsEnd -= window.levels
        }
    }

    /// Changes `scratch.learning.after` from what the windows after `window` say about its rooms to what they and `window` say
    /// about the rooms before it, up to a common factor.
    private mutating func lookBack(over window: Learner.Window, _ rooms: ArraySlice<Learner.RoomWeight>) {
        let moved = 1 - FixedMath.exp(-window.elapsed / tuning.learnStaySeconds)
        var best = -Float.infinity
        for room in rooms { best = max(best, room.evidence) }
        var sum: Float = 0
        for (place, room) in zip(scratch.learning.after.indices, rooms) {
            scratch.learning.after[place] *= FixedMath.exp(max(room.evidence - best, -tuning.windowCap))
            sum += scratch.learning.after[place]
        }
        let spread = moved / max(1, Float(rooms.count) - 1)
        var most: Float = 0
        for place in scratch.learning.after.indices {
            scratch.learning.after[place] = scratch.learning.after[place] * (1 - moved - spread) + sum * spread
            most = max(most, scratch.learning.after[place])
        }
        for place in scratch.learning.after.indices {
            scratch.learning.after[place] = most > 0 ? scratch.learning.after[place] / most : 1
        }
    }
}

enum Fingerprints {
    /// Largest number of unknown gateways in one fingerprint.
    static let mostUnknown = 16
}
