import Beacon
import Regions
import Testing

@testable import Presence

/// Several receivers decide sooner than one.
@Suite struct TogetherTests {
    /// A beacon of 5 s at three receivers, each of which receives 85 %.
    private func learned(
        interval: Double = 5, seconds: Double = 2000, leave: LeaveRule = .auto, skew: Double = 0.003
    ) -> Simulation {
        var simulation = Simulation([region("a", leave: leave)], receivers: [0, 1, 2])
        var random = Random(3)
        var time = interval
        while time < seconds {
            for receiver in 0..<3 where random.unit() < 0.85 {
                let heard = sighting(receiver: UInt16(receiver))
                simulation.hear(heard, at: time + Double(receiver) * skew)
            }
            time += interval + random.unit() * 0.01
        }
        return simulation
    }

    @Test(arguments: [1.8, 4.6, 9.1])
    func `Three receivers give a beacon up after five intervals, where one needs more`(interval: Double) throws {
        let together = try #require(learned(interval: interval, seconds: 300 * interval).silenceUntilLeave())
        #expect(together <= 5 * interval)
        var random = Random(3)
        var one = Simulation([region("a")])
        one.advertise(every: interval, until: 300 * interval, heard: 0.85, &random)
        #expect(try #require(one.silenceUntilLeave()) > 1.2 * together)
    }

    @Test func `Receivers that report an advertisement a tenth of a second apart report the same one`() throws {
        #expect(try #require(learned(skew: 0.1).silenceUntilLeave()) <= 25)
    }

    @Test func `A receiver that does not listen keeps the others from deciding for it`() throws {
        var simulation = learned()
        simulation.handle(.listening(Receiver(index: 1), false))
        #expect(simulation.engine.explain(beacon(1), in: key("a"), at: at(simulation.now))?.joint == nil)
        #expect(try #require(simulation.silenceUntilLeave()) > 900)
    }

    @Test func `When a receiver listens again, the silence of all begins again`() throws {
        var simulation = learned()
        let last = simulation.now
        simulation.handle(.listening(Receiver(index: 1), false))
        simulation.run(to: last + 15)
        simulation.handle(.listening(Receiver(index: 1), true))
        let joint = simulation.engine.explain(beacon(1), in: key("a"), at: at(simulation.now))?.joint
        #expect(joint?.silence == .zero)
        // The other two have not given it up by themselves before the three do.
        #expect(try #require(simulation.silenceUntilLeave()) >= 15)
    }

    @Test func `A sighting by a receiver that does not know the rhythm counts for all`() {
        var simulation = learned()
        let last = simulation.now
        simulation.handle(.listening(Receiver(index: 3), true))
        simulation.hear(sighting(receiver: 3), at: last + 15)
        simulation.run(to: last + 30)
        #expect(simulation.leaves.isEmpty)
    }

    @Test func `A leave time that the region sets counts for each receiver`() throws {
        let silence = try #require(learned(leave: .after(.seconds(40))).silenceUntilLeave())
        #expect(abs(silence - 40) < 1e-6)
    }

    /// False leaves in 50 hours at so many receivers, which are shadowed at the same times.
    private func falseLeaves(receivers: Int) -> Int {
        var random = Random(8)
        var losses = Random(9)
        var simulation = Simulation([region("a")], receivers: (0..<receivers).map { UInt16($0) })
        var isShadowed = false
        for second in 1...(50 * 3600) {
            if random.unit() < (isShadowed ? 1 / 6.0 : 1 / 40.0) { isShadowed.toggle() }
            for receiver in 0..<receivers where losses.unit() < (isShadowed ? 0.1 : 0.8) {
                simulation.hear(sighting(receiver: UInt16(receiver)), at: Double(second))
            }
        }
        return simulation.leaves.count
    }

    @Test func `Losses that all receivers have in common cost no more false leaves than those of one`() {
        #expect(falseLeaves(receivers: 3) <= falseLeaves(receivers: 1))
    }

    @Test func `What receivers know together outlives a restart`() throws {
        let simulation = learned()
        let silence = try #require(simulation.silenceUntilLeave())
        let bytes = simulation.engine.stateBytes(at: at(simulation.now))
        #expect(bytes == simulation.engine.state(at: at(simulation.now)).bytes)
        var later = Simulation([region("a")], receivers: [0, 1, 2])
        later.record(later.engine.restore(try #require(PresenceState(bytes: bytes)), at: at(0)))
        #expect(abs(try #require(later.silenceUntilLeave()) - silence) < 0.01)
    }

    @Test func `Forgetting other beacons leaves what receivers know together`() throws {
        var simulation = learned()
        simulation.hear(sighting(2, receiver: 1), at: simulation.now)
        let before = simulation.engine.state(at: at(simulation.now)).beacons.first?.joint
        simulation.engine.forgetAbsent(areNamed: false, sparing: 0, at: at(simulation.now))
        #expect(before != nil)
        #expect(simulation.engine.state(at: at(simulation.now)).beacons.first?.joint == before)
    }
}
