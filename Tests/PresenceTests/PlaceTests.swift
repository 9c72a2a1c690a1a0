import Beacon
import Regions
import Testing

@testable import Presence

/// Places for beacons: invented identities displace no other beacon.
@Suite struct PlaceTests {
    private static let home = BeaconUUID(high: 7, low: 7)

    /// A beacon of the family, whose UUID is not that of the strangers.
    private static func family(_ minor: UInt16 = 1) -> Sighting {
        Sighting(
            beacon: BeaconID(uuid: home, major: 1, minor: minor), measuredPower: MeasuredPower(dBm: -59),
            rssi: RSSI(reported: -60), receiver: Receiver(index: 0))
    }

    private static func region(
        _ rid: String, _ uuid: BeaconUUID, tracker: Int = 0, major: UInt16? = nil, minor: UInt16? = nil,
        leave: LeaveRule = .after(.seconds(60))
    ) -> MonitoredRegion {
        MonitoredRegion(
            key: RegionKey(tracker: tracker, rid: rid), pattern: BeaconPattern(uuid: uuid, major: major, minor: minor),
            leaveRule: leave)
    }

    /// Strangers that were never heard before, so many a second.
    private func flood(_ simulation: inout Simulation, from first: Int = 0, count: Int, at seconds: Double) {
        for number in first..<(first + count) {
            simulation.hear(sighting(UInt16(truncatingIfNeeded: number)), at: seconds)
        }
    }

    @Test func `Invented identities fill the places to their limit and displace no beacon that is inside`() {
        var simulation = Simulation([Self.region("all", uuid)], mostStrangers: 100)
        simulation.hear(at: 1)
        flood(&simulation, from: 2, count: 150, at: 2)
        #expect(simulation.engine.droppedSightings == 51)
        #expect(simulation.engine.explain(key("all"), at: at(3)).count == 100)
        #expect(simulation.engine.explain(key("all"), at: at(3)).first?.beacon == beacon(1))
    }

    @Test func `A beacon that a region names enters, however many strangers there are`() {
        let mine = Self.region("mine", uuid, major: 1, minor: 60_000)
        var simulation = Simulation([Self.region("all", uuid), mine], mostStrangers: 100)
        for second in 1...30 { flood(&simulation, from: second * 100, count: 100, at: Double(second)) }
        simulation.hear(sighting(60_000), at: 31)
        #expect(simulation.engine.isOccupied(mine.key))
    }

    @Test func `Beacons that regions name take no place from strangers`() {
        let named = (0..<100).map { Self.region("r\($0)", uuid, major: 1, minor: UInt16($0)) }
        var simulation = Simulation([Self.region("all", uuid)] + named, mostStrangers: 100)
        flood(&simulation, count: 200, at: 1)
        #expect(simulation.engine.trackedBeacons == 200)
        #expect(simulation.engine.droppedSightings == 0)
    }

    @Test(arguments: [0, 1])
    func `Unknown beacons of one pattern displace no beacon of another, of the same tracker or another`(tracker: Int) {
        let family = Self.region("family", Self.home, tracker: tracker)
        var simulation = Simulation([Self.region("all", uuid), family], mostStrangers: 100)
        for second in 1...30 { flood(&simulation, from: second * 100, count: 100, at: Double(second)) }
        for minor in 1...25 { simulation.hear(Self.family(UInt16(minor)), at: 31) }
        #expect(simulation.engine.isOccupied(family.key))
        #expect(simulation.engine.explain(family.key, at: at(31)).count == 25)
    }

    @Test func `A tracker with many patterns takes no place of another tracker`() {
        let family = Self.region("family", Self.home, tracker: 1)
        // Also one that the family's beacons belong to, and comes before.
        var regions = (0..<1000).map { Self.region("r\($0)", uuid, major: UInt16($0)) }
        regions += [Self.region("all", uuid), Self.region("theirs", Self.home), family]
        var simulation = Simulation(regions, mostStrangers: 100)
        for number in 0..<3000 {
            simulation.hear(
                Sighting(
                    beacon: beacon(UInt16(number), major: UInt16(number % 1000)),
                    measuredPower: MeasuredPower(dBm: -59),
                    rssi: nil, receiver: Receiver(index: 0)), at: Double(number) / 100)
        }
        for minor in 1...20 { simulation.hear(Self.family(UInt16(minor)), at: 31) }
        #expect(simulation.engine.explain(family.key, at: at(31)).count == 20)
    }

    @Test func `A stranger that was known before outlives invented ones while it is away`() {
        var random = Random(3)
        var simulation = Simulation([Self.region("all", uuid, leave: .after(.seconds(5)))], mostStrangers: 100)
        simulation.advertise(1, every: 1, until: 20, &random)
        simulation.run(to: 30)
        for second in 30...60 { flood(&simulation, from: second * 50, count: 50, at: Double(second)) }
        #expect(simulation.engine.explain(beacon(1), in: key("all"), at: at(60))?.links.first?.isRhythmKnown == true)
    }

    @Test func `Who was inside before a restart keeps the place, though there are too few`() {
        let regions = [Self.region("all", uuid), Self.region("some", uuid, major: 1)]
        var simulation = Simulation(regions)
        flood(&simulation, count: 50, at: 1)
        let state = simulation.engine.state(at: at(2))
        var later = Simulation(regions, mostStrangers: 10)
        later.record(later.engine.restore(state, at: at(0)))
        #expect(later.events.isEmpty)
        #expect(later.engine.trackedBeacons == 50)
    }

    // MARK: Memberships

    @Test func `A beacon takes a place for each eight regions, which bounds the memberships`() {
        // One after the other, so that they are patterns of their own.
        let regions = (0..<100).map { Self.region("r\($0)", uuid, tracker: $0) }
        var simulation = Simulation(regions, mostStrangers: 104)
        flood(&simulation, count: 1000, at: 1)
        // 13 places each, of the common half: no tracker has as many of its own.
        #expect(simulation.engine.trackedBeacons == 4)
        #expect(simulation.engine.memberships.count < 8 * 104)
    }

    @Test func `Regions that are added while many are inside make no more memberships than there may be`() {
        var simulation = Simulation([Self.region("all", uuid)], mostStrangers: 100)
        flood(&simulation, count: 100, at: 1)
        simulation.handle(.regions((0..<1000).map { Self.region($0 == 0 ? "all" : "r\($0)", uuid) }))
        #expect(simulation.engine.memberships.count <= 8 * 100)
        #expect(simulation.engine.trackedBeacons == 100)
        simulation.hear(sighting(5), at: 2)
        #expect(simulation.engine.isOccupied(key("all")))
        #expect(simulation.leaves.isEmpty)
    }

    @Test func `Beacons that are nowhere inside are forgotten when added regions need their places`() {
        var simulation = Simulation([Self.region("all", uuid, leave: .after(.seconds(5)))], mostStrangers: 100)
        flood(&simulation, count: 99, at: 1)
        simulation.run(to: 10)
        simulation.hear(sighting(999), at: 11)
        let regions = (0..<80).map { Self.region($0 == 0 ? "all" : "r\($0)", uuid, leave: .after(.seconds(5))) }
        simulation.handle(.regions(regions))
        #expect(simulation.engine.trackedBeacons == 1)
        simulation.hear(sighting(999), at: 12)
        #expect(regions.allSatisfy { simulation.engine.isOccupied($0.key) })
        simulation.run(to: 60)
        #expect(!regions.contains { simulation.engine.isOccupied($0.key) })
    }

    // MARK: What is said

    @Test func `That beacons are turned away is said once a minute, with the region`() {
        var simulation = Simulation([Self.region("family", Self.home), Self.region("all", uuid)], mostStrangers: 10)
        for second in 1...100 { flood(&simulation, from: second * 20, count: 20, at: Double(second)) }
        let notices = simulation.events.filter { $0.change == .dropped(key("all")) }
        #expect(notices.map(\.seconds) == [1, 61])
        #expect(simulation.engine.lastTurnedAway?.region == key("all"))
    }

    @Test func `Room is made once a second at most`() {
        var simulation = Simulation([Self.region("all", uuid, leave: .after(.seconds(5)))], mostStrangers: 10)
        flood(&simulation, count: 5, at: 1)
        flood(&simulation, from: 5, count: 5, at: 4)
        simulation.hear(sighting(100), at: 5.9)
        simulation.run(to: 6.5)
        simulation.hear(sighting(101), at: 6.6)
        #expect(simulation.engine.droppedSightings == 2)
        simulation.hear(sighting(102), at: 7)
        #expect(simulation.engine.droppedSightings == 2)
        #expect(simulation.engine.trackedBeacons == 6)
    }
}
