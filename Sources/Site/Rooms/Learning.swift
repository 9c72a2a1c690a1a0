import Base
import SiteProtocol

/// What is learned of each room: from people, who say in which room a tag is, and from the engine's own decisions.
///
/// A window whose room is unknown is kept until the windows after it are known: then its room may be certain (`Smoother`).
struct Learning: Sendable {
    private(set) var rooms = Table<RoomIndex, RoomKnowledge>()
    private var learners = Table<LearnerIndex, Learner>()
    /// The learner of each tag; nil if nothing is learned from it.
    private var learnersOfTags = Table<TagIndex, LearnerIndex?>()
    /// The latest training run with each tag. Few tags have one.
    private var trainings: [TagIndex: TrainingRun] = [:]
    /// Counts what was learned.
    private var order: UInt64 = 0
    private var smoother = Smoother()
    /// Levels of the window that is learned from a training run.
    private var levels: [FingerprintLevel] = []
    private let tuning: RoomTuning

    /// Largest number of tags that are learned from at once: those that came first.
    private static let mostLearners = 64
    /// Longest training run, seconds.
    private static let longestTraining: Duration = .seconds(3600)

    init(_ tuning: RoomTuning) { self.tuning = tuning }

    // MARK: Rooms, gateways and tags

    mutating func addRoom() { rooms.append(RoomKnowledge()) }

    /// Removes everything that refers to a room, whose index another room gets.
    mutating func vacate(_ room: RoomIndex) {
        trainings = trainings.filter { $0.value.room != room }
        removeKnowledge(of: room)
    }

    private mutating func removeKnowledge(of room: RoomIndex) {
        forgetExits(of: room)
        for other in rooms.indices { rooms[other].aside?.exits.forget(room) }
        rooms[room].removeAll()
    }

    /// Forgets what was learned of a room.
    mutating func forget(_ room: RoomIndex) {
        discardWindows()
        removeKnowledge(of: room)
    }

    /// What was learned before says nothing about a gateway that counts from now on.
    mutating func welcome(_ gateway: GatewayIndex) {
        for room in rooms.indices {
            rooms[room].labelled.welcome(gateway: gateway)
            rooms[room].own.welcome(gateway: gateway)
        }
    }

    mutating func remove(_ gateway: GatewayIndex) {
        for room in rooms.indices {
            rooms[room].labelled.remove(gateway: gateway)
            rooms[room].own.remove(gateway: gateway)
        }
    }

    /// A gateway names another room: it was carried there, or its room was renamed. What it measured in each room is set aside, until that is
    /// known. Decisions that were based on the gateway at its old place may be wrong altogether.
    ///
    /// - Parameter isFirst: Whether it is the first move since it was known where the gateway stands.
    mutating func move(_ gateway: GatewayIndex, from former: RoomIndex, to room: RoomIndex, isFirst: Bool) {
        for room in rooms.indices { rooms[room].labelled.setAside(gateway: gateway) }
        if isFirst, rooms[former].aside == nil, rooms[former].labelled.count > 0 {
            rooms[former].aside = RoomKnowledge.Aside(placed: rooms[former].placed, exits: rooms[former].exits)
        }
        forgetDecisions(with: gateway, in: [former, room])
    }

    /// Forgets what the engine learned by itself with a gateway, and all that it learned by itself of some rooms.
    mutating func forgetDecisions(with gateway: GatewayIndex, in concerned: [RoomIndex]) {
        discardWindows()
        for room in rooms.indices { rooms[room].own.forget(gateway: gateway) }
        for room in concerned {
            rooms[room].forgetDecisions()
            forgetExits(of: room)
        }
    }

    /// Whether anything that a gateway measured is set aside.
    func hasAside(of gateway: GatewayIndex) -> Bool {
        rooms.elements.contains { $0.labelled.aside.contains { $0.gateway == gateway } }
    }

    /// A gateway stands where it stood: what was set aside of it counts again.
    ///
    /// - Parameter former: The room that it had left, by name.
    mutating func bringBack(_ gateway: GatewayIndex, of former: RoomIndex) {
        for room in rooms.indices { rooms[room].labelled.bringBack(gateway: gateway) }
        guard let aside = rooms[former].aside else { return }
        rooms[former].aside = nil
        if rooms[former].placed == 0 { (rooms[former].placed, rooms[former].unplacedSeconds) = (aside.placed, 0) }
        for exit in aside.exits.exits { countChange(from: former, to: exit.room, weight: exit.count) }
    }

    /// A gateway stands elsewhere: what was set aside of it is wrong.
    ///
    /// - Parameter former: The room that it has left; nil if another gateway may still stand in it.
    mutating func dropAside(_ gateway: GatewayIndex, of former: RoomIndex?) {
        for room in rooms.indices { rooms[room].labelled.dropAside(gateway: gateway) }
        if let former { rooms[former].aside = nil }
    }

    /// A room has the name of another one, about which only the engine's own decisions were learned.
    mutating func replace(_ other: RoomIndex) {
        discardWindows()
        vacate(other)
    }

    /// The tags get new indices. Windows that are not learned yet are discarded.
    ///
    /// - Parameter indices: The new index of each tag that still exists.
    mutating func move(to indices: [TagIndex: TagIndex], tags count: Int) {
        var moved: [TagIndex: TrainingRun] = [:]
        for (tag, training) in trainings { if let new = indices[tag] { moved[new] = training } }
        trainings = moved
        learners = Table()
        learnersOfTags = Table([LearnerIndex?](repeating: nil, count: count))
    }

    // MARK: From the gateways' beacons

    /// Sets what the levels between gateways say of each room, in the order of the rooms; nothing of those that are missing.
    mutating func setSurveyed(_ surveyed: [SurveyedRoom]) {
        for room in rooms.indices {
            rooms[room].surveyed = room.number < surveyed.count ? surveyed[room.number] : SurveyedRoom()
        }
    }

    // MARK: Moves between rooms

    /// Counts a tag's move from one room to another, in both directions: doors are passed both ways.
    private mutating func countChange(from: RoomIndex, to: RoomIndex, weight: Float) {
        guard from != to else { return }
        rooms[from].exits.count(to, weight)
        rooms[to].exits.count(from, weight)
    }

    /// Forgets all moves of tags from and to the room.
    private mutating func forgetExits(of room: RoomIndex) {
        for other in rooms.indices { rooms[other].exits.forget(room) }
        rooms[room].exits.removeAll()
    }

    // MARK: From people

    /// The latest training run with a tag; nil if there was none.
    func training(of tag: TagIndex) -> TrainingRun? { trainings[tag] }

    /// When the latest training run with each tag ends, or ended.
    var trainingEnds: [MonotonicInstant] { trainings.values.map(\.until) }

    /// The rooms that are being trained.
    func trainedRooms(at now: MonotonicInstant) -> [RoomIndex] {
        trainings.values.filter { !$0.isOver && $0.until > now }.map(\.room)
    }

    /// The room that is being trained with the tag.
    func trainedRoom(of tag: TagIndex) -> RoomIndex? {
        guard !trainings.isEmpty, let training = trainings[tag], !training.isOver else { return nil }
        return training.room
    }

    /// The tag is in the room, for this long from now on.
    ///
    /// - Parameter places: The gateways in each room.
    mutating func beginTraining(
        _ tag: TagIndex, in room: RoomIndex, for duration: Duration, at now: MonotonicInstant,
        _ places: Table<RoomIndex, Room>
    ) {
        learnRest(of: tag, places)
        if let last = trainings[tag], last.until.duration(to: now) < tuning.learning.walk {
            countChange(from: last.room, to: room, weight: 1)
        }
        trainings[tag] = TrainingRun(
            began: now, until: now.advanced(by: min(duration, Self.longestTraining)), room: room)
    }

    /// Ends the training of this room with the tag.
    mutating func endTraining(_ tag: TagIndex, in room: RoomIndex, at now: MonotonicInstant) {
        guard trainedRoom(of: tag) == room else { return }
        trainings[tag]?.until = now
        trainings[tag]?.isOver = true
    }

    /// What a window is to a training run.
    enum Lesson {
        /// There is no run, or it is over.
        case none
        /// The readings may be from before the run.
        case early
        /// It was learned; whether it is the first of this room.
        case learned(RoomIndex, isFirst: Bool)
    }

    /// Adds a window to a training run.
    mutating func train(
        _ tag: TagIndex, _ seen: borrowing Observation, _ gateways: Table<GatewayIndex, GatewayState>,
        at now: MonotonicInstant
    ) -> Lesson {
        guard let training = trainings[tag], !training.isOver else { return .none }
        guard now <= training.until else {
            trainings[tag]?.isOver = true
            return .none
        }
        guard now >= training.learnsFrom else { return .early }
        let room = training.room
        let isFirst = rooms[room].labelled.count == 0
        let seconds = min(seen.window.elapsed, 1)
        order += 1
        levels.removeAll(keepingCapacity: true)
        Self.append(seen.window, gateways, to: &levels, missLevel: tuning.silence.missLevel)
        rooms[room].labelled.add(levels, seconds: seconds, order: order, tuning)
        let share = min(1, seconds / max(1, rooms[room].placedSeconds(tuning.learning)))
        rooms[room].placed += share * (seen.placedProbability(of: room) - rooms[room].placed)
        trainings[tag]?.learned += seconds
        return .learned(room, isFirst: isFirst)
    }

    /// Appends the levels of a window in the form of a fingerprint. A gateway that does not count has none.
    ///
    /// It is static: a method would copy this value, and with it the array that is appended to.
    private static func append(
        _ window: borrowing LevelVector, _ gateways: Table<GatewayIndex, GatewayState>,
        to levels: inout [FingerprintLevel], missLevel: Float
    ) {
        var unknown = 0
        for gateway in window.levels.indices {
            guard let level = window.levels[gateway].dBm else {
                guard unknown < RoomFingerprints.mostUnknown, gateways[gateway].isKnown else { continue }
                unknown += 1
                levels.append(FingerprintLevel(gateway: gateway, eighths: nil))
                continue
            }
            guard level > missLevel else { continue }
            levels.append(FingerprintLevel(gateway: gateway, eighths: Int16(level * 8)))
        }
    }

    /// The share, 0 … 1, that people contributed to what is known of these rooms.
    func labelledShare(of places: [RoomIndex]) -> Float {
        var labelled: Float = 0
        var all: Float = 0
        for room in places {
            let seconds = rooms[room].labelled.seconds * tuning.observation.labelWorth
            labelled += seconds
            all += seconds + rooms[room].own.seconds
        }
        return labelled / max(1, all)
    }

    // MARK: From the engine's own decisions

    /// Keeps a window until the windows after it are known.
    ///
    /// - Parameters:
    ///   - belief: After the window.
    ///   - since: Since when the tag's room is reported; nil if it was not decided since the start.
    @inline(__always)
    mutating func remember(
        _ tag: TagIndex, _ seen: borrowing Observation, _ belief: Belief, since: MonotonicInstant?,
        _ gateways: Table<GatewayIndex, GatewayState>, _ places: Table<RoomIndex, Room>, at now: MonotonicInstant
    ) {
        guard let learner = learnersOfTags[tag] ?? addLearner(of: tag) else { return }
        let levels = learners[learner].levels.count
        let elapsed = seen.window.elapsed
        Self.append(seen.window, gateways, to: &learners[learner].levels, missLevel: tuning.silence.missLevel)
        for (room, evidence) in zip(seen.rooms, seen.evidence) {
            learners[learner].rooms.append(
                Learner.RoomWeight(room: room, evidence: evidence, belief: belief.probability(of: room)))
        }
        let weight = Self.weight(since: since, at: now, tuning.learning)
        learners[learner].windows.append(
            Learner.Window(
                levels: learners[learner].levels.count - levels, rooms: seen.rooms.count,
                seconds: min(elapsed, tuning.learning.longestWindow) * weight, elapsed: min(elapsed, 1)))
        let lag = tuning.learning.learnLag
        if learners[learner].windows.count >= 2 * lag { learnOldest(of: learner, lag, places) }
    }

    /// How much a window of a tag's present stay counts: the first ones most.
    @inline(__always)
    private static func weight(since: MonotonicInstant?, at now: MonotonicInstant, _ tuning: LearningTuning) -> Float {
        guard let since else { return 1 }
        let stay = now.seconds(since: since) / tuning.ownStaySeconds
        return 1 / (1 + stay * stay)
    }

    private mutating func addLearner(of tag: TagIndex) -> LearnerIndex? {
        guard learners.count < Self.mostLearners else { return nil }
        let learner = learners.append(Learner())
        learnersOfTags[tag] = learner
        return learner
    }

    /// Learns the remaining windows: no later window belongs to them.
    ///
    /// - Parameter places: The gateways in each room.
    mutating func learnRest(of tag: TagIndex, _ places: Table<RoomIndex, Room>) {
        guard let learner = learnersOfTags[tag] else { return }
        learnOldest(of: learner, learners[learner].windows.count, places)
    }

    /// The same for all tags.
    mutating func learnRest(_ places: Table<RoomIndex, Room>) {
        for tag in learnersOfTags.indices { learnRest(of: tag, places) }
    }

    /// Discards the windows that are not learned yet: they were judged by what is known to be wrong now.
    private mutating func discardWindows() {
        for learner in learners.indices { learners[learner].removeFirst(learners[learner].windows.count) }
    }

    /// Learns those of a tag's oldest windows whose room is certain from the windows before and after.
    private mutating func learnOldest(of index: LearnerIndex, _ count: Int, _ places: Table<RoomIndex, Room>) {
        guard count > 0 else { return }
        // Moved out, so that a change does not copy it.
        var learner = Learner()
        swap(&learner, &learners[index])
        let tuning = tuning
        smoother.findCertainWindows(in: learner, count, tuning)
        // The latest come first.
        for (to, from) in zip(smoother.certain, smoother.certain.dropFirst())
        where to.window - from.window <= tuning.learning.mostDoubtful {
            countChange(from: from.room, to: to.room, weight: tuning.learning.ownExit)
        }
        for certain in smoother.certain.reversed() where !places[certain.room].gateways.isEmpty {
            let window = learner.windows[certain.window]
            let levels = learner.levels[certain.levelsEnd - window.levels..<certain.levelsEnd]
            rooms[certain.room].own.add(levels, seconds: window.seconds, tuning)
        }
        learner.removeFirst(count)
        swap(&learner, &learners[index])
    }

    // MARK: After a restart

    /// Restores what was learned of a room.
    ///
    /// - Parameters:
    ///   - rooms: The index of each room of the `LearnedSite`; nil for one without an index.
    ///   - gateways: The same of its gateways.
    mutating func restore(
        _ learned: LearnedSite.LearnedRoom, as index: RoomIndex, _ rooms: [RoomIndex?], _ gateways: [GatewayIndex?]
    ) {
        // Two stored rooms may have two forms of one name.
        let isFirst = !self.rooms[index].isLearned
        self.rooms[index].exits.restore(learned.exits, of: index, rooms)
        for moment in learned.labelled.prefix(tuning.prints.mostFingerprints - self.rooms[index].labelled.count) {
            order += 1
            self.rooms[index].labelled.restore(moment, gateways, order: order)
        }
        guard isFirst else { return }
        self.rooms[index].own = RoomLevels(learned.own, gateways, tuning)
        self.rooms[index].placed = (0...1).contains(learned.placed) ? learned.placed : 0
        guard let aside = learned.aside else { return }
        var exits = RoomExits()
        exits.restore(aside.exits, of: index, rooms)
        self.rooms[index].aside = RoomKnowledge.Aside(
            placed: (0...1).contains(aside.placed) ? aside.placed : 0, exits: exits)
    }
}
