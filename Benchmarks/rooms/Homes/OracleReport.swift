import Glibc
import RoomRules
import Rooms

/// What the engine would gain by knowing of random homes what a perfect survey knows, home by home.
struct OracleReport {
    private static let uses: [(name: String, use: EngineRun.Use?)] = [
        ("untrained", nil), ("after a walk", .walk), ("after the week", .unlabelled),
    ]
    private static let kinds = ["worn tags, gateways", "worn tags, ESPresense nodes", "still tags, gateways and nodes"]

    let tuning: RoomTuning
    /// Takes 10 dB from one receiver of each home; the differences are those from the same home without the loss and the oracle.
    let isOneWeak: Bool
    /// By kind, use and survey: the score of each home. With `isOneWeak`, the first survey is followed by its score without the loss.
    private var scores: [[[[Score]]]]

    init(tuning: RoomTuning, isOneWeak: Bool) {
        (self.tuning, self.isOneWeak) = (tuning, isOneWeak)
        let surveys = Survey.all.count + (isOneWeak ? 1 : 0)
        scores = Self.kinds.map { _ in Self.uses.map { _ in [[Score]](repeating: [], count: surveys) } }
    }

    /// Prints the tables after all homes, and what is known so far after each ten of them: a run takes long.
    mutating func run(homes: Range<UInt64>) {
        for number in homes {
            if number > homes.lowerBound, (number - homes.lowerBound) % 10 == 0 { printTables() }
            if isOneWeak { play(RandomHome(number: number), [Survey()], from: Survey.all.count) }
            play(RandomHome(number: number, isOneWeak: isOneWeak), Survey.all, from: 0)
        }
        printTables()
    }

    private func printTables() {
        for kind in Self.kinds.indices { printTable(of: kind) }
        print("")
        fflush(nil)
    }

    private mutating func play(_ home: RandomHome, _ surveys: [Survey], from first: Int) {
        let worn = home.nodePeriod == nil ? 0 : 1
        for use in Self.uses.indices {
            for (index, survey) in surveys.enumerated() where Self.uses[use].use == nil || survey.isPlayedTrained {
                let reports = home.reports(of: home.trials, trainedBy: Self.uses[use].use, tuning, knowing: survey)
                let scored = zip(home.trials, reports).map { ($0.isWorn, SessionScore($0.session, $1)) }
                for (kind, isWorn) in [(worn, true), (2, false)] {
                    scores[kind][use][first + index].append(Score(sessions: scored.filter { $0.0 == isWorn }.map(\.1)))
                }
            }
        }
    }

    private func printTable(of kind: Int) {
        let count = scores[kind][0][0].count
        guard count > 0 else { return }
        print(
            "\n\(Self.kinds[kind]): \(count) homes\(isOneWeak ? ", 10 dB taken from one receiver" : ""); time right: mean, "
                + "worst tenth, difference of the mean [5 to 95 % of \(Bootstrap.draws) draws of homes]; false changes per tag-day"
        )
        for use in Self.uses.indices {
            let base = scores[kind][use][isOneWeak ? Survey.all.count : 0].map(\.right)
            if isOneWeak {
                printRow(Self.uses[use].name, "without the loss", scores[kind][use][Survey.all.count], base)
            }
            for (index, survey) in Survey.all.enumerated() where !scores[kind][use][index].isEmpty {
                printRow(Self.uses[use].name, survey.name, scores[kind][use][index], base)
            }
        }
    }

    private func printRow(_ use: String, _ survey: String, _ scores: [Score], _ base: [Double]) {
        func mean(_ values: some Collection<Double>) -> Double { values.reduce(0, +) / Double(max(1, values.count)) }
        let right = scores.map(\.right)
        let sorted = right.sorted()
        let differences = zip(right, base).map(-)
        let interval = Bootstrap.interval(of: differences) { mean($0) }
        let texts = [
            use, survey, "\(fixed(mean(right), 3)) \(fixed(mean(sorted.prefix((sorted.count + 9) / 10)), 3))",
            "\(fixed(mean(differences), 3)) [\(fixed(interval.0, 3)) \(fixed(interval.1, 3))]",
            fixed(mean(scores.map { $0.falsePerHour * 24 }), 0),
        ]
        print(Table.columns(texts, widths: [16, 20, 15, 25, 0]))
    }
}
