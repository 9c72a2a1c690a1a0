import Beacon
import Regions
import Testing

@testable import Presence

@Suite struct StateBytesTests {
    private static let regions = [region("all"), region("one", major: 1, minor: 1)]

    /// An engine that has learned something of `beacons` beacons at two receivers.
    private func learned(beacons: Int = 3) -> Simulation {
        var random = Random(7)
        var simulation = Simulation(Self.regions, receivers: [0, 1])
        for second in 1...120 {
            for minor in 1...UInt16(beacons) where random.unit() < 0.6 {
                let sighting = sighting(minor, rssi: Int8(-50 - second % 30), receiver: UInt16(minor % 2))
                simulation.hear(sighting, at: Double(second) + Double(minor) / 100)
            }
            // It listened for the first half only.
            if second == 60 { simulation.handle(.listening(Receiver(index: 1), false)) }
        }
        return simulation
    }

    @Test func `What is read is what was written`() {
        let simulation = learned()
        let state = simulation.engine.state(at: at(simulation.now))
        #expect(state.beacons.count == 3)
        #expect(PresenceState(bytes: state.bytes) == state)
        for most in [0, 1, .max] {
            let now = at(simulation.now)
            let bytes = simulation.engine.state(at: now, mostAbsent: most).bytes
            #expect(simulation.engine.stateBytes(at: now, mostAbsent: most) == bytes, "whichever way it is written")
        }
        let empty = PresenceEngine().state(at: at(0))
        #expect(PresenceState(bytes: empty.bytes) == empty)
    }

    @Test func `A beacon at one receiver takes about 150 bytes`() {
        let bytes = learned(beacons: 100).engine.state(at: at(121)).bytes.count
        #expect((100...16_000).contains(bytes - 5), "\(bytes)")
    }

    @Test func `Bytes that end early, go on, or are of another version are no state`() {
        let bytes = learned().engine.state(at: at(121)).bytes
        for count in 0..<bytes.count { #expect(PresenceState(bytes: Array(bytes[..<count])) == nil) }
        #expect(PresenceState(bytes: bytes + [0]) == nil)
        #expect(PresenceState(bytes: [5] + bytes.dropFirst()) == nil)
    }

    @Test func `What was written before slow-downs were kept is read as without any`() {
        var state = learned(beacons: 1).engine.state(at: at(121))
        #expect(state.absences.count == 1)
        for keepsAbsences in [true, false] {
            if !keepsAbsences { state.absences = [] }
            // A list without UUIDs ends the state. Four bytes end the model, then comes the absence of a joint model, and
            // the memberships.
            var bytes = Array(state.bytes.dropLast(4))
            let absences = 4 + 9 * state.absences.count
            let memberships = 4 + state.beacons[0].memberships.reduce(0) { $0 + 4 + 4 + $1.rid.utf8.count + 3 }
            let end = bytes.count - absences - memberships
            bytes.removeSubrange((end - 5)..<end)
            bytes[0] = 2
            if !keepsAbsences {
                bytes.removeLast(4)
                bytes[0] = 1
            }
            #expect(PresenceState(bytes: bytes) == state)
        }
    }

    @Test func `What a version with other constants wrote is read, and brought within those of this one`() throws {
        var writer = StateWriter()
        ArrivalModel(at: 0, rssi: RSSI(reported: -60), duty: 1).put(into: &writer)
        var bytes = writer.finish()
        // Twelve counts, five numbers and two bytes of the trend, and five numbers stand before the leave timeout.
        let offset = 48 + 22 + 20
        bytes.replaceSubrange(
            offset..<(offset + 4), with: withUnsafeBytes(of: Float(0.5).bitPattern.littleEndian, Array.init))
        // The learned duty and the number of gaps follow, then the gaps that make the rhythm known.
        bytes[offset + 10] = 200
        var reader = StateReader(bytes)
        let model = try ArrivalModel(from: &reader, version: 3)
        #expect(model.leaveTimeout == PresenceTiming.floorSeconds)
        #expect(!model.isRhythmKnown)
        var again = StateWriter()
        model.put(into: &again)
        #expect(again.finish()[offset + 10] == PresenceTiming.gapsToKnowRhythm)
    }

    @Test(arguments: 1...8)
    func `Whatever happened to the bytes, an engine can go on from them`(seed: Int) {
        var random = Random(UInt64(seed))
        let bytes = learned().engine.state(at: at(121)).bytes
        var read = 0
        for _ in 0..<1000 {
            var mutated = bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<mutated.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: mutated[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: mutated[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 2: mutated[place] = Bool.random(using: &random) ? 0xff : 0
                default:
                    // The bytes of infinity and NaN, which single bytes seldom hit.
                    for (offset, byte) in ([0, 0, 0x80, 0x7f] as [UInt8]).enumerated()
                    where place + offset < mutated.count {
                        mutated[place + offset] = byte
                    }
                }
            }
            guard let state = PresenceState(bytes: mutated) else { continue }
            read += 1
            #expect(PresenceState(bytes: state.bytes) == state)
            goOn(from: state)
        }
        #expect(read > 100)
    }

    /// All that could trap on a number that cannot be: sightings soon and late, a change of duty, the end.
    private func goOn(from state: PresenceState) {
        var simulation = Simulation(Self.regions, receivers: [0])
        simulation.record(simulation.engine.restore(state, at: at(0)))
        for second in [0.001, 0.5, 1, 1.02, 200, 40_000] { simulation.hear(at: second) }
        simulation.handle(.scanDuty(Receiver(index: 0), 0.01))
        simulation.handle(.listening(Receiver(index: 1), true))
        simulation.hear(sighting(2, receiver: 1), at: 40_001)
        simulation.run(to: 1_000_000)
        _ = simulation.engine.explain(key("all"), at: at(simulation.now))
        _ = simulation.engine.state(at: at(simulation.now)).bytes
    }

    @Test func `Of beacons that are nowhere near, those heard last are kept`() {
        var simulation = Simulation([region("a")])
        for minor in 1...20 { simulation.hear(sighting(UInt16(minor)), at: Double(minor)) }
        simulation.run(to: 1000)
        simulation.hear(sighting(21), at: 1001)
        let state = simulation.engine.state(at: at(1001), mostAbsent: 5)
        #expect(state.beacons.map(\.minor) == [16, 17, 18, 19, 20, 21])
        #expect(simulation.engine.state(at: at(1001), mostAbsent: 0).beacons.map(\.minor) == [21])
    }
}

@Suite struct OrphanTests {
    /// Inside by receivers 0 and 1, kept, and gone on from with receiver 1 taken away.
    private func restored(holding leaveAfter: Int) -> Simulation {
        let regions = [region("a", leave: .after(.seconds(leaveAfter)))]
        var simulation = Simulation(regions, receivers: [0, 1])
        simulation.hear(sighting(1, receiver: 0), at: 1)
        simulation.hear(sighting(1, receiver: 1), at: 1)
        let state = simulation.engine.state(at: at(1))
        var later = Simulation(regions, receivers: [])
        later.record(later.engine.restore(state, at: at(0)))
        return later
    }

    @Test func `An adapter that was removed while the program was down keeps no beacon inside for ever`() {
        var simulation = restored(holding: 60)
        simulation.handle(.listening(Receiver(index: 0), true))
        simulation.run(to: 1000)
        // Its 60 s begin after the 30 s in which it might have come back.
        #expect(simulation.events == [Simulation.Event(change: .left(key("a")), seconds: 90)])
    }

    @Test func `An adapter that comes back late has its say again`() {
        var simulation = restored(holding: 60)
        simulation.handle(.listening(Receiver(index: 0), true))
        simulation.run(to: 80)
        simulation.handle(.listening(Receiver(index: 1), true))
        simulation.run(to: 139)
        #expect(simulation.events.isEmpty)
        simulation.run(to: 1000)
        #expect(simulation.events == [Simulation.Event(change: .left(key("a")), seconds: 140)])
    }

    /// Inside by receiver 1, which then ceases to listen, at 100 s; receiver 0 goes on.
    private func missing(holding leaveAfter: Int) -> Simulation {
        var simulation = Simulation([region("a", leave: .after(.seconds(leaveAfter)))], receivers: [0, 1])
        simulation.hear(sighting(1, receiver: 1), at: 90)
        simulation.run(to: 100)
        simulation.handle(.listening(Receiver(index: 1), false))
        return simulation
    }

    @Test func `An adapter that is removed permanently keeps no beacon inside for ever`() {
        var simulation = missing(holding: 60)
        simulation.run(to: 10_000)
        // It had 50 s of its 60 left, and they begin after the 900 s in which it might have come back.
        #expect(simulation.events.last == Simulation.Event(change: .left(key("a")), seconds: 1050))
    }

    @Test func `Restarts do not prolong the wait for a missing adapter`() {
        var simulation = missing(holding: 60)
        simulation.run(to: 600)
        let state = simulation.engine.state(at: at(600))
        var later = Simulation([region("a", leave: .after(.seconds(60)))], receivers: [0])
        later.handle(.listening(Receiver(index: 1), false))
        later.record(later.engine.restore(state, at: at(0)))
        later.run(to: 10_000)
        #expect(later.events == [Simulation.Event(change: .left(key("a")), seconds: 450)])
    }

    @Test func `An adapter that is away for ten minutes is waited for`() {
        var simulation = missing(holding: 60)
        simulation.run(to: 700)
        simulation.handle(.listening(Receiver(index: 1), true))
        simulation.run(to: 749)
        #expect(!simulation.events.contains { $0.change == .left(key("a")) })
        simulation.run(to: 751)
        #expect(simulation.events.last == Simulation.Event(change: .left(key("a")), seconds: 750))
    }

    @Test func `Only time in which another listens counts for an adapter that is missing`() {
        var simulation = missing(holding: 60)
        simulation.run(to: 500)
        simulation.handle(.listening(Receiver(index: 0), false))
        simulation.run(to: 5000)
        simulation.handle(.listening(Receiver(index: 0), true))
        simulation.run(to: 10_000)
        #expect(simulation.events.last == Simulation.Event(change: .left(key("a")), seconds: 5550))
    }

    @Test func `What a missing adapter had given up already, it does not believe in again`() {
        var simulation = Simulation([region("a", leave: .after(.seconds(60)))], receivers: [0, 1])
        simulation.hear(sighting(1, receiver: 1), at: 1)
        simulation.hear(sighting(1, receiver: 0), at: 50)
        simulation.run(to: 80)
        simulation.handle(.listening(Receiver(index: 1), false))
        simulation.run(to: 1000)
        #expect(simulation.events.last == Simulation.Event(change: .left(key("a")), seconds: 110))
    }

    @Test func `While no adapter listens, no beacon leaves`() {
        var simulation = restored(holding: 60)
        simulation.run(to: 10_000)
        #expect(simulation.events.isEmpty)
    }
}
