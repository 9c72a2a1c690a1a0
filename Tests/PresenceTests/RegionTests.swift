import Base
import Beacon
import Presence
import Regions
import Testing

@Suite("Regions")
struct RegionTests {
    @Test("A region is left when the last of its beacons is gone")
    func severalBeacons() {
        var random = Random(1)
        var simulation = Simulation([region("a")])
        simulation.hear(sighting(1), at: 1)
        simulation.advertise(2, every: 1, until: 300, &random)
        #expect(simulation.events.map(\.change) == [.entered(key("a"))])
        simulation.run(to: 600)
        #expect(simulation.events.map(\.change) == [.entered(key("a")), .left(key("a"))])
    }

    @Test("A beacon in several regions enters and leaves each, in the order of the regions")
    func overlapping() {
        var simulation = Simulation([
            region("exact", major: 1, minor: 1), region("minor", minor: 1), region("all"), region("other", major: 2),
        ])
        simulation.hear(at: 1)
        simulation.run(to: 600)
        #expect(
            simulation.events.map(\.change) == [
                .entered(key("exact")), .entered(key("minor")), .entered(key("all")), .left(key("exact")),
                .left(key("minor")), .left(key("all")),
            ])
    }

    @Test("A region that goes while inside is left, one that stays keeps its state, a new one is entered when heard")
    func replaced() {
        var simulation = Simulation([region("a", major: 1), region("b")])
        simulation.hear(at: 1)
        simulation.handle(.regions([region("c"), region("b")]))
        #expect(simulation.events.last?.change == .left(key("a")))
        #expect(simulation.engine.isOccupied(key("b")))
        #expect(!simulation.engine.isOccupied(key("c")))
        simulation.hear(at: 2)
        #expect(simulation.events.count == 4)
        #expect(simulation.engine.isOccupied(key("c")))
    }

    @Test func `In a region that comes back a beacon is near again without an enter, until it is silent for too long`()
    {
        for isKnown in [true, false] {
            var simulation = Simulation([region("a", minor: 1), region("b", minor: 2)])
            simulation.hear(at: 1)
            simulation.handle(.regions(isKnown ? [region("b", minor: 2)] : []))
            simulation.run(to: 500)
            simulation.handle(.regions([region("a", minor: 1), region("b", minor: 2)]))
            let beacon = sighting(1).beacon
            let left = simulation.engine.resume(
                occupied: [(region: key("a"), beacon: beacon), (region: key("b"), beacon: beacon)],
                at: MonotonicInstant(nanoseconds: 500_000_000_000))
            // The beacon does not belong to the other one.
            #expect(left == [.left(key("b"), last: beacon, because: .region)])
            #expect(simulation.engine.isOccupied(key("a")))
            simulation.hear(at: 550)
            #expect(simulation.events.map(\.change) == [.entered(key("a")), .left(key("a"))])
            simulation.run(to: 900)
            #expect(simulation.events.map(\.change) == [.entered(key("a")), .left(key("a")), .left(key("a"))])
        }
    }

    @Test("A region whose pattern changes is left")
    func patternChanged() {
        var simulation = Simulation([region("a")])
        simulation.hear(at: 1)
        simulation.handle(.regions([region("a", major: 1)]))
        #expect(simulation.events.map(\.change) == [.entered(key("a")), .left(key("a"))])
    }

    @Test("Beacons that are gone make room for new ones")
    func roomForNew() {
        var simulation = Simulation([region("all", leave: .after(.seconds(1)))], mostStrangers: 100)
        for number in 0..<100 { simulation.hear(sighting(UInt16(number)), at: 1) }
        simulation.run(to: 10)
        simulation.hear(sighting(60_000), at: 11)
        #expect(simulation.engine.droppedSightings == 0)
        #expect(simulation.engine.explain(key("all"), at: at(11)).map(\.beacon) == [beacon(60_000)])
        #expect(simulation.engine.isOccupied(key("all")))
    }

    @Test("Each of many beacons is known again, and is told apart from every other")
    func manyBeacons() {
        var simulation = Simulation([region("all", leave: .after(.seconds(100)))])
        for round in 1...2 {
            for number in 0..<2000 { simulation.hear(sighting(UInt16(number)), at: Double(round)) }
        }
        #expect(simulation.engine.trackedBeacons == 2000)
        let explained = simulation.engine.explain(key("all"), at: at(3))
        #expect(explained.map(\.beacon) == (0..<2000).map { beacon(UInt16($0)) })
        #expect(explained.allSatisfy { $0.links.map(\.silence) == [.seconds(1)] })
    }

    @Test("Who is inside keeps all receivers and regions when room is made for others")
    func keptWhenRoomIsMade() {
        let leave = LeaveRule.after(.seconds(20))
        var simulation = Simulation(
            [region("a", leave: leave), region("b", major: 1, leave: leave), region("c")], mostStrangers: 100)
        for number in 1..<100 { simulation.hear(sighting(UInt16(number)), at: 1) }
        for receiver in [UInt16(3), 1, 2] { simulation.hear(sighting(0, receiver: receiver), at: 15) }
        simulation.run(to: 30)
        simulation.handle(.regions([region("a", leave: leave), region("b", major: 1, leave: leave)]))
        simulation.hear(sighting(60_000), at: 31)
        #expect(simulation.engine.trackedBeacons == 2)
        for rid in ["a", "b"] {
            let why = simulation.engine.explain(key(rid), at: at(32)).first
            #expect(why?.beacon == beacon(0) && why?.isNear == true)
            #expect(why?.links.map(\.receiver.index) == [3, 1, 2])
        }
    }

    @Test("Why a beacon is inside: last heard, interval, share heard, expected leave")
    func explained() throws {
        var random = Random(12)
        var simulation = Simulation([region("a")])
        simulation.advertise(every: 0.5, until: 600, heard: 0.8, &random)
        let last = simulation.now
        let why = try #require(simulation.engine.explain(key("a"), at: at(last + 1)).first)
        #expect(why.isNear)
        let link = try #require(why.links.first)
        #expect(link.silence == .seconds(1))
        #expect(abs(link.interval?.inSeconds ?? 0 - 0.505) < 0.52)
        #expect((0.75...0.85).contains(link.shareHeard))
        #expect(link.isRhythmKnown && link.isListening && !link.isMoving)
        simulation.run(to: last + 60)
        let expected = try #require(why.expectedLeave)
        #expect(simulation.leaves == [Double(expected.nanoseconds) / 1e9])
    }

    @Test("Without a listening receiver no leave is expected")
    func nobodyListens() throws {
        var simulation = Simulation([region("a")])
        simulation.hear(at: 1)
        simulation.handle(.listening(Receiver(index: 0), false))
        let why = try #require(simulation.engine.explain(key("a"), at: at(5)).first)
        #expect(why.isNear && why.expectedLeave == nil)
    }
}
