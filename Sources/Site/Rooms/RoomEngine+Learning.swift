import Base
import SiteProtocol

/// A tag that is learned from: its last windows, which are learned once they are seen from both sides.
///
/// What belongs to the windows lies behind each other in two arrays, so that a window allocates nothing.
struct Learner: Sendable {
    struct Window: Sendable, BitwiseCopyable {
        /// How many elements of `levels` and of `rooms` belong to it.
        var levels: Int
        var rooms: Int
        var seconds: Float
        /// Since the window before.
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

/// A window of which the room is certain from both sides.
struct CertainWindow: Sendable, BitwiseCopyable {
    var window: Int
    var room: RoomIndex
    /// Where its levels end in `Learner.levels`.
    var levelsEnd: Int
}

/// Memory that is used again for each window that is learned.
struct LearningScratch: Sendable {
    /// Of the window that is learned from a training run.
    var levels: [FingerprintLevel] = []
    /// What came after a window says about its rooms, to a common factor.
    var after: [Float] = []
    /// The latest come first.
    var certain: [CertainWindow] = []
}

extension RoomEngine {
    /// Tags that are learned from at once; with more, those that came first.
    static let mostLearners = 64
    /// Between training runs of two rooms that were one walk, at most.
    private static let walk: Duration = .seconds(30)
    /// Windows between the last that is certain of one room and the first of the next, at most.
    private static let mostDoubtful = 6

    // MARK: From people

    mutating func learn(
        _ roomName: String, _ tagName: String, _ duration: Duration, at now: MonotonicInstant,
        _ effects: inout [Effect]
    ) {
        guard
            let tag = states.firstIndex(where: { $0.description.id == tagName || $0.description.name == tagName }),
            let room = roomIndex(roomName, &effects)
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
        // The name, or the id itself: an id that was cut is not the id of itself.
        guard let room = roomIndices[name] ?? roomIndices[RoomName.id(of: name)] else { return }
        rooms[room].labelled.removeAll()
        rooms[room].own.removeAll()
        forgetExits(of: room)
    }

    /// The room that is being trained with the tag.
    func trainedRoom(of tag: TagIndex) -> RoomIndex? {
        guard !trainings.isEmpty, let training = trainings[tag], !training.isOver else { return nil }
        return training.room
    }

    /// Takes a window of a training run.
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
        Self.append(scratch.vector, to: &scratch.learning.levels, tuning)
        rooms[room].labelled.add(scratch.learning.levels, seconds: min(elapsed, 1), order: order, tuning)
        trainings[tag]?.learned += min(elapsed, 1)
        states[tag].belief = [RoomBelief(room: room, support: 0, probability: 1)]
        return true
    }

    /// Appends the levels of a window, as a fingerprint keeps them.
    ///
    /// It is static: a method would copy the engine, and with it the array that is appended to.
    private static func append(
        _ window: LevelVector, to levels: inout [FingerprintLevel], _ tuning: RoomTuning
    ) {
        var unknown = 0
        for gateway in window.levels.indices {
            guard let level = window.levels[gateway].dBm else {
                guard unknown < Fingerprints.mostUnknown else { continue }
                unknown += 1
                levels.append(FingerprintLevel(gateway: gateway, eighths: nil))
                continue
            }
            guard level > tuning.missLevel else { continue }
            levels.append(FingerprintLevel(gateway: gateway, eighths: Int16(level * 8)))
        }
    }

    // MARK: From its own decisions

    /// Keeps a window until it is seen from both sides.
    mutating func remember(_ tag: TagIndex, at now: MonotonicInstant, elapsed: Float) {
        guard let learner = states[tag].learner ?? addLearner(of: tag) else { return }
        let levels = learners[learner].levels.count
        Self.append(scratch.vector, to: &learners[learner].levels, tuning)
        for (room, evidence) in zip(scratch.rooms, scratch.evidence) {
            learners[learner].rooms.append(
                Learner.RoomWeight(room: room, evidence: evidence, belief: states[tag].probability(of: room)))
        }
        learners[learner].windows.append(
            Learner.Window(
                levels: learners[learner].levels.count - levels, rooms: scratch.rooms.count, seconds: elapsed,
                elapsed: elapsed))
        if learners[learner].windows.count >= 2 * tuning.learnLag { learnOldest(of: learner, tuning.learnLag) }
    }

    private mutating func addLearner(of tag: TagIndex) -> LearnerIndex? {
        guard learners.count < Self.mostLearners else { return nil }
        let learner = learners.append(Learner(tag: tag))
        states[tag].learner = learner
        return learner
    }

    /// Nothing more will be heard that belongs to what was heard.
    mutating func learnRest(of tag: TagIndex) {
        guard let learner = states[tag].learner else { return }
        learnOldest(of: learner, learners[learner].windows.count)
    }

    /// Learns the oldest windows of a tag, those of which the room is certain both from before and from after.
    private mutating func learnOldest(of index: LearnerIndex, _ count: Int) {
        guard count > 0 else { return }
        // Moved out, so that it is not copied when it changes.
        var learner = Learner(tag: learners[index].tag)
        swap(&learner, &learners[index])
        findCertainWindows(in: learner, count)
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

    /// Fills `scratch.learning.certain` with those of the first `count` windows of which the room is certain; the latest come first.
    private mutating func findCertainWindows(in learner: borrowing Learner, _ count: Int) {
        scratch.learning.certain.removeAll(keepingCapacity: true)
        scratch.learning.after.removeAll(keepingCapacity: true)
        var levelsEnd = learner.levels.count
        var end = learner.rooms.count
        /// Where the rooms of the window behind this one begin and end.
        var later = end..<end
        for place in learner.windows.indices.reversed() {
            let window = learner.windows[place]
            let rooms = end - window.rooms..<end
            // Another choice of rooms: what came after says nothing about those.
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

    /// Makes of `scratch.learning.after`, what all after the window say about the room, what they and the window say about the room
    /// before it, to a common factor.
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
    /// Gateways that say nothing, in one fingerprint.
    static let mostUnknown = 16
}
