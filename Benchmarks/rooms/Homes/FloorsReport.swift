import Glibc
import RoomRules
import Rooms

/// How often a worn tag is reported on the wrong floor in random homes of two and three floors, and what it is worth to tell the engine the
/// floors and the stairs.
struct FloorsReport {
    /// Figures of the worn tags of one home.
    private struct Figures {
        var number: UInt64
        /// Share of the time in which the reported room is on another floor.
        var wrongFloor: Double
        /// The part of it within 15 s after a change of floors.
        var late: Double
        /// The share of the time in which a program would report a wrong floor that knew the room of each packet as soon as the message
        /// about it is there.
        var least: Double
        /// Changes of floors in an hour.
        var changes: Double
        var score: Score
    }

    private static let uses: [(name: String, use: EngineRun.Use?)] = [
        ("untrained", nil), ("after a walk", .walk), ("after the week", .unlabelled),
    ]
    private static let kinds = ["worn tags, gateways", "worn tags, ESPresense nodes", "worn tags, all"]

    let tuning: RoomTuning
    /// Prints a line for each home.
    let printsEach: Bool
    /// By kind, use and knowledge.
    private var figures: [[[[Figures]]]] = kinds.map { _ in uses.map { _ in FloorKnowledge.allCases.map { _ in [] } } }

    init(tuning: RoomTuning, printsEach: Bool) { (self.tuning, self.printsEach) = (tuning, printsEach) }

    mutating func run(homes: Range<UInt64>) {
        for number in homes where RandomHome.building(number: number).plan.rooms.contains(where: { $0.floor > 0 }) {
            play(RandomHome(number: number))
        }
        for kind in Self.kinds.indices { printTable(of: kind) }
    }

    /// Prints how often a filter is on the wrong floor that is told how each home with gateways is.
    static func printTold(homes: Range<UInt64>) {
        for knowledge in ToldFilter.Knowledge.allCases {
            var (wrong, right): ([Double], [Double]) = ([], [])
            for number in homes where RandomHome.building(number: number).plan.rooms.contains(where: { $0.floor > 0 }) {
                let home = RandomHome(number: number)
                guard home.nodePeriod == nil else { continue }
                let trials = home.trials.filter(\.isWorn).map { trial in
                    var filter = ToldFilter(home, trial.wear, knowing: knowledge)
                    return (trial.session, filter.reports(of: trial.session))
                }
                let shares = trials.map { FloorShare($0.0.stays, $0.1, home.plan).wrong }
                wrong.append(shares.reduce(0, +) / Double(max(1, shares.count)) * 100)
                right.append(Score(sessions: trials.map { SessionScore($0.0, $0.1) }).right)
            }
            func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(max(1, values.count)) }
            let interval = Bootstrap.interval(of: wrong) { mean($0) }
            print(
                "worn tags, gateways: \(wrong.count) homes; a filter that is told \(knowledge.rawValue): \(fixed(mean(wrong), 2)) % "
                    + "[\(fixed(interval.0, 1)) \(fixed(interval.1, 1))] on the wrong floor, time right \(fixed(mean(right), 3))"
            )
        }
    }

    private mutating func play(_ home: RandomHome) {
        let trials = home.trials.filter(\.isWorn)
        let least = trials.map { FloorShare($0.session.stays, home.leastDelayed($0.session), home.plan).wrong }
        for (use, trained) in Self.uses.enumerated() {
            for (index, floors) in FloorKnowledge.allCases.enumerated() {
                let reports = home.reports(of: trials, trainedBy: trained.use, tuning, floors: floors)
                let pairs = zip(trials.map(\.session), reports)
                let shares = pairs.map { FloorShare($0.stays, $1, home.plan) }
                let result = Figures(
                    number: home.number, wrongFloor: shares.map(\.wrong).reduce(0, +) / Double(max(1, shares.count)),
                    late: shares.map(\.late).reduce(0, +) / Double(max(1, shares.count)),
                    least: least.reduce(0, +) / Double(max(1, least.count)),
                    changes: shares.map(\.changes).reduce(0, +) / Double(max(1, shares.count)),
                    score: Score(sessions: pairs.map { SessionScore($0, $1) }))
                for kind in [home.nodePeriod == nil ? 0 : 1, 2] { figures[kind][use][index].append(result) }
                if printsEach {
                    print(
                        "each\t\(home.number)\t\(trained.name)\t\(floors.rawValue)\t\(fixed(result.wrongFloor, 4))\t\(fixed(result.late, 4))"
                            + "\t\(fixed(result.score.right, 4))")
                }
            }
        }
        if printsEach { fflush(nil) }
    }

    private func printTable(of kind: Int) {
        let count = figures[kind][0][0].count
        guard count > 0 else { return }
        print(
            "\n\(Self.kinds[kind]): \(count) homes of two and three floors; mean [5 to 95 % of \(Bootstrap.draws) draws of homes], "
                + "worst tenth; of the time right also the difference from no floors, and the homes that lose more than .01"
        )
        let least = figures[kind][0][0].map { $0.least * 100 }
        print(
            "whoever knew the room of each packet as soon as the message about it is there: "
                + "\(fixed(least.reduce(0, +) / Double(count), 2)) % on the wrong floor, \(least.count { $0 > 0.5 }) homes of \(count) over .5 %"
        )
        for use in Self.uses.indices {
            for (index, floors) in FloorKnowledge.allCases.enumerated() {
                printRow(Self.uses[use].name, floors.rawValue, figures[kind][use][index], figures[kind][use][0])
            }
        }
    }

    private func printRow(_ use: String, _ floors: String, _ homes: [Figures], _ base: [Figures]) {
        func mean(_ values: some Collection<Double>) -> Double { values.reduce(0, +) / Double(max(1, values.count)) }
        func between(_ values: [Double], _ digits: Int) -> String {
            let interval = Bootstrap.interval(of: values) { mean($0) }
            return "[\(fixed(interval.0, digits)) \(fixed(interval.1, digits))]"
        }
        let wrong = homes.map { $0.wrongFloor * 100 }
        let tenth = (wrong.count + 9) / 10
        let right = homes.map(\.score.right)
        let differences = zip(right, base.map(\.score.right)).map(-)
        let texts = [
            use, floors,
            "\(fixed(mean(wrong), 2)) % \(between(wrong, 1)) \(fixed(mean(wrong.sorted().suffix(tenth)), 1))",
            fixed(mean(homes.map { $0.late * 100 }), 2), fixed(mean(homes.map(\.changes)), 0),
            "\(fixed(mean(right), 3)) \(fixed(mean(right.sorted().prefix(tenth)), 3))",
            "\(fixed(mean(differences), 3)) \(between(differences, 3))",
            "\(differences.count { $0 < -0.01 })", fixed(mean(homes.map { $0.score.falsePerHour * 24 }), 0),
        ]
        print(Table.columns(texts, widths: [16, 19, 28, 6, 4, 13, 24, 5, 0]))
    }
}
