import Base
import JSON
import Rooms
import SiteProtocol

/// What the active service answers to the requests of persons on `learn`, and which training runs still have an answer to come.
///
/// It carries nothing out. `Whereabouts` asks what holds before a request (`Asked`), carries the request out, and has it answered. A
/// standby keeps the runs too, because it may be the active service at their end, and says nothing.
struct LearnAnswers: Sendable {
    /// Largest number of runs that are answered in one turn. Any client may request a run for each tag.
    private static let mostAnswers = 16

    /// A training run that goes on.
    private struct Run: Sendable {
        let request: FeedDecoder.LearnRequest
        let tag: String
        let began: MonotonicInstant
        let until: MonotonicInstant

        /// What arrives at the end itself still counts.
        var end: MonotonicInstant { until.advanced(by: .milliseconds(1)) }
    }

    private var runs: [Run] = []
    /// When the next run ends; nil if none goes on.
    private(set) var due: MonotonicInstant?

    /// What holds before a request is carried out.
    struct Asked: Sendable {
        let request: FeedDecoder.LearnRequest
        /// The id of the tag of a training; empty for other requests.
        private(set) var tag = ""
        /// Why the request is refused before anything is done; nil if it is not.
        private(set) var refusal: String?
        /// Whether anything was learned of the room that is to be forgotten.
        private(set) var wasLearned = false
        /// The latest run with the tag.
        private(set) var run: TagExplanation.Training?

        init(
            _ request: FeedDecoder.LearnRequest, _ engine: RoomEngine, _ roster: TagRoster, at now: MonotonicInstant
        ) {
            self.request = request
            switch request {
            case .train(_, let name, _):
                tag = roster.id(named: name)
                let index = roster.index(ofTag: tag)
                refusal = index == nil ? "there is no tag '\(shortened(name))'" : nil
                run = index.flatMap { engine.explanation(ofTag: $0, at: now).training }
            case .forget(let room): wasLearned = engine.plan.isLearned(room: room)
            case .moved(let gateway):
                refusal = RoomQuestion.refusal(ofMoving: gateway, among: engine.plan.questions(at: now))
            case .rename: break
            }
        }

        /// The line of the log about a refused training.
        var warning: Site.Effect? {
            guard case .train(let room, _, _) = request, let refusal else { return nil }
            return .log(
                .warning, "the training of '\(shortened(room.name))' was refused: \(refusal)", once: "training")
        }
    }

    /// Answers a request that was carried out.
    ///
    /// - Parameter isRefused: Whether the engine refused it, and that was answered.
    mutating func answer(
        _ asked: Asked, isRefused: Bool, _ engine: RoomEngine, _ roster: TagRoster, isActive: Bool,
        at now: MonotonicInstant, _ effects: inout [Site.Effect]
    ) {
        guard !isRefused, asked.refusal == nil else { return }
        var said: [Site.Effect] = []
        switch asked.request {
        case .rename, .moved: said.append(Self.effect(asked.request, .done))
        case .forget: said.append(Self.effect(asked.request, asked.wasLearned ? .done : .nothing))
        case .train(let room, _, let duration):
            let new = Self.run(with: asked.tag, engine, roster, at: now)
            let goesOn = asked.run.map { !$0.isOver && (duration > .zero || $0.room.isSame(as: room)) } ?? false
            if goesOn, let run = asked.run { said += end(asked.tag, learned: run.learned) }
            if duration <= .zero {
                let learned = goesOn ? asked.run.map { Self.tenths($0.learned) } : nil
                said.append(Self.effect(asked.request, goesOn ? .done : .nothing, learned))
            } else if let new, new.began == now, new.room.isSame(as: room) {
                runs.append(Run(request: asked.request, tag: asked.tag, began: now, until: new.until))
                said.append(Self.effect(asked.request, .begun))
            } else {
                let reason = "a site has at most \(RoomEngine.mostRooms) rooms"
                said.append(.send(.refused(LearnRefusal(asked.request, reason))))
            }
            setDue()
        }
        if isActive { effects += said }
    }

    /// Answers the runs that have ended, with the seconds that were learned.
    mutating func tick(
        _ engine: RoomEngine, _ roster: TagRoster, isActive: Bool, at now: MonotonicInstant,
        _ effects: inout [Site.Effect]
    ) {
        guard let due, due <= now else { return }
        var said: [Site.Effect] = []
        for run in runs.filter({ $0.end <= now }).prefix(Self.mostAnswers) {
            let found = Self.run(with: run.tag, engine, roster, at: now)
            said += end(run.tag, learned: found.flatMap { $0.began == run.began ? $0.learned : nil })
        }
        setDue()
        effects += isActive ? said : []
    }

    private mutating func setDue() { due = runs.map(\.end).min() }

    /// The run with a tag has ended.
    ///
    /// - Parameter learned: Seconds; nil if the tag or the room is gone.
    private mutating func end(_ tag: String, learned: Float?) -> [Site.Effect] {
        let ended = runs.filter { $0.tag == tag }
        runs.removeAll { $0.tag == tag }
        return ended.map { run in
            guard let learned else {
                return .send(.refused(LearnRefusal(run.request, "the tag or the room was removed meanwhile")))
            }
            return Self.effect(run.request, learned > 0 ? .done : .nothing, Self.tenths(learned))
        }
    }

    private static func run(
        with tag: String, _ engine: RoomEngine, _ roster: TagRoster, at now: MonotonicInstant
    ) -> TagExplanation.Training? {
        roster.index(ofTag: tag).flatMap { engine.explanation(ofTag: $0, at: now).training }
    }

    private static func effect(
        _ request: FeedDecoder.LearnRequest, _ outcome: LearnAnswer.Outcome, _ learned: Double? = nil
    ) -> Site.Effect {
        .send(.answer(LearnAnswer(request, outcome, learned: learned)))
    }

    /// Seconds in tenths. What was learned at all is not 0.
    private static func tenths(_ seconds: Float) -> Double {
        seconds > 0 ? max(1, (Double(seconds) * 10).rounded()) / 10 : 0
    }
}
