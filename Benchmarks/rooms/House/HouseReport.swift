import Glibc
import RoomRules
import Rooms

/// The figures of the issue's acceptance points 2 to 4, from the simulated house.
struct HouseReport {
    let hours: Double
    let tuning: RoomTuning
    let noise: NoiseFit

    var seed: UInt64 = 1919
    /// Beacon intervals of ten tags: five worn, five still.
    private static let tags: [(Double, isWorn: Bool)] = [
        (0.1, true), (0.5, true), (1, true), (2, true), (5, true),
        (0.2, false), (1, false), (1, false), (2, false), (10, false),
    ]

    func printHead() {
        print(
            "simulated house: 3 floors, 8 rooms and gateways, 10 tags, seed \(seed); noise from flat-rooms: "
                + "\(fixed(noise.fast, 1)) dB fast, \(fixed(noise.slow, 1)) dB slow, \(fixed(noise.missed * 100, 0)) % missed"
        )
        fflush(nil)
    }

    private func house(_ tags: [(Double, isWorn: Bool)], _ tuning: RoomTuning, seed: UInt64) -> SimulatedHouse {
        SimulatedHouse(noise, seed: seed, tuning: tuning, intervals: tags)
    }

    // MARK: Acceptance 2 and 3

    func printLife() {
        var house = house(Self.tags, tuning, seed: seed)
        house.trainWalk(tag: 2)
        house.measure(hours: hours, fails: true, leavesHome: true)
        print("\nafter one walk, \(fixed(hours, 0)) virtual hours, in which \(house.failures.count) gateways fail")
        print(
            "interval (s)        time right  delay p50, p90 (s)  changes  never  false per tag-day  in failures  false away  away after p50, most (s)"
        )
        var lives: [(TagLife, isWorn: Bool)] = []
        for (index, (interval, isWorn)) in Self.tags.enumerated() {
            let life = TagLife(
                house.tags[index].stays, house.reports[index], house.failures, house.departures[index])
            lives.append((life, isWorn))
            let texts = [
                fixed(interval, 1) + (isWorn ? ", worn" : ", still"), fixed(life.right, 3),
                "\(fixed(percentile(0.5, of: life.delays), 1)), \(fixed(percentile(0.9, of: life.delays), 1))",
                String(life.changes), String(life.never), fixed(Double(life.falseChanges) / hours * 24, 2),
                String(life.falseInFailures), String(life.falseAway),
                "\(fixed(percentile(0.5, of: life.awayDelays), 0)), \(fixed(life.awayDelays.last ?? .nan, 0))",
            ]
            print(Table.columns(texts, widths: [20, 12, 20, 9, 7, 19, 13, 12, 0]))
        }
        for isWorn in [true, false] {
            let some = lives.filter { $0.isWorn == isWorn }.map(\.0)
            let (dead, hoursDead) = (
                some.map(\.falseInDeadRooms).reduce(0, +), some.map(\.hoursInDeadRooms).reduce(0, +)
            )
            let all = Double(some.map(\.falseChanges).reduce(0, +))
            let right = some.map(\.rightInFailures).reduce(0, +) / Double(some.count)
            print(
                "\(isWorn ? "worn" : "still") tags that were in the room of a gateway that failed: \(dead) false changes in "
                    + "\(fixed(hoursDead, 1)) h, \(fixed(Double(dead) / hoursDead, 2)) per hour; always "
                    + "\(fixed(all / hours / Double(some.count), 2)); time right while a gateway failed \(fixed(right, 3))"
            )
        }
        let excess = lives.flatMap(\.0.awayExcess).sorted()
        print(
            "away, after the leave timeout of the slowest gateway: \(excess.count) times, p50 "
                + "\(fixed(percentile(0.5, of: excess), 1)) s, most \(excess.suffix(8).map { fixed($0, 1) }.joined(separator: " ")) s"
        )
        let deaf = house.failures.filter(\.isDeaf)
        let found = deaf.compactMap { failure in failure.found.map { $0 - failure.from } }.sorted()
        print("engine: \(fixed(house.engineTime / Double(house.readings) * 1e6, 2)) µs per reading")
        print("deaf gateways: \(deaf.count), found: \(found.count), after at most \(fixed(found.last ?? .nan, 0)) s")
    }

    // MARK: Floors, and gateways that hear each other

    /// The same life without and with what the service can be told of the house: worn tags alone, untrained and after a walk.
    func printFloors() {
        print(
            "\n\(fixed(hours, 0)) virtual hours of the worn tags: time right, false per tag-day, wrong floor and late part of it (%)"
        )
        for walks in [false, true] {
            for hears in [false, true] {
                for floors in FloorKnowledge.allCases { printRow(afterWalk: walks, hearsGateways: hears, floors) }
            }
        }
    }

    private func printRow(afterWalk walks: Bool, hearsGateways hears: Bool, _ floors: FloorKnowledge) {
        var house = SimulatedHouse(
            noise, seed: seed, tuning: tuning, intervals: Self.tags.filter(\.isWorn), floors: floors,
            hearsGateways: hears)
        if walks { house.trainWalk(tag: 2) }
        house.measure(hours: hours, fails: false, leavesHome: false)
        let (right, falsePerHour) = house.means(hours: hours)
        let shares = house.tags.indices.map { FloorShare(house.tags[$0].stays, house.reports[$0], house.plan) }
        let count = Double(shares.count)
        let texts = [
            walks ? "after a walk" : "untrained", hears ? "gateways hear each other" : "", floors.rawValue,
            fixed(right, 3), fixed(falsePerHour * 24, 0), fixed(shares.reduce(0) { $0 + $1.wrong } / count * 100, 2),
            fixed(shares.reduce(0) { $0 + $1.late } / count * 100, 2),
        ]
        print(Table.columns(texts, widths: [14, 26, 20, 7, 6, 7, 0]))
        fflush(nil)
    }

    // MARK: Acceptance 4

    func printTraining() {
        let tags: [(Double, isWorn: Bool)] = [(1, true), (1, true)]
        var unlearning = tuning
        unlearning.observation.ownTrust = 0
        unlearning.learning.ownExit = 0
        unlearning.learning.learnProbability = 2
        print("\ntime right, false changes per hour of two worn tags, 24 h each")
        for seed in [seed, 7, 12] {
            let untrained = day(unlearning, seed) { _ in }
            let selfTrained = day(tuning, seed) { $0.run(hours: 168, fails: false, leavesHome: false) }
            let walked = day(tuning, seed) { $0.trainWalk(tag: 0) }
            let gain = (selfTrained.right - untrained.right) / (walked.right - untrained.right)
            print(
                "untrained \(fixed(untrained.right, 3)), \(fixed(untrained.falsePerHour, 2)); after a week by itself "
                    + "\(fixed(selfTrained.right, 3)), \(fixed(selfTrained.falsePerHour, 2)); after a walk "
                    + "\(fixed(walked.right, 3)), \(fixed(walked.falsePerHour, 2)); share of the gain \(fixed(gain, 2))"
            )
        }

        func day(_ tuning: RoomTuning, _ seed: UInt64, _ prepare: (inout SimulatedHouse) -> Void) -> (
            right: Double, falsePerHour: Double
        ) {
            var house = house(tags, tuning, seed: seed)
            prepare(&house)
            house.measure(hours: 24, fails: false, leavesHome: false)
            return house.means(hours: 24)
        }
    }
}

extension SimulatedHouse {
    /// Lives for an hour, and then for those that are measured.
    fileprivate mutating func measure(hours: Double, fails: Bool, leavesHome: Bool) {
        run(hours: 1, fails: false, leavesHome: false)
        beginMeasurement()
        run(hours: hours, fails: fails, leavesHome: leavesHome)
    }

    /// The share of the time right, and the false changes in an hour, mean of all tags.
    fileprivate func means(hours: Double) -> (right: Double, falsePerHour: Double) {
        let lives = tags.indices.map { TagLife(tags[$0].stays, reports[$0], []) }
        let count = Double(lives.count)
        return (
            lives.reduce(0) { $0 + $1.right } / count,
            Double(lives.reduce(0) { $0 + $1.falseChanges }) / hours / count
        )
    }
}
