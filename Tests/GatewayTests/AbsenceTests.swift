import Base
import Beacon
import Configuration
import JSON
import OwnTracks
import Regions
import Testing

@testable import Gateway

/// Time in which no receiver listened is no silence, whatever the first input after it is.
@Suite struct AbsenceTests {
    private static let hall = "waypoints: [\(GatewayHarness.waypoint("Hall", rid: "h"))]"

    /// Every input but a tick may be the first after a suspend; a tick comes when the suspend is accounted for.
    @Test func `A region edit after a suspend makes no beacon leave`() throws {
        var harness = try GatewayHarness(Self.hall)
        try harness.hear()
        harness.pass(600)
        harness.edit([.remove(rid: "none"), .set(try region("Cellar"), isRIDDerived: false)])
        #expect(try harness.drainEvents() == ["enter Hall"])
        #expect(harness.gateway.trackers[0].regions.regions.map(\.displayName) == ["Hall", "Cellar"])
    }

    @Test func `Whatever is first after a suspend makes no beacon leave`() throws {
        let edit = RegionEdit(id: 1, tracker: "owntracks/jane/hall", change: .region(.remove(rid: "none")))
        let other = try #require(BeaconUUID("00000000-0000-0000-0000-000000000001"))
        let configuration = try GatewayHarness(Self.hall).gateway.configuration
        let sighting = Sighting(
            beacon: BeaconID(uuid: other, major: 1, minor: 1), measuredPower: MeasuredPower(dBm: -59), rssi: nil,
            receiver: Receiver(index: 0))
        let inputs: [Gateway.Input] = [
            .sighting(sighting), .listening(Receiver(index: 0), false), .scanDuty(Receiver(index: 0), 0.5), .checkpoint,
            .stopping, .wallClock(WallClock(epochOffset: 0, isKnown: true)), .regionEdits([edit]),
            .request(.changeRegions(tracker: 0, [.set(try region("Cellar"), isRIDDerived: false)])),
            .request(.reportLocation(tracker: 0)), .request(.setMonitoring(tracker: 0, .move)),
            .settings(.remaining(["_type": "configuration"])), .configuration(configuration),
            .writeLost, .stateLost, .brokerConnected(isNew: true), .homeAssistantStarted,
        ]
        for (number, input) in inputs.enumerated() {
            var harness = try GatewayHarness(Self.hall)
            try harness.hear()
            harness.pass(600)
            harness.handle(input)
            #expect(try harness.drainEvents().filter { $0.hasPrefix("leave") } == [], "input \(number)")
        }
    }

    @Test func `A suspend counts for no silence, also where a leave was not due yet`() throws {
        var harness = try GatewayHarness(Self.hall)
        try harness.hear()
        harness.wait(10)
        harness.sleep(40)
        harness.wait(49)
        #expect(try harness.drainEvents() == ["enter Hall"])
        harness.wait(2)
        #expect(try harness.drainEvents() == ["leave Hall"])
    }

    @Test func `A report that waited while the gateway did not run is handled before a leave that became due`() throws {
        var harness = try GatewayHarness(Self.hall)
        try harness.hear()
        harness.pass(600)
        try harness.hear()
        harness.handle(.tick)
        harness.wait(59)
        #expect(try harness.drainEvents() == ["enter Hall"])
        harness.wait(2)
        #expect(try harness.drainEvents() == ["leave Hall"])
    }

    @Test func `A late tick lets a beacon leave that was to leave, and shifts the leaves of the others`() throws {
        var harness = try GatewayHarness(
            "waypoints: [\(GatewayHarness.waypoint("Hall", rid: "h")),"
                + "\(GatewayHarness.waypoint("Cellar", rid: "c", suffix: ":1:8"))]")
        try harness.hear(minor: 7)
        harness.wait(30)
        try harness.hear(minor: 8)
        harness.wait(29)
        harness.pass(21)
        harness.handle(.tick)
        // Due at 60 and at 90 s; the gateway did not run from 60 to 80 s.
        #expect(try harness.drainEvents() == ["enter Hall", "enter Cellar", "leave Hall"])
        harness.wait(29)
        #expect(try harness.drainEvents() == [])
        harness.wait(2)
        #expect(try harness.drainEvents() == ["leave Cellar"])
    }

    private func region(_ name: String) throws -> Region {
        let description = try RegionDescription(parsing: "\(name):\(GatewayHarness.uuid):9", base: .decimal)
        return Region(rid: name, description: description, timestamp: 1)
    }
}
