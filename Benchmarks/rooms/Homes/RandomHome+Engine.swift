import Base
import RoomRules
import Rooms
import SiteProtocol

extension RandomHome {
    /// What a day of the receivers' own beacons says, as gateways or nodes report it. Boards of one type send more or less than their beacons say, all of them alike.
    var measured: SurveyedLevels {
        var random = Random(seed: number &* 0xd134_2543_de82_ef95 &+ 7)
        var linked = LinkedHome(number: number, in: (plan, radio), power: Self.boardDeviation * random.normal())
        var survey = LevelSurvey()
        for _ in 0..<1440 {
            let now = MonotonicInstant(nanoseconds: Int64(linked.minute) * 60_000_000_000)
            func hear(_ sender: Int, _ receiver: Int, _ level: Double) {
                survey.hear(
                    sender: home.gateways[sender].name, receiver: home.gateways[receiver].name, level: Float(level),
                    at: now)
            }
            if let nodePeriod {
                linked.pass(asNodesWith: nodePeriod, hear)
            } else {
                linked.pass { sender, receiver, level, _ in hear(sender, receiver, level) }
            }
            survey.tick(at: now)
        }
        return survey.levels()
    }

    /// What a board sends otherwise than its beacon says, standard deviation, dB.
    private static let boardDeviation = 5.0

    /// What the engine reports in each of some trials, each of which begins with what was learned before.
    ///
    /// - Parameters:
    ///   - survey: What the engine is told of the home before.
    ///   - measured: What the receivers' own beacons said, of which `survey` says what is told.
    func reports(
        of trials: [Trial], trainedBy use: EngineRun.Use?, _ tuning: RoomTuning, knowing survey: Survey = Survey(),
        measured: SurveyedLevels = SurveyedLevels(), floors: FloorKnowledge = .nothing
    ) -> [[Report]] {
        let nodes = nodePeriod.map { NodeFeed(seed: 1, period: $0) }
        func heard(_ session: Session) -> Session { survey.correct(session, radio) }
        var run = EngineRun(
            home, tuning, phases: phases, nodes: nodes, knowing: survey.known(of: self))
        if survey.measuresGains { run.setOffsets(measured.offsets) }
        if survey.measuresLevels { run.setLevels(measured) }
        if floors != .nothing { run.setFloors(floors.told(of: plan)) }
        switch use {
        case .walk: run.play(heard(walk), as: .walk)
        case .unlabelled: for session in week { run.play(heard(session), as: .unlabelled) }
        case .test, nil: break
        }
        return trials.map { trial in
            var run = run
            return run.play(heard(trial.session), as: .test)
        }
    }

    /// What a program would report that knew the room of each packet as soon as the message about it is there: receivers send what they heard
    /// once a second, or once in the period of a node. The stays of a session begin with the first packet that the tag sends in the room,
    /// so that the pause before it is no part of the delay.
    func leastDelayed(_ session: Session) -> [Report] {
        if let nodePeriod {
            var nodes = NodeFeed(seed: 1, period: nodePeriod)
            return nodes.heard(of: session).moments.map { ($0.time, $0.room) }
        }
        let reports: [Report] = session.moments.compactMap { moment in
            firstMessage(about: moment).map { ($0, moment.room) }
        }
        return reports.sorted { $0.time < $1.time }
    }

    /// When the first message of a gateway about a packet is there; nil: no gateway heard it.
    func firstMessage(about moment: Moment) -> Double? {
        phases.indices.compactMap { gateway -> Double? in
            guard moment.levels[gateway] != nil else { return nil }
            return (moment.time - phases[gateway]).rounded(.down) + 1 + phases[gateway]
        }.min()
    }
}
