import Base
import Beacon
import Testing

@testable import Presence

/// More receivers hear a beacon than are remembered of it.
@Suite struct ReceiverBoundTests {
    private static let remembered = 3

    private func simulation(receivers: Range<UInt16>, remembered: Int = Self.remembered) -> Simulation {
        Simulation([region("a")], receivers: Array(receivers), mostReceivers: remembered, decidesJointly: false)
    }

    /// A beacon of one second until `end`, of which each receiver hears a share.
    private func advertise(
        to simulation: inout Simulation, until end: Double, _ shares: [UInt16: Double], _ random: inout Random
    ) {
        var time = simulation.now.rounded(.up) + 1
        while time <= end {
            for (receiver, share) in shares.sorted(by: { $0.key < $1.key }) where random.unit() < share {
                simulation.hear(sighting(receiver: receiver), at: time + Double(receiver) * 0.01)
            }
            time += 1
        }
    }

    private func equalShares(_ receivers: Range<UInt16>, _ share: Double) -> [UInt16: Double] {
        Dictionary(uniqueKeysWithValues: receivers.map { ($0, share) })
    }

    private func links(of simulation: Simulation) -> [PresenceExplanation.Link] {
        simulation.engine.explain(beacon(1), in: key("a"), at: at(simulation.now))?.links ?? []
    }

    @Test(arguments: [0.5, 0.3, 0.1])
    func `A beacon stays near one weak receiver when all that heard it well hear it no more`(share: Double) {
        var leaves = 0
        for seed in 1...40 {
            var random = Random(UInt64(seed))
            var simulation = simulation(receivers: 0..<8)
            var shares = equalShares(0..<7, 0.9)
            shares[7] = share
            advertise(to: &simulation, until: 600, shares, &random)
            advertise(to: &simulation, until: 660, [7: share], &random)
            leaves += simulation.leaves.count
        }
        #expect(leaves == 0)
    }

    @Test func `A beacon stays when those that are remembered cease to listen, for however long another one hears it`()
    {
        var random = Random(2)
        var simulation = simulation(receivers: 0..<4)
        advertise(to: &simulation, until: 300, equalShares(0..<3, 1), &random)
        for receiver in 0..<3 { simulation.handle(.listening(Receiver(index: UInt16(receiver)), false)) }
        advertise(to: &simulation, until: 7200, [3: 0.9], &random)
        #expect(simulation.leaves.isEmpty)
    }

    @Test func `A receiver that ceased to listen still keeps the beacon when the others have given it up`() throws {
        var random = Random(2)
        var simulation = simulation(receivers: 0..<6)
        advertise(to: &simulation, until: 300, equalShares(0..<6, 1), &random)
        simulation.handle(.listening(Receiver(index: 0), false))
        advertise(to: &simulation, until: 500, equalShares(1..<6, 0.9), &random)
        #expect(try #require(simulation.silenceUntilLeave()) > PresenceTiming.absentGrace.seconds - 300)
    }

    @Test func `A beacon that is carried past many receivers stays, and leaves when it is gone`() throws {
        var random = Random(4)
        var simulation = simulation(receivers: 0..<16)
        for step in 0..<12 {
            let near = UInt16(step)..<UInt16(step + 5)
            advertise(to: &simulation, until: Double(step + 1) * 60, equalShares(near, 0.8), &random)
        }
        #expect(simulation.leaves.isEmpty)
        #expect(try #require(simulation.silenceUntilLeave()) <= 61)
    }

    @Test(arguments: [0.95, 0.5, 0.2])
    func `A beacon that is gone leaves within the leave timeout of the slowest of all receivers`(share: Double) throws {
        for receivers in [2, 3, 4, 8] as [UInt16] {
            var random = Random(5)
            var few = simulation(receivers: 0..<receivers)
            advertise(to: &few, until: 1200, equalShares(0..<receivers, share), &random)
            random = Random(5)
            var all = simulation(receivers: 0..<receivers, remembered: PresenceTiming.mostReceivers)
            advertise(to: &all, until: 1200, equalShares(0..<receivers, share), &random)
            // A receiver that was not remembered before knows no rhythm.
            let slowest = try #require(links(of: all).map(\.leaveTimeout.seconds).max())
            let unknown = receivers > Self.remembered ? Double(PresenceTiming.unknownRhythmSeconds) : 0
            #expect(try #require(few.silenceUntilLeave()) <= max(slowest, unknown) + 1)
        }
    }

    @Test func `All remembered receivers but one know the rhythm, however many hear the beacon`() {
        var random = Random(6)
        var simulation = simulation(receivers: 0..<8)
        advertise(to: &simulation, until: 600, equalShares(0..<8, 0.9), &random)
        #expect(links(of: simulation).count == Self.remembered)
        #expect(links(of: simulation).count { $0.isRhythmKnown } >= Self.remembered - 1)
    }

    @Test func `The receiver that heard the beacon last is remembered`() {
        var simulation = simulation(receivers: 0..<8)
        for second in 1...100 {
            let receiver = UInt16(second * second % 8)
            simulation.hear(sighting(receiver: receiver), at: Double(second))
            #expect(links(of: simulation).contains { $0.receiver.index == receiver && $0.silence == .zero })
        }
    }

    @Test func `Receivers from 256 on are told apart from others, and are not in a state`() {
        var simulation = simulation(receivers: 0..<1)
        simulation.handle(.listening(Receiver(index: 256), true))
        simulation.hear(sighting(1, receiver: 256), at: 1)
        #expect(links(of: simulation).map(\.receiver.index) == [256])
        simulation.hear(sighting(1, receiver: 0), at: 2)
        #expect(links(of: simulation).count == 2)
        let state = simulation.engine.state(at: at(simulation.now))
        #expect(state.beacons.first?.links.map(\.receiver) == [0])
        let bytes = simulation.engine.stateBytes(at: at(simulation.now))
        #expect(bytes == state.bytes && PresenceState(bytes: bytes) == state)
    }

    @Test func `A state of more receivers than are remembered is restored`() throws {
        var random = Random(7)
        var all = simulation(receivers: 0..<8, remembered: PresenceTiming.mostReceivers)
        advertise(to: &all, until: 100, equalShares(0..<8, 0.9), &random)
        var few = simulation(receivers: 0..<8)
        few.record(few.engine.restore(all.engine.state(at: at(all.now)), at: at(0)))
        #expect(few.engine.isOccupied(key("a")))
        #expect(links(of: few).count == Self.remembered)
    }
}

extension Duration {
    fileprivate var seconds: Double { Double(nanoseconds) / 1e9 }
}
