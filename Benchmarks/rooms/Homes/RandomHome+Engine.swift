import RoomRules
import Rooms

extension RandomHome {
    /// What the engine reports in each of some trials, each of which begins with what was learned before.
    ///
    /// - Parameter survey: What the engine is told of the home before.
    func reports(
        of trials: [Trial], trainedBy use: EngineRun.Use?, _ tuning: RoomTuning, knowing survey: Survey = Survey()
    ) -> [[Report]] {
        let nodes = nodePeriod.map { NodeFeed(seed: 1, period: $0) }
        func heard(_ session: Session) -> Session { survey.correct(session, radio) }
        var run = EngineRun(
            home, tuning, phases: phases, nodes: nodes, knowing: survey.known(of: self))
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
}
