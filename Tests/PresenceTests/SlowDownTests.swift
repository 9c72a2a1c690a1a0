import Regions
import Testing

@testable import Presence

/// Quick beacons: those that keep their rhythm leave soon, those that slow down at rest are held.
@Suite struct SlowDownTests {
    /// A beacon of 100 ms that was received for so many seconds at 70 %.
    private func quick(for seconds: Double, seed: UInt64 = 1) -> (Simulation, Random) {
        var random = Random(seed)
        var simulation = Simulation([region("a")])
        simulation.advertise(every: 0.1, until: seconds, heard: 0.7, &random)
        return (simulation, random)
    }

    @Test func `A quick beacon that never slowed down in an hour leaves after at most five seconds`() throws {
        let (simulation, _) = quick(for: 3900)
        #expect(simulation.leaves.isEmpty)
        #expect(try #require(simulation.silenceUntilLeave(within: 300)) <= 5)
    }

    @Test(arguments: [60.0, 1800, 3500])
    func `Before an hour of reception a quick beacon is held`(seconds: Double) throws {
        let silence = try #require(quick(for: seconds).0.silenceUntilLeave(within: 300))
        #expect((21.0...22).contains(silence), "\(silence)")
    }

    @Test func `A slow-down costs at most one false leave in the lifetime of a beacon`() {
        var (simulation, random) = quick(for: 4000)
        for _ in 0..<6 {
            simulation.advertise(every: 10, until: simulation.now + 120, heard: 0.95, &random)
            simulation.advertise(every: 0.1, until: simulation.now + 4000, heard: 0.95, &random)
        }
        #expect(simulation.leaves.count <= 1)
        #expect(simulation.engine.slowingUUIDs == [uuid])
    }

    @Test(arguments: [0.95, 0.85, 0.7], 1...10)
    func `A beacon that is known to slow down does not leave when it does, though advertisements are lost`(
        heard: Double, seed: Int
    ) {
        var random = Random(UInt64(seed))
        var simulation = Simulation([region("a")])
        simulation.advertise(every: 0.1, until: 600, heard: heard, &random)
        simulation.advertise(every: 10.24, until: simulation.now + 200, heard: heard, &random)
        for _ in 0..<20 {
            simulation.advertise(every: 0.1, until: simulation.now + 120, heard: heard, &random)
            simulation.advertise(every: 10.24, until: simulation.now + 200, heard: heard, &random)
        }
        #expect(simulation.leaves.isEmpty)
    }

    @Test(arguments: [
        (slow: 1.0, heard: 0.7, seconds: 21.5), (5, 0.95, 21.5), (5, 0.7, 38), (10, 0.95, 31), (10, 0.7, 75),
    ])
    func `The hold covers as many slow advertisements as may be lost in a row`(
        slow: Double, heard: Double, seconds: Double
    ) throws {
        var (simulation, random) = quick(for: 100)
        simulation.advertise(every: slow, until: simulation.now + 20 * slow, heard: 0.95, &random)
        simulation.advertise(every: 0.1, until: simulation.now + 600, heard: heard, &random)
        let silence = try #require(simulation.silenceUntilLeave(within: 300))
        // One more, where the reception in the sample asks for it.
        #expect((seconds - 1...seconds + 3 + (seconds > 22 ? slow : 0)).contains(silence), "\(silence)")
    }

    @Test func `A slow-down is learned though advertisements are lost`() {
        var (simulation, random) = quick(for: 4000)
        simulation.advertise(every: 10, until: simulation.now + 200, heard: 0.7, &random)
        #expect(simulation.engine.slowingUUIDs == [uuid])
    }

    @Test func `That a beacon slows down is known of all beacons of its UUID`() throws {
        var random = Random(5)
        var simulation = Simulation([region("one", minor: 1), region("two", minor: 2)])
        simulation.advertise(1, every: 0.1, until: 4000, &random)
        #expect(try #require(simulation.silenceUntilLeave(within: 300)) <= 5)
        // Beacon 2 is new. It slows down within the hour, so it costs no false leave.
        simulation.advertise(2, every: 0.1, until: simulation.now + 600, &random)
        simulation.advertise(2, every: 10, until: simulation.now + 100, &random)
        simulation.advertise(1, every: 0.1, until: simulation.now + 60, &random)
        let (last, leaves) = (simulation.now, simulation.leaves.count)
        simulation.run(to: last + 21)
        #expect(simulation.leaves.count == leaves)
        // A beacon of the UUID that comes later is held, too.
        simulation.advertise(1, every: 0.1, until: simulation.now + 4000, &random)
        #expect(try #require(simulation.silenceUntilLeave(within: 300)) >= 21)
    }

    @Test func `That a beacon keeps its rhythm says nothing of others of its UUID`() throws {
        var (simulation, random) = quick(for: 4000)
        simulation.run(to: simulation.now + 100)
        simulation.advertise(2, every: 0.1, until: simulation.now + 600, &random)
        #expect(try #require(simulation.silenceUntilLeave(within: 300)) >= 21)
    }

    @Test(arguments: [0.05, 0.1, 0.3], 1...4)
    func `Losses are no slow-down, however few advertisements arrive`(heard: Double, seed: Int) {
        var random = Random(UInt64(seed))
        var simulation = Simulation([region("a")])
        simulation.advertise(every: 0.1, until: 3600, heard: 0.7, &random)
        for _ in 0..<20 {
            simulation.advertise(every: 0.1, until: simulation.now + 60, heard: heard, &random)
            simulation.advertise(every: 0.1, until: simulation.now + 300, heard: 0.7, &random)
        }
        #expect(simulation.engine.slowingUUIDs.isEmpty)
    }

    @Test func `After a false leave another hour of reception is needed`() throws {
        var (simulation, random) = quick(for: 4000)
        simulation.run(to: simulation.now + 12)
        simulation.advertise(every: 0.1, until: simulation.now + 1800, heard: 0.7, &random)
        #expect(simulation.leaves.count == 1)
        #expect(try #require(simulation.silenceUntilLeave(within: 300)) >= 21)
    }

    /// Two seconds of 100 ms, again and again.
    private func advertiseInBursts(
        _ simulation: inout Simulation, every period: Double, for seconds: Double, _ random: inout Random
    ) {
        let end = simulation.now + seconds
        while simulation.now < end {
            let next = simulation.now + period
            simulation.advertise(every: 0.1, until: simulation.now + 2, heard: 0.9, &random)
            simulation.run(to: next)
        }
    }

    @Test(arguments: [24.0, 40, 62])
    func `A quick beacon that begins to sleep between bursts is held after a few leaves`(period: Double) {
        var (simulation, random) = quick(for: 4000)
        advertiseInBursts(&simulation, every: period, for: 3600, &random)
        #expect(simulation.leaves.count <= 10)
        let count = simulation.leaves.count
        advertiseInBursts(&simulation, every: period, for: 20 * 3600, &random)
        #expect(simulation.leaves.count <= count + 1)
    }

    @Test(arguments: [23.0, 30])
    func `A return after a silence in which slow advertisements may be lost raises doubt`(absence: Double) throws {
        var (simulation, random) = quick(for: 4000)
        simulation.run(to: simulation.now + absence)
        simulation.advertise(every: 0.1, until: simulation.now + 1800, heard: 0.7, &random)
        #expect(simulation.leaves.count == 1)
        #expect(try #require(simulation.silenceUntilLeave(within: 300)) >= 21)
    }

    @Test func `Rare absences raise no doubt, however many they are`() throws {
        var (simulation, random) = quick(for: 4000)
        for _ in 0..<8 {
            simulation.run(to: simulation.now + 100)
            simulation.advertise(every: 0.1, until: simulation.now + 400, heard: 0.7, &random)
        }
        #expect(try #require(simulation.silenceUntilLeave(within: 300)) <= 5)
    }

    // The 2048th gap falls into the half minute of quick rhythm.
    @Test func `Time in a slow rhythm is no reception in the quick one`() {
        var random = Random(1)
        var simulation = Simulation([region("a")])
        simulation.advertise(every: 10.24, until: 10.245 * 1900, &random)
        simulation.advertise(every: 0.1, until: simulation.now + 30, heard: 0.95, &random)
        simulation.advertise(every: 10.24, until: simulation.now + 600, &random)
        #expect(simulation.leaves.isEmpty)
    }

    @Test func `Sleep between bursts is no reception`() throws {
        var random = Random(1)
        var simulation = Simulation([region("a")])
        advertiseInBursts(&simulation, every: 10, for: 5400, &random)
        simulation.advertise(every: 0.1, until: simulation.now + 600, &random)
        let explanation = simulation.engine.explain(beacon(1), in: key("a"), at: at(simulation.now))
        #expect(explanation?.links.first?.rule == .slowDown)
    }

    @Test(arguments: 1...8)
    func `A beacon that is set to 200 ms is held, though each interval is up to 10 ms longer`(seed: Int) {
        var random = Random(UInt64(seed))
        var simulation = Simulation([region("a")])
        simulation.advertise(every: 0.2, until: 900, heard: 0.95, &random)
        simulation.advertise(every: 5, until: simulation.now + 300, heard: 0.95, &random)
        #expect(simulation.leaves.isEmpty)
    }

    @Test func `An absence for which no beacon is held does not count against it`() throws {
        var (simulation, random) = quick(for: 4000)
        simulation.run(to: simulation.now + 100)
        simulation.advertise(every: 0.1, until: simulation.now + 60, heard: 0.7, &random)
        #expect(try #require(simulation.silenceUntilLeave(within: 300)) <= 5)
    }

    @Test func `What is known of a rhythm outlives a restart`() throws {
        for slows in [false, true] {
            var (simulation, random) = quick(for: 4000)
            if slows {
                simulation.advertise(every: 10, until: simulation.now + 100, &random)
                simulation.advertise(every: 0.1, until: simulation.now + 60, &random)
            }
            let bytes = simulation.engine.stateBytes(at: at(simulation.now))
            var later = Simulation([region("a")])
            later.record(later.engine.restore(try #require(PresenceState(bytes: bytes)), at: at(0)))
            later.advertise(every: 0.1, until: 10, &random)
            let silence = try #require(later.silenceUntilLeave(within: 300))
            #expect(slows ? silence >= 21 : silence <= 5, "\(silence)")
        }
    }

    @Test func `A slow-down is remembered after the beacon was forgotten`() throws {
        var (simulation, random) = quick(for: 100)
        simulation.advertise(every: 10, until: simulation.now + 100, &random)
        simulation.run(to: simulation.now + 1000)
        let bytes = simulation.engine.stateBytes(at: at(simulation.now), mostAbsent: 0)
        let state = try #require(PresenceState(bytes: bytes))
        #expect(state.beacons.isEmpty)
        var later = Simulation([region("a")])
        later.record(later.engine.restore(state, at: at(0)))
        later.advertise(every: 0.1, until: 4000, &random)
        #expect(try #require(later.silenceUntilLeave(within: 300)) >= 21)
    }

    @Test func `A change is stored without the UUIDs, and does not delete them`() throws {
        var (simulation, random) = quick(for: 100)
        simulation.engine.beginRecordingChanges()
        simulation.advertise(every: 10, until: simulation.now + 100, &random)
        var whole = simulation.engine.state(at: at(simulation.now))
        simulation.run(to: simulation.now + 1000)
        let bytes = simulation.engine.changedStateBytes(at: at(simulation.now)) ?? []
        whole.amend(by: [try #require(PresenceState(bytes: bytes))])
        #expect(whole.slowingUUIDs == [uuid])
        #expect(whole.beacons.map(\.slowsDown) == [true])
    }

    @Test func `The explanation names the rule that set the leave timeout`() throws {
        let cases: [(seconds: Double, leave: LeaveRule, rule: LeaveTimeoutRule)] = [
            (0.2, .auto, .unknownRhythm), (60, .auto, .slowDown), (4000, .auto, .floor),
            (60, .after(.seconds(20)), .leaveAfter),
        ]
        for (seconds, leave, rule) in cases {
            var random = Random(1)
            var simulation = Simulation([region("a", leave: leave)])
            simulation.advertise(every: 0.1, until: seconds, &random)
            let explanation = simulation.engine.explain(beacon(1), in: key("a"), at: at(simulation.now))
            #expect(explanation?.links.first?.rule == rule)
        }
        var random = Random(1)
        var slow = Simulation([region("a")])
        slow.advertise(every: 5, until: 4000, heard: 0.8, &random)
        #expect(slow.engine.explain(beacon(1), in: key("a"), at: at(slow.now))?.links.first?.rule == .rhythm)
    }

    @Test func `The UUID of a removed region is forgotten`() {
        var (simulation, random) = quick(for: 100)
        simulation.advertise(every: 10, until: simulation.now + 100, &random)
        simulation.handle(.regions([]))
        #expect(simulation.engine.slowingUUIDs.isEmpty)
    }
}
