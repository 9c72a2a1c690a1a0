import Beacon
import Presence
import Regions
import Testing

/// A random run: several beacons that come and go at two receivers which pause now and then.
private func randomRun(_ seed: UInt64) -> [(seconds: Double, input: PresenceEngine.Input)] {
    var random = Random(seed)
    var inputs: [(seconds: Double, input: PresenceEngine.Input)] = []
    var present = [true, true, true, true]
    var listening = [true, true]
    for step in 1...4000 {
        let seconds = Double(step) * 0.5
        for number in present.indices {
            if random.unit() < 0.002 { present[number].toggle() }
            for receiver in 0..<2 where present[number] && listening[receiver] && random.unit() < 0.6 {
                let rssi = Int8(-60 - 10 * receiver - Int(random.unit() * 20))
                let heard = sighting(UInt16(number), rssi: rssi, receiver: UInt16(receiver))
                inputs.append((seconds, .sighting(heard)))
            }
        }
        for receiver in 0..<2 where random.unit() < 0.003 {
            listening[receiver].toggle()
            inputs.append((seconds, .listening(Receiver(index: UInt16(receiver)), listening[receiver])))
        }
    }
    return inputs
}

private let regions = [
    region("auto"), region("one", minor: 1), region("fixed", minor: 2, leave: .after(.seconds(7))),
    region("near", minor: 3, enterRSSI: -68, leaveRSSI: -76),
]

@Suite("Properties")
struct PropertyTests {
    @Test("Enter and leave alternate in every region, and isOccupied agrees", arguments: 1...20)
    func alternate(seed: Int) {
        var simulation = Simulation(regions, receivers: [0, 1])
        var inside: Set<RegionKey> = []
        var seen = 0
        for (seconds, input) in randomRun(UInt64(seed)) {
            simulation.run(to: seconds)
            simulation.handle(input)
            for event in simulation.events[seen...] {
                switch event.change {
                case .entered(let key): #expect(inside.insert(key).inserted)
                case .left(let key): #expect(inside.remove(key) != nil)
                case .dropped: Issue.record("there is room for all")
                }
            }
            seen = simulation.events.count
            for region in regions { #expect(simulation.engine.isOccupied(region.key) == inside.contains(region.key)) }
        }
        #expect(seen > 0)
    }

    @Test("No learned leave comes without silence of at least the floor, nor after the cap", arguments: 1...20)
    func floorAndCap(seed: Int) {
        var random = Random(UInt64(seed))
        var simulation = Simulation([region("auto")])
        var last = 0.0
        var leaves = 0
        for _ in 1...2000 {
            let next = simulation.now + 0.02 + random.unit() * random.unit() * random.unit() * 200
            simulation.run(to: next.nextDown)
            for leave in simulation.leaves.dropFirst(leaves) {
                #expect(leave - last >= Double(PresenceTiming.floorSeconds))
                #expect(leave - last <= Double(PresenceTiming.capSeconds))
            }
            leaves = simulation.leaves.count
            simulation.hear(at: next)
            last = next
        }
    }

    // Without thresholds: with them, a level that crosses is dated by the sighting that was told first, which
    // differs if two receivers hear a beacon in the very same nanosecond.
    @Test("The order of simultaneous sightings changes nothing", arguments: 1...10)
    func permuted(seed: Int) {
        var random = Random(UInt64(seed) + 100)
        let run = randomRun(UInt64(seed))
        let regions = regions.filter { $0.enterRSSI == nil }
        var plain = Simulation(regions, receivers: [0, 1])
        var shuffled = Simulation(regions, receivers: [0, 1])
        for instant in Dictionary(grouping: run, by: \.seconds).sorted(by: { $0.key < $1.key }) {
            var sightings = instant.value.filter { if case .sighting = $0.input { true } else { false } }
            let rest = instant.value.filter { if case .sighting = $0.input { false } else { true } }
            plain.run(to: instant.key)
            shuffled.run(to: instant.key)
            for (_, input) in sightings { plain.handle(input) }
            sightings.shuffle(using: &random)
            for (_, input) in sightings { shuffled.handle(input) }
            for (_, input) in rest {
                plain.handle(input)
                shuffled.handle(input)
            }
            #expect(Set(plain.events) == Set(shuffled.events))
            plain.events.removeAll()
            shuffled.events.removeAll()
        }
        let states = [plain, shuffled].map { Set($0.engine.state(at: at($0.now)).beacons.map(Bare.init)) }
        #expect(states[0] == states[1])
    }

    /// A beacon's state without the order in which its receivers first heard it.
    private struct Bare: Hashable {
        let beacon: UInt16
        let links: Set<PresenceState.Link>
        let joint: PresenceState.Joint?
        let memberships: [PresenceState.Membership]

        init(_ state: PresenceState.Beacon) {
            beacon = state.minor
            links = Set(state.links)
            joint = state.joint
            // A level that wavers is told on the clock of the receiver that heard it last.
            memberships = state.memberships.filter(\.isNear).map {
                var membership = $0
                membership.crossingTime = nil
                membership.receiver = 0
                return membership
            }
        }
    }

    @Test("Splitting a run by save and restore changes nothing", arguments: 1...10)
    func saveAndRestore(seed: Int) {
        let run = randomRun(UInt64(seed))
        var whole = Simulation(regions, receivers: [0, 1])
        var split = Simulation(regions, receivers: [0, 1])
        var listening = [true, true]
        for (number, (seconds, input)) in run.enumerated() {
            if case .listening(let receiver, let isListening) = input { listening[Int(receiver.index)] = isListening }
            whole.run(to: seconds)
            split.run(to: seconds)
            whole.handle(input)
            split.handle(input)
            guard number % 97 == 0 else { continue }
            let state = split.engine.state(at: at(split.now))
            split.engine = PresenceEngine()
            split.handle(.regions(regions))
            for receiver in 0..<2 { split.handle(.listening(Receiver(index: UInt16(receiver)), listening[receiver])) }
            split.record(split.engine.restore(state, at: at(split.now)))
            #expect(split.engine.state(at: at(split.now)) == state)
        }
        whole.run(to: 3000)
        split.run(to: 3000)
        #expect(whole.events == split.events)
    }

    @Test("Who was inside a region that is no more when the state is restored leaves it")
    func restoredWithoutRegion() {
        var simulation = Simulation([region("a"), region("b")])
        simulation.hear(at: 1)
        let state = simulation.engine.state(at: at(1))
        var other = Simulation([region("b")])
        other.record(other.engine.restore(state, at: at(0)))
        #expect(other.events.map(\.change) == [.left(key("a"))])
        #expect(other.engine.isOccupied(key("b")))
    }

    @Test("Time in which the process did not run is no silence")
    func restoredLater() {
        var random = Random(1)
        var simulation = Simulation([region("a")])
        simulation.advertise(every: 0.5, until: 60, &random)
        let state = simulation.engine.state(at: at(simulation.now))
        var later = Simulation([region("a")])
        later.now = 100_000
        later.record(later.engine.restore(state, at: at(later.now)))
        later.advertise(every: 0.5, until: 100_060, &random)
        #expect(later.events.isEmpty)
        #expect(later.engine.isOccupied(key("a")))
    }
}
