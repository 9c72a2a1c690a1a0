import Beacon
import Presence
import Regions
import Testing

@Suite("Silence")
struct SilenceTests {
    @Test("A region without a threshold is entered at the first sighting")
    func entersAtOnce() {
        var simulation = Simulation([region("a")])
        simulation.hear(at: 5)
        #expect(simulation.events == [.init(change: .entered(key("a")), seconds: 5)])
    }

    // The limit is a requirement. It does not follow from `PresenceTiming`, but bounds its least leave timeout.
    @Test(
        "A beacon that falls silent leaves within six intervals and three seconds",
        arguments: [0.25, 0.455, 0.91, 1.82, 4.55, 9.1])
    func leavesSoon(interval: Double) throws {
        var random = Random(7)
        var simulation = Simulation([region("a")])
        simulation.advertise(every: interval, until: interval * 2000, heard: 0.88, &random)
        let last = simulation.now
        simulation.run(to: last + 300)
        #expect(simulation.leaves.count == 1)
        let leave = try #require(simulation.leaves.first)
        #expect(leave - last <= 6 * interval + 3)
    }

    // A quarter of a second is exact in binary. The life table alone would let this beacon leave after two seconds.
    @Test("A beacon of which every advertisement is heard is kept for three seconds of silence, and no longer")
    func leavesNoSooner() {
        var simulation = Simulation([region("a")])
        for quarter in 1...400 { simulation.hear(at: Double(quarter) / 4) }
        simulation.run(to: 200)
        #expect(simulation.leaves == [103])
    }

    @Test(
        "A still beacon does not leave in six hours, however few of its advertisements are heard",
        arguments: [(0.455, 0.88), (0.455, 0.3), (1.0, 0.6), (1.0, 0.3), (9.1, 0.88), (0.1, 0.1)])
    func stays(interval: Double, heard: Double) {
        var random = Random(11)
        var simulation = Simulation([region("a")])
        simulation.advertise(every: interval, until: 6 * 3600, heard: heard, &random)
        // At 30 % physics leaves a trace: one silence in some hours is longer than believable.
        #expect(simulation.leaves.count <= (heard == 0.3 ? 2 : 0))
    }

    @Test("A beacon that goes from 100 ms to 10 s and back while still does not leave")
    func changesInterval() {
        var random = Random(3)
        var simulation = Simulation([region("a")])
        for round in 0..<6 {
            let end = simulation.now + 900
            simulation.advertise(every: round % 2 == 0 ? 0.1 : 10, until: end, heard: 0.95, &random)
        }
        #expect(simulation.leaves.isEmpty)
    }

    @Test("Scan duty that drops from 100 % to 10 % and returns is no leave", arguments: [0.1, 0.455, 1, 5])
    func dutyDrops(interval: Double) {
        var random = Random(5)
        var simulation = Simulation([region("a")])
        for duty in [1, 0.1, 1] {
            simulation.handle(.scanDuty(Receiver(index: 0), duty))
            simulation.advertise(every: interval, until: simulation.now + 1800, heard: 0.9 * duty, &random)
        }
        #expect(simulation.leaves.isEmpty)
    }

    @Test(
        "At a small duty a new beacon is held for longer, because its rhythm takes longer to show",
        arguments: [1, 0.5, 0.1])
    func newBeaconAtSmallDuty(duty: Double) {
        var simulation = Simulation([region("a")])
        simulation.handle(.scanDuty(Receiver(index: 0), duty))
        simulation.hear(at: 1)
        simulation.run(to: 2000)
        #expect(simulation.leaves.map { $0.rounded() } == [(1 + 60 / duty).rounded()])
    }

    @Test("Duty that drops unannounced is no leave for a quick beacon")
    func dutyDropsUnannounced() {
        var random = Random(5)
        var simulation = Simulation([region("a")])
        simulation.advertise(every: 0.1, until: 1800, heard: 0.9, &random)
        simulation.advertise(every: 0.1, until: 3600, heard: 0.09, &random)
        #expect(simulation.leaves.isEmpty)
    }

    @Test("An adapter that is missing for ten minutes causes no leave")
    func adapterGone() {
        var random = Random(9)
        var simulation = Simulation([region("a")])
        simulation.advertise(every: 0.455, until: 600, heard: 0.88, &random)
        simulation.handle(.listening(Receiver(index: 0), false))
        #expect(simulation.engine.nextDeadline == nil)
        simulation.run(to: 1200)
        simulation.handle(.listening(Receiver(index: 0), true))
        simulation.advertise(every: 0.455, until: 1800, heard: 0.88, &random)
        #expect(simulation.leaves.isEmpty)
    }

    @Test("A suspend of 24 hours causes no leave")
    func suspended() {
        var random = Random(9)
        var simulation = Simulation([region("a")])
        simulation.advertise(every: 0.455, until: 600, heard: 0.88, &random)
        // The clock counts through suspend: the first thing that happens is a day later.
        simulation.now += 24 * 3600
        simulation.handle(.slept(.seconds(24 * 3600)))
        simulation.advertise(every: 0.455, until: simulation.now + 600, heard: 0.88, &random)
        #expect(simulation.leaves.isEmpty)
    }

    @Test("A receiver that does not listen keeps its belief although another goes on")
    func receiverPaused() {
        var random = Random(2)
        var simulation = Simulation([region("a")], receivers: [0, 1])
        simulation.advertise(every: 1, until: 300, &random)
        simulation.handle(.listening(Receiver(index: 0), false))
        simulation.advertise(2, every: 1, until: 900, receiver: 1, &random)
        #expect(simulation.leaves.isEmpty)
        simulation.handle(.listening(Receiver(index: 0), true))
        simulation.run(to: 1200)
        #expect(simulation.leaves.count == 1)
    }

    @Test("Time stamps of whole seconds are no reason to leave")
    func coarseTime() {
        var random = Random(4)
        var simulation = Simulation([region("a")])
        var time = 0.0
        while time < 7200 {
            time += 0.455
            if random.unit() < 0.85 { simulation.hear(at: time.rounded(.down)) }
        }
        #expect(simulation.leaves.isEmpty)
    }

    @Test("A scanner that restarts every ten seconds is no reason to leave")
    func restartingScanner() {
        var random = Random(6)
        var simulation = Simulation([region("a")])
        var time = 0.0
        while time < 7200 {
            time += 1
            if time.truncatingRemainder(dividingBy: 15) < 10, random.unit() < 0.85 { simulation.hear(at: time) }
        }
        #expect(simulation.leaves.isEmpty)
    }

    @Test("Bursts of loss are learned: at most 0.3 false leaves per hour, and silence is noticed in 25 s")
    func bursts() {
        var random = Random(8)
        var simulation = Simulation([region("a")])
        var isShadowed = false
        var time = 0.0
        while time < 50 * 3600 {
            time += 1
            if random.unit() < (isShadowed ? 1 / 6.0 : 1 / 40.0) { isShadowed.toggle() }
            if random.unit() < (isShadowed ? 0.2 : 0.8) { simulation.hear(at: time) }
        }
        #expect(simulation.leaves.count <= 15)
        let last = simulation.now
        simulation.run(to: last + 300)
        #expect((simulation.leaves.last ?? .infinity) - last <= 25)
    }

    @Test("A fixed leave time is kept to the nanosecond, and a leading - doubles it")
    func fixedSeconds() {
        var simulation = Simulation([
            region("fixed", leave: .after(.seconds(20))),
            region("long", leave: .after(.seconds(20)), leavesLater: true),
        ])
        simulation.hear(at: 10)
        simulation.run(to: 100)
        #expect(
            simulation.events.suffix(2) == [
                .init(change: .left(key("fixed")), seconds: 30), .init(change: .left(key("long")), seconds: 50),
            ])
    }

    @Test("Impossible RSSI values prove that the beacon is there")
    func impossibleRSSI() {
        var simulation = Simulation([region("a")])
        for second in 1...300 { simulation.hear(sighting(rssi: second % 2 == 0 ? 127 : 62), at: Double(second)) }
        #expect(simulation.leaves.isEmpty)
        #expect(simulation.engine.isOccupied(key("a")))
    }
}
