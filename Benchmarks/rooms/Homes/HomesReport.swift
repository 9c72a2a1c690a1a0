import Glibc
import RoomRules
import Rooms

/// Our engine beside the peers' rules and the plain Markov model, on many random homes.
struct HomesReport {
    /// Figures of one rule on tags of one kind, home by home.
    private struct Row {
        var name: String
        var scores: [Score] = []

        /// Mean of all homes with its interval, and of the worst tenth of them.
        func mean(
            _ value: (Score) -> Double, worstIsLeast: Bool
        ) -> (all: Double, interval: (Double, Double), worst: Double) {
            func mean(_ values: some Collection<Double>) -> Double { values.reduce(0, +) / Double(values.count) }
            let sorted = scores.map(value).sorted { worstIsLeast ? $0 < $1 : $0 > $1 }
            return (
                mean(sorted), Bootstrap.interval(of: sorted) { mean($0) }, mean(sorted.prefix((sorted.count + 9) / 10))
            )
        }
    }

    private enum Kind: Int, CaseIterable {
        case wornGateways, wornNodes, still

        var name: String {
            ["worn tags, gateways", "worn tags, ESPresense nodes", "still tags, gateways and nodes"][rawValue]
        }
    }

    private static let settings = [
        (4.0, 1.0, 300.0, 0.9), (4, 0.7, 60, 0.9), (4, 0.35, 60, 0.7), (6, 0.35, 60, 0.9),
    ].map { MarkovModel.Setting(spread: $0.0, weight: $0.1, stay: $0.2, threshold: $0.3) }
    private static let states: [(name: String, use: EngineRun.Use?)] = [
        ("ours, untrained", nil), ("ours, after another person's walk", .walk), ("ours, after a week", .unlabelled),
    ]

    let tuning: RoomTuning
    let isEngineOnly: Bool
    /// Prints a line for each home and rule.
    let printsEach: Bool
    /// Takes 10 dB from one receiver of each home.
    let isOneWeak: Bool
    /// The tag on the table lies there for so many hours, and it alone is judged.
    let restHours: Int?
    private var rows: [[Row]] = Kind.allCases.map { _ in [] }
    private var fits: [(noise: NoiseFit, levels: LevelFit)] = []

    init(tuning: RoomTuning, isEngineOnly: Bool, printsEach: Bool, isOneWeak: Bool, restHours: Int?) {
        (self.tuning, self.isEngineOnly, self.printsEach) = (tuning, isEngineOnly, printsEach)
        (self.isOneWeak, self.restHours) = (isOneWeak, restHours)
    }

    mutating func run(homes: Range<UInt64>) {
        for number in homes {
            let random = RandomHome(number: number, isOneWeak: isOneWeak, restHours: restHours ?? 1)
            measureNoise(of: random)
            for (name, use) in Self.states {
                add(name, random, number, random.reports(of: judged(random), trainedBy: use, tuning))
            }
            if !isEngineOnly { runOthers(random, number) }
        }
        guard restHours == nil else { return printRest() }
        for kind in Kind.allCases { printTable(of: kind) }
        printChanges()
        print("\nworn tags of homes with gateways, as recordings are measured: 10th, 50th and 90th percentile of homes")
        for (name, value) in [
            ("fast, dB", { $0.noise.fast }), ("slow, dB", { $0.noise.slow }), ("missed", { $0.noise.missed }),
            ("level in the own room, dBm", { $0.levels.own }), ("elsewhere, dBm", { $0.levels.other }),
            ("heard in the own room", { $0.levels.ownHits }), ("heard elsewhere", { $0.levels.otherHits }),
        ] as [(String, ((noise: NoiseFit, levels: LevelFit)) -> Double)] {
            let sorted = fits.map(value).filter(\.isFinite).sorted()
            print("\(name): \([0.1, 0.5, 0.9].map { fixed(percentile($0, of: sorted), 2) }.joined(separator: ", "))")
        }
    }

    // MARK: Rules

    private mutating func runOthers(_ random: RandomHome, _ number: UInt64) {
        var feed = random.nodePeriod.map { NodeFeed(seed: number, period: $0) }
        func heard(_ session: Session) -> Session { feed?.heard(of: session) ?? session }
        let trials = judged(random).map { heard($0.session) }
        for (name, rule) in peerRules(rooms: random.home.gateways.map(\.room)) {
            add(name, random, number, trials.map { playAnew(rule, $0) })
        }
        let walk = heard(random.walk)
        let week = random.week.map(heard)
        for setting in Self.settings {
            let name = "\(fixed(setting.spread, 0)) dB, \(fixed(setting.weight, 2)), \(fixed(setting.stay, 0)) s"
            let labelled = MarkovModel(labelled: [walk], random.home, setting)
            add("HMM, after the walk: \(name)", random, number, trials.map { labelled.play($0) })
            guard setting.weight == 0.7 else { continue }
            let learned = MarkovModel(unlabelled: week, random.home, setting)
            add("HMM, EM over the week: \(name)", random, number, trials.map { learned.play($0) })
        }
    }

    /// The trials that count: all, or that of the tag on the table.
    private func judged(_ random: RandomHome) -> [RandomHome.Trial] {
        random.trials.filter { restHours == nil || !$0.isWorn }
    }

    private func playAnew(_ rule: any PeerRule, _ session: Session) -> [Report] {
        var rule = rule
        return rule.play(session)
    }

    /// Adds a home to the row of a rule.
    private mutating func add(_ name: String, _ random: RandomHome, _ number: UInt64, _ reports: [[Report]]) {
        let scored = zip(judged(random), reports).map { ($0.isWorn, SessionScore($0.session, $1)) }
        let worn = Kind.allCases[random.nodePeriod == nil ? 0 : 1]
        for (kind, isWorn) in [(worn, true), (.still, false)] where restHours == nil || !isWorn {
            let score = Score(sessions: scored.filter { $0.0 == isWorn }.map(\.1))
            if let index = rows[kind.rawValue].firstIndex(where: { $0.name == name }) {
                rows[kind.rawValue][index].scores.append(score)
            } else {
                rows[kind.rawValue].append(Row(name: name, scores: [score]))
            }
            if printsEach {
                let figures = "\(fixed(score.right, 4))\t\(fixed(score.falsePerHour * 24, 1))"
                print("each\t\(number)\t\(kind.rawValue)\t\(name)\t\(figures)")
            }
        }
    }

    private mutating func measureNoise(of random: RandomHome) {
        guard random.nodePeriod == nil, restHours == nil else { return }
        var home = random.home
        home.sessions = random.trials.filter(\.isWorn).map(\.session)
        fits.append((NoiseFit(home), LevelFit(home)))
    }

    // MARK: Tables

    private func printTable(of kind: Kind) {
        guard let count = rows[kind.rawValue].first?.scores.count else { return }
        print(
            "\n\(kind.name): \(count) homes; mean [5 to 95 % of \(Bootstrap.draws) draws of homes, seed \(Bootstrap.seed)], "
                + "and mean of the worst tenth of the homes")
        print(
            "rule                                 time right               false per tag-day        delay p50, p90 (s)  never"
        )
        for row in rows[kind.rawValue] {
            let right = row.mean(\.right, worstIsLeast: true)
            let wrong = row.mean({ $0.falsePerHour * 24 }, worstIsLeast: false)
            let delays = row.scores.flatMap(\.delays).sorted()
            let changes = row.scores.reduce(0) { $0 + $1.changes }
            let never = row.scores.reduce(0) { $0 + $1.never }
            let texts = [
                row.name, "\(fixed(right.all, 3)) \(Self.between(right.interval, 3)) \(fixed(right.worst, 3))",
                "\(fixed(wrong.all, 1)) \(Self.between(wrong.interval, 0)) \(fixed(wrong.worst, 0))",
                "\(fixed(percentile(0.5, of: delays), 1)) \(fixed(percentile(0.9, of: delays), 1))",
                changes > 0 ? "\(fixed(Double(never) / Double(changes) * 100, 0)) %" : "-",
            ]
            print(Table.columns(texts, widths: [37, 25, 25, 20, 0]))
        }
    }

    /// How often a tag that lies still for hours changes its room.
    private func printRest() {
        guard let restHours, let rows = rows.last else { return }
        print(
            "\nstill tags, gateways and nodes: \(rows.first?.scores.count ?? 0) homes, \(restHours) hours; mean and worst tenth of the homes"
        )
        print(
            "rule                                 time right     false in the first hour  later, per tag-day  homes with later ones"
        )
        for row in rows {
            let early = row.mean({ Double($0.falseTimes.count { $0 < 3600 }) }, worstIsLeast: false)
            let late = row.mean(
                { Double($0.falseTimes.count { $0 >= 3600 }) / Double(restHours - 1) * 24 }, worstIsLeast: false)
            let right = row.mean(\.right, worstIsLeast: true)
            let texts = [
                row.name, "\(fixed(right.all, 3)) \(fixed(right.worst, 3))",
                "\(fixed(early.all, 2)) \(fixed(early.worst, 1))",
                "\(fixed(late.all, 2)) \(fixed(late.worst, 1))",
                String(row.scores.count { $0.falseTimes.contains { $0 >= 3600 } }),
            ]
            print(Table.columns(texts, widths: [37, 15, 25, 20, 0]))
        }
    }

    private static func between(_ interval: (Double, Double), _ digits: Int) -> String {
        "[\(fixed(interval.0, digits)) \(fixed(interval.1, digits))]"
    }

    /// In how many homes training harms.
    private func printChanges() {
        print(
            "\nof the homes, against the same home untrained: right by more than .01 less, by more than .03 less; false more"
        )
        print("than a fifth and one change more; the largest loss")
        for kind in Kind.allCases {
            let rows = rows[kind.rawValue].filter { $0.name.hasPrefix("ours") }
            guard let untrained = rows.first?.scores, !untrained.isEmpty else { continue }
            for row in rows.dropFirst() {
                let pairs = zip(untrained, row.scores)
                let losses = pairs.map { $0.right - $1.right }
                let isNervous = pairs.map { before, after in
                    let count = { (score: Score) in Double(score.sessions.reduce(0) { $0 + $1.falseChanges }) }
                    return count(after) > max(1.2 * count(before), count(before) + 1)
                }
                let text = [losses.map { $0 > 0.01 }, losses.map { $0 > 0.03 }, isNervous].map { isWorse in
                    func percent(_ homes: [Bool]) -> Double { Double(homes.count { $0 }) / Double(homes.count) * 100 }
                    return
                        "\(fixed(percent(isWorse), 0)) \(Self.between(Bootstrap.interval(of: isWorse, percent), 0)) %"
                }.joined(separator: ", ")
                print("\(kind.name), \(row.name): \(text); \(fixed(losses.max() ?? 0, 3))")
            }
        }
    }
}

/// Levels of gateways in their own rooms and elsewhere: medians, dBm, and shares of moments in which they hear the tag.
private struct LevelFit {
    let own: Double
    let other: Double
    let ownHits: Double
    let otherHits: Double

    init(_ home: Home) {
        var levels: [[Double?]] = [[], []]
        for moment in home.sessions.flatMap(\.moments) {
            for (gateway, level) in zip(home.gateways, moment.levels) {
                levels[gateway.room == moment.room ? 0 : 1].append(level)
            }
        }
        let heard = levels.map { $0.compactMap(\.self).sorted() }
        (own, other) = (percentile(0.5, of: heard[0]), percentile(0.5, of: heard[1]))
        ownHits = Double(heard[0].count) / Double(levels[0].count)
        otherHits = Double(heard[1].count) / Double(levels[1].count)
    }
}
