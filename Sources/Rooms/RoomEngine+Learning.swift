import Base
import Beacon

/// A tag that is learned from: its last windows, which are learned once they are seen from both sides.
struct Learner: Sendable {
    struct Window: Sendable {
        var levels: [FingerprintLevel]
        var rooms: [Int16]
        /// Log likelihood by place in `rooms`.
        var evidence: [Float]
        /// Belief after the window, by place in `rooms`.
        var belief: [Float]
        var seconds: Float
        /// Since the window before.
        var elapsed: Float
    }

    var tag: Int
    var windows: [Window] = []
}

extension RoomEngine {
    /// Tags that are learned from at once; with more, those that came first.
    static let mostLearners = 64
    /// Between training runs of two rooms that were one walk, at most.
    private static let walk: Int64 = 30_000_000_000
    /// Windows between the last that is certain of one room and the first of the next, at most.
    private static let mostDoubtful = 6

    // MARK: From people

    mutating func learn(
        _ roomName: String, _ tagName: String, _ duration: Duration, at now: MonotonicInstant,
        _ effects: inout [Effect]
    ) {
        guard
            let tag = states.firstIndex(where: { $0.description.id == tagName || $0.description.name == tagName }),
            let room = roomPlace(roomName, &effects)
        else {
            counters.refused += 1
            return
        }
        if duration <= .zero {
            if states[tag].trainedRoom == room {
                states[tag].training?.until = now.nanoseconds
                states[tag].training?.isOver = true
            }
            return
        }
        learnRest(of: tag)
        if let last = states[tag].training, now.nanoseconds - last.until < Self.walk {
            countChange(from: last.room, to: room, weight: 1)
        }
        states[tag].training = TrainingRun(
            room: room, began: now.nanoseconds,
            until: now.nanoseconds &+ min(duration, .seconds(3600)).nanoseconds)
    }

    mutating func forgetRoom(named name: String) {
        // The name, or the id itself: an id that was cut is not the id of itself.
        guard let room = roomPlaces[name] ?? roomPlaces[RoomName.id(of: name)] else { return }
        rooms[room].labelled.removeAll()
        rooms[room].own.removeAll()
        forgetExits(of: Int16(room))
    }

    /// Takes a window of a training run.
    ///
    /// - Returns: false if the run is over.
    mutating func train(_ tag: Int, at now: MonotonicInstant, elapsed: Float) -> Bool {
        guard let training = states[tag].training, !training.isOver else { return false }
        guard now.nanoseconds <= training.until else {
            states[tag].training?.isOver = true
            return false
        }
        guard now.nanoseconds >= training.learnsFrom else { return true }
        let room = training.room
        order += 1
        rooms[Int(room)].labelled.add(currentLevels(), seconds: min(elapsed, 1), order: order, tuning)
        states[tag].training?.learned += min(elapsed, 1)
        states[tag].belief = [RoomBelief(room: room, support: 0, probability: 1)]
        return true
    }

    /// The levels of the window that is being weighed, as a fingerprint keeps them.
    private func currentLevels() -> [FingerprintLevel] {
        var levels: [FingerprintLevel] = []
        for gateway in gateways.indices {
            let level = scratch.vector.levels[gateway]
            if level.isNaN {
                if levels.count < Fingerprints.mostUnknown {
                    levels.append(
                        FingerprintLevel(gateway: UInt16(gateway), eighths: FingerprintLevel.unknown))
                }
            } else if level > tuning.missLevel {
                levels.append(FingerprintLevel(gateway: UInt16(gateway), eighths: Int16(level * 8)))
            }
        }
        return levels
    }

    // MARK: From its own decisions

    /// Keeps a window until it is seen from both sides.
    mutating func remember(_ tag: Int, at now: MonotonicInstant, elapsed: Float) {
        if states[tag].learner < 0 {
            guard learners.count < Self.mostLearners else { return }
            states[tag].learner = learners.count
            learners.append(Learner(tag: tag))
        }
        let learner = states[tag].learner
        learners[learner].windows.append(
            Learner.Window(
                levels: currentLevels(), rooms: scratch.rooms, evidence: scratch.evidence,
                belief: scratch.rooms.map { states[tag].probability(of: $0) }, seconds: elapsed, elapsed: elapsed))
        if learners[learner].windows.count >= 2 * tuning.learnLag { learnOldest(of: learner, tuning.learnLag) }
    }

    /// Nothing more will be heard that belongs to what was heard.
    mutating func learnRest(of tag: Int) {
        guard states[tag].learner >= 0 else { return }
        let learner = states[tag].learner
        learnOldest(of: learner, learners[learner].windows.count)
    }

    /// Learns the oldest windows of a tag, those of which the room is certain both from before and from after.
    private mutating func learnOldest(of learner: Int, _ count: Int) {
        let windows = learners[learner].windows
        guard count > 0, let last = windows.last else { return }
        var after = [Float](repeating: 1, count: last.rooms.count)
        var rooms = last.rooms
        var certain: [(window: Int, room: Int16)] = []
        for place in windows.indices.reversed() {
            let window = windows[place]
            // Another choice of rooms: what came after says nothing about those.
            if window.rooms != rooms {
                rooms = window.rooms
                after = [Float](repeating: 1, count: rooms.count)
            }
            var total: Float = 0
            var best = 0
            for room in rooms.indices {
                let product = window.belief[room] * after[room]
                total += product
                if product > window.belief[best] * after[best] { best = room }
            }
            if place < count, total > 0, window.belief[best] * after[best] / total >= tuning.learnProbability {
                certain.append((place, rooms[best]))
            }
            after = before(window, after)
        }
        // The latest come first.
        for (to, from) in zip(certain, certain.dropFirst()) where to.window - from.window <= Self.mostDoubtful {
            countChange(from: from.room, to: to.room, weight: tuning.ownExit)
        }
        for (place, room) in certain.reversed() where self.rooms[Int(room)].gateways.isEmpty == false {
            order += 1
            self.rooms[Int(room)].own.add(
                windows[place].levels, seconds: windows[place].seconds, order: order, tuning)
        }
        learners[learner].windows.removeFirst(count)
    }

    /// What the window and all after it say about the room before it, to a common factor.
    private func before(_ window: Learner.Window, _ after: [Float]) -> [Float] {
        let count = Float(window.rooms.count)
        let moved = 1 - FixedMath.exp(-window.elapsed / tuning.learnStaySeconds)
        let best = window.evidence.max() ?? 0
        var product: [Float] = []
        var sum: Float = 0
        for room in window.rooms.indices {
            let value = after[room] * FixedMath.exp(max(window.evidence[room] - best, -tuning.windowCap))
            product.append(value)
            sum += value
        }
        let spread = moved / max(1, count - 1)
        let result = product.map { $0 * (1 - moved - spread) + sum * spread }
        let most = result.max() ?? 0
        return most > 0 ? result.map { $0 / most } : result.map { _ in 1 }
    }
}

enum Fingerprints {
    /// Gateways that say nothing, in one fingerprint.
    static let mostUnknown = 16
}
