import RoomRules
import Rooms

/// Our engine beside the peers' rules and the plain Markov model, on one home.
struct Comparison {
    let home: Home
    let tuning: RoomTuning
    /// Whether the gateways count from their first message on, as in a house where the service has run before.
    let areKnown: Bool

    func printTable() {
        Table.printHead(home)
        for (name, rule) in peerRules(rooms: home.gateways.map(\.room)) {
            Table.printRow(name, score { index in playAnew(rule, home.sessions[index]) })
        }
        for (spread, weight, stay, threshold) in [
            (4.0, 1.0, 300.0, 0.9), (4, 0.7, 60, 0.9), (4, 0.35, 60, 0.7), (6, 0.35, 60, 0.9),
        ] {
            let setting = MarkovModel.Setting(spread: spread, weight: weight, stay: stay, threshold: threshold)
            let name = "\(fixed(spread, 0)) dB, \(fixed(weight, 2)), \(fixed(stay, 0)) s, \(fixed(threshold, 1))"
            Table.printRow(
                "HMM, labelled: \(name)",
                score { index in
                    MarkovModel(labelled: others(than: index), home, setting).play(home.sessions[index])
                })
            Table.printRow(
                "HMM, EM: \(name)",
                score { index in
                    MarkovModel(unlabelled: others(than: index), home, setting).play(home.sessions[index])
                })
        }
        printEngine()
    }

    /// - Parameter phases: Whether the gateways' seconds are out of step, too.
    func printEngine() {
        let outOfStep = home.gateways.indices.map { Double($0 * 37 % 100) / 100 }
        for (suffix, phases) in [("", nil), (", seconds out of step", outOfStep)] {
            Table.printRow("ours, untrained" + suffix, engine(trainedBy: nil, phases))
            Table.printRow("ours, self-trained" + suffix, engine(trainedBy: .unlabelled, phases))
            Table.printRow("ours, one walk" + suffix, engine(trainedBy: .walk, phases))
        }
    }

    /// The recording as ESPresense nodes hear it, with these seeds of their times.
    func printNodes(seeds: [UInt64]) {
        Table.printHead(home)
        let uses: [(name: String, use: EngineRun.Use?)] = [
            ("untrained", nil), ("one walk", .walk), ("other sessions", .unlabelled),
        ]
        for (name, use) in uses {
            let scores = seeds.map { seed in (seed, engine(trainedBy: use, nil, NodeFeed(seed: seed))) }
            for (seed, score) in scores { Table.printRow("nodes, \(name), seed \(seed)", score) }
            printMean("nodes, \(name)", scores.map(\.1))
            printMean(
                "nodes, two tags, \(name)",
                seeds.map { engine(trainedBy: use, nil, NodeFeed(seed: $0, hasSecondTag: true)) })
        }
    }

    private func printMean(_ name: String, _ scores: [Score]) {
        let count = Double(scores.count)
        let right = scores.reduce(0) { $0 + $1.right } / count
        let wrong = scores.reduce(0) { $0 + $1.falsePerHour } / count
        print("\(name), mean of \(scores.count): \(fixed(right, 3)), \(fixed(wrong, 1)) false per hour")
    }

    private func engine(trainedBy use: EngineRun.Use?, _ phases: [Double]?, _ nodes: NodeFeed? = nil) -> Score {
        score { index in
            var run = EngineRun(home, tuning, phases: phases, nodes: nodes, areKnown: areKnown)
            if let use { for other in others(than: index) { run.play(other, as: use) } }
            return run.play(home.sessions[index], as: .test)
        }
    }

    /// Draws a session after a walk through the others.
    func picture(ofSession index: Int) -> Picture {
        var run = EngineRun(home, tuning, notesBelief: true)
        for other in others(than: index) { run.play(other, as: .walk) }
        let reports = run.play(home.sessions[index], as: .test)
        return Picture(
            home: home, session: home.sessions[index], beliefs: run.beliefs.map { ($0.time, $0.1) }, reports: reports)
    }

    private func others(than index: Int) -> [Session] {
        home.sessions.indices.filter { $0 != index }.map { home.sessions[$0] }
    }

    /// Scores each session by what a rule reports of it that knows the other sessions at most.
    private func score(_ reports: (Int) -> [Report]) -> Score {
        Score(sessions: home.sessions.indices.map { SessionScore(home.sessions[$0], reports($0)) })
    }

    private func playAnew(_ rule: any PeerRule, _ session: Session) -> [Report] {
        var rule = rule
        return rule.play(session)
    }
}
