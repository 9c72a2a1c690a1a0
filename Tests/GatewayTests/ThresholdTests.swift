import Beacon
import Configuration
import Regions
import Testing

@testable import Gateway

/// At which strengths a region is entered and left, where both the region and the settings say so.
@Suite struct ThresholdTests {
    /// `enterRSSI` and `leaveRSSI`, dBm: of the settings, of the region, and in force.
    private static let rows: [(settings: [Int8?], region: [Int8?], inForce: [Int8?])] = [
        ([nil, nil], [nil, nil], [nil, nil]), ([-75, -85], [nil, nil], [-75, -85]),
        ([-75, -85], [-60, -90], [-60, -90]), ([-75, -85], [nil, -80], [-75, -80]),
        ([-75, -85], [-80, nil], [-80, -85]), ([nil, nil], [nil, -80], [nil, -80]),
        // The end would be above the begin.
        ([-75, -85], [-92, nil], [-92, -92]), ([nil, -85], [-92, nil], [-92, -92]),
        ([-75, -85], [nil, -70], [-70, -70]), ([-75, nil], [nil, -70], [-70, -70]),
    ]

    @Test(arguments: rows)
    func `A region takes what it leaves out from the settings, but no end above its begin`(
        settings: [Int8?], region: [Int8?], inForce: [Int8?]
    ) throws {
        var configuration = try GatewayHarness.configuration("")
        (configuration.enterRSSI, configuration.leaveRSSI) = (rssi(settings[0]), rssi(settings[1]))
        let own = Region(
            rid: "r", description: RegionDescription(name: "r", pattern: nil), timestamp: 1,
            enterRSSI: rssi(region[0]), leaveRSSI: rssi(region[1]))
        let (enter, leave) = own.thresholds(by: configuration)
        #expect([enter?.dBm, leave?.dBm] == inForce)
        #expect(own.threshold(by: configuration)?.dBm == inForce[0] ?? inForce[1])
    }

    private func rssi(_ dBm: Int8?) -> RSSI? { dBm.flatMap { RSSI(reported: $0) } }

    @Test func `A beacon between the begin of its region and the end of the settings does not come and go`() throws {
        let shed = GatewayHarness.waypoint("Shed", rid: "s", more: #","enterRSSI":-92"#)
        var house = try GatewayHarness("enterRSSI: -75, leaveRSSI: -85, waypoints: [\(shed)]")
        _ = house.drainMessages()
        for _ in 0..<120 {
            try house.hear(rssi: -88)
            house.wait(1)
        }
        #expect(try house.drainEvents() == ["enter Shed"])
    }
}
