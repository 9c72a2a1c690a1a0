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
    private let surveys: [Survey]
    private let isMeasured: Bool
    private let hasNodes: Bool
    private let printsEach: Bool
    /// By kind, use and survey: the score of each home. With `isOneWeak`, the first survey is followed by its score without the loss.
    private var scores: [[[[Score]]]]

    /// - Parameters:
    ///   - isMeasured: Plays what gateways find out themselves, in homes with gateways alone.
    ///   - hasNodes: Plays all homes with nodes.
    init(tuning: RoomTuning, isOneWeak: Bool, isMeasured: Bool, hasNodes: Bool, printsEach: Bool) {
        self.hasNodes = hasNodes
        (self.tuning, self.isOneWeak, self.printsEach) = (tuning, isOneWeak, printsEach)
        (self.isMeasured, surveys) = (isMeasured, isMeasured ? Survey.measured : Survey.all)
        let count = surveys.count + (isOneWeak ? 1 : 0)
        scores = Self.kinds.map { _ in Self.uses.map { _ in [[Score]](repeating: [], count: count) } }
    }

    /// Prints the tables after all homes, and what is known so far after each ten of them: a run takes long.
    mutating func run(homes: Range<UInt64>) {
        for number in homes {
            if number > homes.lowerBound, (number - homes.lowerBound) % 10 == 0 { printTables() }
            let home = RandomHome(number: number, isOneWeak: isOneWeak, hasNodes: hasNodes)
            if isMeasured, !hasNodes, home.nodePeriod != nil { continue }
            if isOneWeak { play(RandomHome(number: number, hasNodes: hasNodes), [Survey()], from: surveys.count) }
            play(home, surveys, from: 0)
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
        let measured =
            surveys.contains { $0.measuresGains || $0.measuresLevels } ? home.measured : SurveyedLevels()
        for use in Self.uses.indices {
            for (index, survey) in surveys.enumerated() where Self.uses[use].use == nil || survey.isPlayedTrained {
                let reports = home.reports(
                    of: home.trials, trainedBy: Self.uses[use].use, tuning, knowing: survey, measured: measured)
                let scored = zip(home.trials, reports).map { ($0.isWorn, SessionScore($0.session, $1)) }
                for (kind, isWorn) in [(worn, true), (2, false)] {
                    let score = Score(sessions: scored.filter { $0.0 == isWorn }.map(\.1))
                    scores[kind][use][first + index].append(score)
                    guard printsEach else { continue }
                    print(
                        "each\t\(home.number)\t\(kind)\t\(use)\t\(first + index)\t\(score.right)\t\(score.falsePerHour * 24)"
                    )
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
            let base = scores[kind][use][isOneWeak ? surveys.count : 0].map(\.right)
            if isOneWeak {
                printRow(Self.uses[use].name, "without the loss", scores[kind][use][surveys.count], base)
            }
            for (index, survey) in surveys.enumerated() where !scores[kind][use][index].isEmpty {
                printRow(
                    Self.uses[use].name, survey.name, scores[kind][use][index], base,
                    gains: isMeasured ? scores[kind][use][Survey.measuredGains].map(\.right) : nil)
            }
        }
    }

    /// - Parameter gains: What measured gains alone come to, from which the difference is printed, too; nil: not.
    private func printRow(
        _ use: String, _ survey: String, _ scores: [Score], _ base: [Double], gains: [Double]? = nil
    ) {
        func mean(_ values: some Collection<Double>) -> Double { values.reduce(0, +) / Double(max(1, values.count)) }
        let right = scores.map(\.right)
        let sorted = right.sorted()
        func difference(from base: [Double]) -> String {
            let differences = zip(right, base).map(-)
            let interval = Bootstrap.interval(of: differences) { mean($0) }
            return "\(fixed(mean(differences), 3)) [\(fixed(interval.0, 3)) \(fixed(interval.1, 3))]"
        }
        let texts = [
            use, survey, "\(fixed(mean(right), 3)) \(fixed(mean(sorted.prefix((sorted.count + 9) / 10)), 3))",
            difference(from: base), fixed(mean(scores.map { $0.falsePerHour * 24 }), 0),
            gains.map { "from measured gains \(difference(from: $0))" } ?? "",
        ]
        print(Table.columns(texts, widths: [16, 20, 15, 25, 6, 0]))
    }
}
