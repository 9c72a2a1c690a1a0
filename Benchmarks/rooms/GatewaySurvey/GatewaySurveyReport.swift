import Base
import Glibc
import RoomRules
import Rooms

/// Which gateways of random homes are named as moved or covered: those that were, how soon, and those that were not.
struct GatewaySurveyReport {
    private struct Outcome {
        var events = 0
        /// Minutes until the right gateway was named.
        var named: [Int] = []
        /// Named as moved, and not as covered, or the reverse.
        var otherKind = 0
    }

    private static let kinds: [(LinkedHome.Event, String)] = [
        (.movedToAnotherRoom, "moved to another room"), (.movedInTheRoom, "moved by 2 m and more in its room"),
        (.covered, "covered, 10 dB"),
    ]
    /// The event happens on the third or the fourth day, and is watched for a day.
    private static let quietDays = 3

    let tuning: LevelSurveyTuning
    let printsEach: Bool
    /// The receivers are nodes, each home's with a message every so many seconds as in `RandomHome`.
    let hasNodes: Bool
    private var outcomes = [Outcome](repeating: Outcome(), count: kinds.count)
    /// Wrong names, by kind, and for how long they stood, minutes.
    private var wrong: [String: Int] = [:]
    private var wrongMinutes = 0
    private var quietMinutes = 0
    private var homesWithWrong = 0
    private var alone = 0

    init(tuning: LevelSurveyTuning, printsEach: Bool, hasNodes: Bool) {
        (self.tuning, self.printsEach, self.hasNodes) = (tuning, printsEach, hasNodes)
    }

    mutating func run(homes: Range<UInt64>) {
        for number in homes { play(number) }
        printTable(homes.count)
    }

    private mutating func play(_ number: UInt64) {
        var home = LinkedHome(number: number)
        var survey = LevelSurvey(tuning: tuning)
        let names = (0..<home.count).map { "gateway\($0)" }
        let period = hasNodes ? RandomHome.nodePeriod(number: number) : nil
        let wrongBefore = wrong.values.reduce(0, +)
        var standing: Set<String> = []
        for minute in 0..<Self.quietDays * 1440 {
            pass(&home, &survey, names, period)
            quietMinutes += 1
            let changes = survey.changes
            for change in changes where !standing.contains(change.gateway) {
                wrong["\(change.kind)", default: 0] += 1
                if printsEach {
                    print(
                        "each\t\(number)\twrong\t\(change.gateway)\t\(change.kind)\t\(change.deviating) of \(change.neighbours)\t\(change.decibels) dB\tminute \(minute)"
                    )
                }
            }
            wrongMinutes += changes.count
            standing = Set(changes.map(\.gateway))
        }
        if wrong.values.reduce(0, +) > wrongBefore { homesWithWrong += 1 }
        // With two gateways nothing tells which one it was.
        guard home.count > 2 else { return alone += 1 }
        for (index, kind) in Self.kinds.enumerated() {
            var (home, survey) = (home, survey)
            var random = Random(seed: number &* 7 &+ UInt64(index))
            for _ in 0..<random.below(1440) { pass(&home, &survey, names, period) }
            let gateway = random.below(home.count)
            // What was wrong before is counted above.
            guard !survey.changes.contains(where: { $0.gateway == names[gateway] }) else { continue }
            let before = home.heard(of: gateway)
            home.happen(kind.0, to: gateway)
            let changes = home.heard(of: gateway).map { $0.value - before[$0.key, default: $0.value] }
            outcomes[index].events += 1
            let namedBefore = outcomes[index].named.count
            for minute in 1...1440 {
                pass(&home, &survey, names, period)
                guard let change = survey.changes.first(where: { $0.gateway == names[gateway] }) else { continue }
                outcomes[index].named.append(minute)
                if (change.kind == .covered) != (kind.0 == .covered) { outcomes[index].otherKind += 1 }
                break
            }
            if printsEach {
                let named = outcomes[index].named.count > namedBefore ? outcomes[index].named.last : nil
                print(
                    "each\t\(number)\t\(kind.1)\t\(names[gateway]) of \(home.count)\t\(named ?? -1)\t"
                        + changes.filter { $0 != 0 }.sorted().map { fixed($0, 0) }.joined(separator: " "))
            }
        }
    }

    private func pass(_ home: inout LinkedHome, _ survey: inout LevelSurvey, _ names: [String], _ period: Double?) {
        let now = MonotonicInstant(nanoseconds: Int64(home.minute) * 60_000_000_000)
        func hear(_ sender: Int, _ receiver: Int, _ level: Double) {
            survey.hear(sender: names[sender], receiver: names[receiver], level: Float(level), at: now)
        }
        if let period {
            home.pass(asNodesWith: period, hear)
        } else {
            home.pass { sender, receiver, level, _ in hear(sender, receiver, level) }
        }
        survey.tick(at: now)
    }

    private func printTable(_ count: Int) {
        let days = Double(quietMinutes) / 1440
        print(
            "\(count) homes, \(fixed(days, 0)) days in which nothing happened (\(alone) homes with two gateways or fewer)"
        )
        for (kind, count) in wrong.sorted(by: { $0.key < $1.key }) { print("wrongly \(kind): \(count)") }
        print(
            "homes with a wrong name: \(homesWithWrong); wrong names in 300 days: \(fixed(Double(wrong.values.reduce(0, +)) / days * 300, 1)); "
                + "minutes of them: \(wrongMinutes)")
        for (index, kind) in Self.kinds.enumerated() {
            let outcome = outcomes[index]
            let soon = outcome.named.count { $0 <= 10 }
            let later = outcome.named.map(Double.init).sorted()
            print(
                "\(kind.1): \(outcome.events) events, named within ten minutes \(soon), within six hours \(outcome.named.count { $0 <= 360 }), within a day \(outcome.named.count); "
                    + "as the other kind \(outcome.otherKind); minutes p50 \(fixed(percentile(0.5, of: later), 0))")
        }
    }
}
