import Glibc
import RoomRules
import Rooms

/// What each tuned constant is good for: the engine without it, beside the engine with it, on recordings and random homes.
///
/// Each difference is paired: the same session or the same home, with and without. Its interval is that of the mean of such
/// differences, if sessions or homes are drawn again.
struct Ablation {
    /// The engine with one constant changed.
    private struct Variant {
        var constant: Constant
        var value: Float
        var tuning: RoomTuning
    }

    /// What is compared. `falsePerDay` is in false changes per tag and day.
    private struct Figures {
        var right: Double
        var falsePerDay: Double

        init(_ scores: [SessionScore]) {
            let score = Score(sessions: scores)
            (right, falsePerDay) = (score.right, score.falsePerHour * 24)
        }
    }

    /// One column: figures of sessions or homes, of the engine as it is and of each variant.
    private struct Column {
        var name: String
        var whole: [Figures] = []
        var changed: [[Figures]]
    }

    private static let uses: [(name: String, use: EngineRun.Use?)] = [
        ("untrained", nil), ("walk", .walk), ("week", .unlabelled),
    ]
    /// The tables are printed again after so many homes, so that a run that is ended early was not in vain.
    private static let period: UInt64 = 10

    private let recordings: [Home]
    private let variants: [Variant]
    private var columns: [Column] = []

    init(recordings: [Home]) {
        self.recordings = recordings
        let tuning = RoomTuning()
        variants = Constant.all.flatMap { constant in
            constant.values(in: tuning).map { value in
                var other = tuning
                constant.set(&other, value)
                return Variant(constant: constant, value: value, tuning: other)
            }
        }
    }

    mutating func run(homes: Range<UInt64>) {
        for recording in recordings { for (name, use) in Self.uses { play(recording, name, use) } }
        printTable("recordings: \(recordings.map(\.name).joined(separator: ", "))")
        columns = []
        for number in homes {
            let random = RandomHome(number: number)
            for (name, use) in Self.uses { play(random, name, use) }
            let count = number - homes.lowerBound + 1
            if count % Self.period == 0 || number == homes.upperBound - 1 {
                printTable("random homes \(homes.lowerBound) to \(number)")
            }
        }
    }

    /// Each session after a training by the others.
    private mutating func play(_ home: Home, _ name: String, _ use: EngineRun.Use?) {
        func figures(_ tuning: RoomTuning) -> [Figures] {
            home.sessions.indices.map { index in
                var run = EngineRun(home, tuning)
                if let use {
                    for other in home.sessions.indices where other != index { run.play(home.sessions[other], as: use) }
                }
                return Figures([SessionScore(home.sessions[index], run.play(home.sessions[index], as: .test))])
            }
        }
        add(figures(RoomTuning()), to: name, variants.map { figures($0.tuning) })
    }

    private mutating func play(_ random: RandomHome, _ name: String, _ use: EngineRun.Use?) {
        func figures(_ tuning: RoomTuning) -> [[SessionScore]] {
            let scores = zip(random.trials, random.reports(of: random.trials, trainedBy: use, tuning)).map {
                ($0.isWorn, SessionScore($0.session, $1))
            }
            return [true, false].map { isWorn in scores.filter { $0.0 == isWorn }.map(\.1) }
        }
        let whole = figures(RoomTuning())
        let changed = variants.map { figures($0.tuning) }
        for (index, kind) in ["worn", "still"].enumerated() {
            add([Figures(whole[index])], to: "\(kind), \(name)", changed.map { [Figures($0[index])] })
        }
    }

    private mutating func add(_ whole: [Figures], to name: String, _ changed: [[Figures]]) {
        let index = columns.firstIndex { $0.name == name } ?? columns.endIndex
        if index == columns.endIndex { columns.append(Column(name: name, changed: variants.map { _ in [] })) }
        columns[index].whole += whole
        for variant in variants.indices { columns[index].changed[variant] += changed[variant] }
    }

    // MARK: Table

    /// A line for each variant and column in which it differs, with the interval of both differences.
    private func printTable(_ title: String) {
        print("\n\(title); differences from the engine as it is, mean [5 to 95 % of \(Bootstrap.draws) draws]")
        for column in columns {
            print(
                "\(column.name): \(column.whole.count), time right \(fixed(mean(column.whole.map(\.right)), 3))"
                    + ", false per tag-day \(fixed(mean(column.whole.map(\.falsePerDay)), 1))")
        }
        for (index, variant) in variants.enumerated() {
            let head = "\(variant.constant.name)\t\(variant.constant.get(RoomTuning()))\t\(variant.value)"
            for column in columns {
                let right = zip(column.changed[index], column.whole).map { $0.right - $1.right }
                let wrong = zip(column.changed[index], column.whole).map { $0.falsePerDay - $1.falsePerDay }
                guard right.contains(where: { $0 != 0 }) || wrong.contains(where: { $0 != 0 }) else { continue }
                print("\(head)\t\(column.name)\t\(text(of: right, 4))\t\(text(of: wrong, 1))")
            }
        }
        fflush(nil)
    }

    /// A star where the interval does not contain 0.
    private func text(of differences: [Double], _ digits: Int) -> String {
        let interval = Bootstrap.interval(of: differences, mean)
        let isClear = interval.0 > 0 || interval.1 < 0
        return
            "\(fixed(mean(differences), digits)) [\(fixed(interval.0, digits)) \(fixed(interval.1, digits))]\(isClear ? " *" : "")"
    }

    private func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
}
