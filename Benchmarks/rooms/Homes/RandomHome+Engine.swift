import RoomRules
import Rooms

extension RandomHome {
    /// What the engine reports in each of some trials, each of which begins with what was learned before.
    func reports(of trials: [Trial], trainedBy use: EngineRun.Use?, _ tuning: RoomTuning) -> [[Report]] {
        let nodes = nodePeriod.map { NodeFeed(seed: 1, period: $0) }
        var run = EngineRun(home, tuning, phases: phases, nodes: nodes)
        switch use {
        case .walk: run.play(walk, as: .walk)
        case .unlabelled: for session in week { run.play(session, as: .unlabelled) }
        case .test, nil: break
        }
        return trials.map { trial in
            var run = run
            return run.play(trial.session, as: .test)
        }
    }
}
