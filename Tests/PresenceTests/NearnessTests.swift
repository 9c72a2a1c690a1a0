import Beacon
import Presence
import Regions
import Testing

@Suite("Nearness")
struct NearnessTests {
    private static let room = region("room", enterRSSI: -65, leaveRSSI: -75)

    @Test("A weak beacon does not enter, a strong one does as soon as a second sighting agrees")
    func enters() {
        var simulation = Simulation([Self.room])
        for second in 1...20 { simulation.hear(sighting(rssi: -80), at: Double(second)) }
        #expect(simulation.events.isEmpty)
        for second in 21...26 { simulation.hear(sighting(rssi: -50), at: Double(second)) }
        #expect(simulation.events.map(\.change) == [.entered(key("room"))])
        #expect(simulation.events[0].seconds <= 25)
    }

    @Test("Between the two thresholds nothing changes, from either side")
    func hysteresis() {
        var simulation = Simulation([Self.room])
        for second in 1...10 { simulation.hear(sighting(rssi: -70), at: Double(second)) }
        #expect(simulation.events.isEmpty)
        for second in 11...20 { simulation.hear(sighting(rssi: -50), at: Double(second)) }
        for second in 21...60 { simulation.hear(sighting(rssi: -70), at: Double(second)) }
        #expect(simulation.events.map(\.change) == [.entered(key("room"))])
        for second in 61...80 { simulation.hear(sighting(rssi: -90), at: Double(second)) }
        #expect(simulation.events.map(\.change) == [.entered(key("room")), .left(key("room"))])
    }

    @Test("One outlier neither enters nor leaves", arguments: [Int8(-30), 20, -110, 127])
    func outlier(value: Int8) {
        var simulation = Simulation([Self.room, region("far", enterRSSI: -20)])
        for tenth in 1...100 { simulation.hear(sighting(rssi: -60), at: Double(tenth) / 10) }
        simulation.hear(sighting(rssi: value), at: 10.1)
        for tenth in 102...200 { simulation.hear(sighting(rssi: -60), at: Double(tenth) / 10) }
        #expect(simulation.events.map(\.change) == [.entered(key("room"))])
    }

    @Test("Without a threshold, weak sightings prove presence")
    func weakIsPresent() {
        var simulation = Simulation([region("a")])
        for second in 1...100 { simulation.hear(sighting(rssi: -100), at: Double(second)) }
        #expect(simulation.events.map(\.change) == [.entered(key("a"))])
    }

    @Test("A leave says why: the silence, the signal, or the region")
    func reasons() {
        func reason(_ leave: (inout Simulation) -> [PresenceEngine.Effect]) -> [LeaveReason] {
            let room = region("room", leave: .after(.seconds(100)), enterRSSI: -65, leaveRSSI: -75)
            var simulation = Simulation([room])
            for tenth in 1...100 { simulation.hear(sighting(rssi: -50), at: Double(tenth) / 10) }
            return leave(&simulation).compactMap { if case .left(_, _, let reason) = $0 { reason } else { nil } }
        }
        #expect(reason { $0.engine.handle(.tick, at: at(1000)) } == [.silence])
        #expect(reason { $0.engine.handle(.regions([]), at: at(11)) } == [.region])
        #expect(
            reason { simulation in
                (11...40).flatMap { simulation.engine.handle(.sighting(sighting(rssi: -90)), at: at(Double($0))) }
            } == [.signal])
        // The level fell, and then nothing came that could show it.
        #expect(
            reason { simulation in
                let weak = (101...135).flatMap {
                    simulation.engine.handle(.sighting(sighting(rssi: -85)), at: at(Double($0) / 10))
                }
                return weak + simulation.engine.handle(.tick, at: at(20))
            } == [.signal])
    }

    @Test("A level that fell and then fell silent leaves after the dwell, not after the silence")
    func fadesAway() throws {
        var simulation = Simulation([region("room", leave: .after(.seconds(100)), enterRSSI: -65, leaveRSSI: -75)])
        for tenth in 1...100 { simulation.hear(sighting(rssi: -50), at: Double(tenth) / 10) }
        for tenth in 101...140 where simulation.leaves.isEmpty {
            simulation.hear(sighting(rssi: -85), at: Double(tenth) / 10)
            if tenth == 135 { break }
        }
        simulation.run(to: 200)
        let leave = try #require(simulation.leaves.first)
        #expect(leave < 20)
    }

    @Test("Receivers that hear a beacon in turn let it enter and leave as soon as one alone", arguments: [1, 2, 3])
    func severalReceivers(count: Int) throws {
        var simulation = Simulation([Self.room], receivers: (0..<count).map { UInt16($0) })
        for second in 1...40 {
            for receiver in 0..<count {
                let heard = sighting(rssi: second <= 20 ? -50 : -90, receiver: UInt16(receiver))
                simulation.hear(heard, at: Double(second) + 0.01 * Double(receiver))
            }
        }
        #expect(simulation.events.map(\.change) == [.entered(key("room")), .left(key("room"))])
        // The dwell is 1.5 intervals. From −50 dBm, the level is below −75 dBm with the sixth weak sighting.
        #expect(simulation.events.first?.seconds == 3)
        let leave = try #require(simulation.leaves.first)
        #expect(leave > 27 && leave < 28, "at \(leave) s")
    }

    @Test("A receiver that hears the beacon alone goes on with the dwell that another one began")
    func dwellGoesOn() {
        var simulation = Simulation([Self.room], receivers: [0, 1])
        for tenth in 20...25 { simulation.hear(sighting(rssi: -50, receiver: 0), at: Double(tenth) / 10) }
        simulation.run(to: 2.6)
        // The clock of a receiver that does not listen stops, and with it the dwell, which is one second.
        simulation.handle(.listening(Receiver(index: 0), false))
        for tenth in 600...620 { simulation.hear(sighting(rssi: -50, receiver: 1), at: Double(tenth) / 10) }
        #expect(simulation.events == [Simulation.Event(change: .entered(key("room")), seconds: 60.4)])
    }

    /// An engine at 16.5 s whose beacon's level has been below −75 dBm since 16 s.
    private static func fading(_ room: MonitoredRegion) throws -> Simulation {
        var simulation = Simulation([room])
        for second in 1...16 { simulation.hear(sighting(rssi: second <= 10 ? -50 : -90), at: Double(second)) }
        simulation.run(to: 16.5)
        let crossingTime = simulation.engine.state(at: at(16.5)).beacons.first?.memberships.first?.crossingTime
        #expect(try #require(crossingTime) == 500_000_000)
        return simulation
    }

    @Test("A threshold that is removed or lowered while the beacon fades lets it leave no more", arguments: [nil, -95])
    func thresholdChanged(new: Int8?) throws {
        var simulation = try Self.fading(region("room", leaveRSSI: -75))
        simulation.handle(.regions([region("room", leaveRSSI: new)]))
        simulation.run(to: 18.5)
        for second in 19...40 { simulation.hear(sighting(rssi: -90), at: Double(second)) }
        #expect(simulation.events.map(\.change) == [.entered(key("room"))])
    }

    @Test("A change of other regions does not begin the dwell again")
    func otherRegionChanged() throws {
        let room = region("room", leaveRSSI: -75)
        var simulation = try Self.fading(room)
        simulation.handle(.regions([region("other", major: 9), room]))
        simulation.run(to: 18.5)
        #expect(simulation.leaves == [17.5])
    }

    @Test("A threshold that is removed while the engine does not run lets a fading beacon leave no more")
    func thresholdRemovedAtRestart() throws {
        let state = try Self.fading(region("room", leaveRSSI: -75)).engine.state(at: at(16.5))
        var later = Simulation([region("room")])
        later.record(later.engine.restore(state, at: at(0)))
        later.run(to: 2)
        for second in 3...40 { later.hear(sighting(rssi: -90), at: Double(second)) }
        #expect(later.events.isEmpty)
        #expect(later.engine.isOccupied(key("room")))
    }

    @Test(
        "A beacon that left near and returns faint does not enter: its old level does not count",
        arguments: [30, 30_000], [1, 2] as [UInt16])
    func returnsFaint(absence: Int, receivers: UInt16) {
        var simulation = Simulation([region("all"), region("room", enterRSSI: -75)], receivers: Array(0..<receivers))
        func hear(_ seconds: ClosedRange<Int>, rssi: Int8) -> [Simulation.Change] {
            let before = simulation.events.count
            for second in seconds {
                for receiver in 0..<receivers {
                    let heard = sighting(rssi: rssi, receiver: receiver)
                    simulation.hear(heard, at: Double(second) + 0.01 * Double(receiver))
                }
            }
            return simulation.events.dropFirst(before).map(\.change)
        }
        #expect(hear(1...60, rssi: -50) == [.entered(key("all")), .entered(key("room"))])
        simulation.run(to: Double(60 + absence))
        #expect(!simulation.engine.isOccupied(key("all")) && !simulation.engine.isOccupied(key("room")))
        #expect(hear(61 + absence...120 + absence, rssi: -90) == [.entered(key("all"))])
        #expect(hear(121 + absence...130 + absence, rssi: -50) == [.entered(key("room"))])
    }

    @Test("One faint sample after a long silence does not let a beacon leave that the region still holds")
    func faintAfterSilence() {
        var simulation = Simulation([region("room", leave: .after(.seconds(100)), leaveRSSI: -75)])
        for second in 1...60 { simulation.hear(sighting(rssi: -50), at: Double(second)) }
        simulation.hear(sighting(rssi: -90), at: 100)
        for second in 110...120 { simulation.hear(sighting(rssi: -50), at: Double(second)) }
        #expect(simulation.events.map(\.change) == [.entered(key("room"))])
    }

    @Test("A person in the doorway does not flap")
    func doorway() {
        var random = Random(21)
        var simulation = Simulation([region("room", enterRSSI: -66, leaveRSSI: -74)])
        for tenth in 1...36_000 {
            let noise = Int8((random.unit() + random.unit() + random.unit() - 1.5) * 12)
            simulation.hear(sighting(rssi: -70 + noise), at: Double(tenth) / 10)
        }
        #expect(simulation.events.count <= 1)
    }

    @Test("Only enterRSSI: what came near stays until silence")
    func enterOnly() {
        var simulation = Simulation([region("room", enterRSSI: -60)])
        for second in 1...10 { simulation.hear(sighting(rssi: -50), at: Double(second)) }
        for second in 11...100 { simulation.hear(sighting(rssi: -95), at: Double(second)) }
        #expect(simulation.events.map(\.change) == [.entered(key("room"))])
    }

    @Test("A sighting without RSSI proves no nearness, and takes none away")
    func noRSSI() {
        var simulation = Simulation([Self.room])
        for second in 1...10 { simulation.hear(sighting(rssi: nil), at: Double(second)) }
        #expect(simulation.events.isEmpty)
        for second in 11...20 { simulation.hear(sighting(rssi: -50), at: Double(second)) }
        for second in 21...40 { simulation.hear(sighting(rssi: nil), at: Double(second)) }
        #expect(simulation.events.map(\.change) == [.entered(key("room"))])
    }
}
