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

    private mutating func play(_ home: RandomHome) {
        let trials = home.trials.filter(\.isWorn)
        for (use, trained) in Self.uses.enumerated() {
            for (index, floors) in FloorKnowledge.allCases.enumerated() {
                let reports = home.reports(of: trials, trainedBy: trained.use, tuning, floors: floors)
                let pairs = zip(trials.map(\.session), reports)
                let shares = pairs.map { Self.wrongFloor($0, $1, home.plan) }
                let result = Figures(
                    number: home.number, wrongFloor: shares.map(\.wrong).reduce(0, +) / Double(max(1, shares.count)),
                    late: shares.map(\.late).reduce(0, +) / Double(max(1, shares.count)),
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

    /// Share of seconds in which the reported room is on another floor than the tag.
    private static func wrongFloor(_ session: Session, _ reports: [Report], _ plan: FloorPlan) -> (
        wrong: Double, late: Double, changes: Double
    ) {
        let stays = session.stays
        guard let first = stays.first, let last = stays.last else { return (0, 0, 0) }
        var (next, room, stay, seconds, wrong, late, changes) = (0, -1, 0, 0, 0, 0, 0)
        var changed = -Double.infinity
        var second = first.from.rounded(.up)
        while second <= last.to {
            while next < reports.count, reports[next].time <= second {
                room = reports[next].room
                next += 1
            }
            while stay + 1 < stays.count, stays[stay + 1].from <= second {
                stay += 1
                if plan.rooms[stays[stay].room].floor != plan.rooms[stays[stay - 1].room].floor {
                    changed = stays[stay].from
                    changes += 1
                }
            }
            seconds += 1
            if room >= 0, plan.rooms[room].floor != plan.rooms[stays[stay].room].floor {
                wrong += 1
                if second - changed < 15 { late += 1 }
            }
            second += 1
        }
        let all = Double(max(1, seconds))
        return (Double(wrong) / all, Double(late) / all, Double(changes) / all * 3600)
    }

    private func printTable(of kind: Int) {
        let count = figures[kind][0][0].count
        guard count > 0 else { return }
        print(
            "\n\(Self.kinds[kind]): \(count) homes of two and three floors; mean [5 to 95 % of \(Bootstrap.draws) draws of homes], "
                + "worst tenth; of the time right also the difference from no floors, and the homes that lose more than .01"
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
