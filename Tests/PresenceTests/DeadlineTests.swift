import Base
import Beacon
import Regions
import Testing

@testable import Presence

/// Deadlines come from a queue; the reference looks at everybody.
@Suite struct DeadlineTests {
    @Test(arguments: 1...20)
    func `The queue gives the deadlines in their order`(seed: Int) {
        var random = Random(UInt64(seed))
        var queue = DeadlineQueue()
        var reference: [Int64] = []
        for _ in 0..<2000 {
            if random.unit() < 0.6 {
                let deadline = Int64.random(in: 0..<1000, using: &random)
                queue.insert(Int(deadline) + 1, at: deadline)
                reference.append(deadline)
            } else {
                let end = Int64.random(in: 0..<500, using: &random)
                let first = queue.removeFirst(until: end)
                let expected = reference.min().flatMap { $0 <= end ? $0 : nil }
                #expect(first?.deadline == expected)
                #expect(first.map { Int64($0.place) - 1 } == expected)
                if let expected, let index = reference.firstIndex(of: expected) { reference.remove(at: index) }
            }
            #expect(queue.earliest == reference.min() ?? .max)
            #expect(queue.count == reference.count)
        }
    }

    private struct Step {
        let seconds: Double
        let input: PresenceEngine.Input
    }

    /// Beacons of many rhythms that come and go, at receivers that pause, with all else that moves deadlines.
    private static func run(_ random: inout Random) -> [Step] {
        var steps: [Step] = []
        let intervals = (0..<12).map { _ in 0.1 + 6 * random.unit() * random.unit() }
        var next = intervals
        var present = intervals.map { _ in true }
        var listening = [true, true]
        for tenth in 1...2000 {
            let seconds = Double(tenth) / 10
            for number in present.indices {
                if random.unit() < 0.003 { present[number].toggle() }
                guard present[number], next[number] <= seconds else { continue }
                next[number] = seconds + intervals[number]
                for receiver in 0..<2 where listening[receiver] && random.unit() < 0.6 {
                    let rssi = Int8(-60 - Int(random.unit() * 25))
                    steps.append(
                        Step(
                            seconds: seconds,
                            input: .sighting(sighting(UInt16(number), rssi: rssi, receiver: UInt16(receiver)))))
                }
            }
            let receiver = Receiver(index: UInt16(random.unit() * 2))
            let chance = random.unit()
            if chance < 0.003 {
                listening[Int(receiver.index)].toggle()
                steps.append(Step(seconds: seconds, input: .listening(receiver, listening[Int(receiver.index)])))
            } else if chance < 0.004 {
                steps.append(Step(seconds: seconds, input: .scanDuty(receiver, random.unit())))
            } else if chance < 0.005 {
                steps.append(Step(seconds: seconds, input: .slept(.seconds(20 * random.unit()))))
            }
        }
        return steps
    }

    /// The first deadline of all, found by looking at everybody.
    private static func earliest(_ engine: PresenceEngine, _ regions: [MonitoredRegion], at now: MonotonicInstant)
        -> MonotonicInstant?
    {
        regions.flatMap { engine.explain($0.key, at: now) }.compactMap(\.expectedLeave).min()
    }

    @Test(arguments: 1...8)
    func `Everybody leaves at the instant at which looking at everybody finds the leave due`(seed: Int) {
        let regions = [
            region("auto"), region("one", minor: 1), region("fixed", minor: 2, leave: .after(.seconds(7))),
            region("-long", major: 1, leavesLater: true),
            region("near", minor: 3, enterRSSI: -68, leaveRSSI: -76),
        ].filter { seed.isMultiple(of: 2) || $0.enterRSSI == nil }
        var random = Random(UInt64(seed))
        var simulation = Simulation(regions, receivers: [0, 1])
        var reference = Simulation(regions, receivers: [0, 1])
        for step in Self.run(&random) + [Step(seconds: 5000, input: .tick)] {
            simulation.run(to: step.seconds)
            simulation.handle(step.input)
            while let due = Self.earliest(reference.engine, regions, at: at(reference.now)), due <= at(step.seconds) {
                reference.now = max(reference.now, Double(due.nanoseconds) / 1e9)
                // A sleep of zero makes the engine check all beacons.
                reference.record(reference.engine.handle(.slept(.zero), at: due))
            }
            reference.now = step.seconds
            reference.handle(.slept(.zero))
            reference.handle(step.input)
        }
        #expect(simulation.events == reference.events)
        #expect(simulation.leaves.count > 3)
    }

    @Test func `A crowd that is heard again and again wakes the gateway once a second at most`() {
        var simulation = Simulation([region("all", leave: .after(.seconds(30)))])
        var ticks = 0
        // Each of 200 beacons every two seconds, at an instant of its own.
        for step in 0..<20_000 {
            let seconds = Double(step) / 100
            while let due = simulation.engine.nextDeadline, due <= at(seconds) {
                ticks += 1
                simulation.run(to: Double(due.nanoseconds) / 1e9)
            }
            simulation.hear(sighting(UInt16(step % 200)), at: seconds)
        }
        #expect(simulation.leaves.isEmpty)
        #expect(ticks <= 200)
    }

    @Test func `Leaves that one late tick finds come in the order in which the beacons were first heard`() {
        let regions = [
            region("long", minor: 1, leave: .after(.seconds(30))),
            region("short", minor: 2, leave: .after(.seconds(5))),
        ]
        var simulation = Simulation(regions)
        simulation.hear(sighting(1), at: 1)
        simulation.hear(sighting(2), at: 2)
        let effects = simulation.engine.handle(.tick, at: at(100))
        #expect(
            effects == [
                .left(key("long"), last: beacon(1), because: .silence),
                .left(key("short"), last: beacon(2), because: .silence),
            ])
    }

    @Test func `Entries that hold no more are bounded`() {
        var random = Random(5)
        var simulation = Simulation([region("a")])
        // Bursts and pauses: the leave timeout jumps.
        for _ in 0..<3000 { simulation.hear(at: simulation.now + (random.unit() < 0.1 ? 70 * random.unit() : 0.1)) }
        #expect(simulation.engine.queue.count <= 2 + 64)
    }

    @Test func `A receiver that is found to listen by what it hears moves deadlines at once`() {
        let regions = [region("a", leave: .after(.seconds(10)))]
        var before = Simulation(regions, receivers: [1])
        before.hear(sighting(1, receiver: 1), at: 1)
        var simulation = Simulation(regions, receivers: [])
        simulation.record(simulation.engine.restore(before.engine.state(at: at(1)), at: at(0)))
        #expect(simulation.engine.nextDeadline == nil)
        simulation.handle(
            .sighting(
                Sighting(
                    beacon: BeaconID(uuid: BeaconUUID(high: 9, low: 9), major: 1, minor: 1),
                    measuredPower: MeasuredPower(dBm: -59),
                    rssi: nil, receiver: Receiver(index: 1))))
        simulation.run(to: 100)
        #expect(simulation.leaves == [10])
    }
}
