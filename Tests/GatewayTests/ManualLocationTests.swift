import Base
import JSON
import OwnTracks
import Regions
import Testing

@testable import Gateway

/// The table of the Location page: what a location brings by its description, its iBeacon and its radius.
///
/// Sharing, which the table means by its two rows of each kind, is `publishWaypoints` here. An event always has its
/// description, since Home Assistant and the Recorder drop it otherwise.
@Suite struct ManualLocationTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let hasDescription: Bool
        let hasBeacon: Bool
        let hasRadius: Bool
        let isShared: Bool
        /// What hearing the beacon brings on `/event`.
        let events: [String]
        /// Messages on `/waypoint` when it is made, renamed and named back.
        let waypoints: Int

        var testDescription: String {
            "desc \(hasDescription), iBeacon \(hasBeacon), radius \(hasRadius), shared \(isShared)"
        }

        var waypoint: String {
            let name = hasDescription ? "Garden" : ""
            let beacon = hasBeacon ? ":\(GatewayHarness.uuid):1:7" : ""
            return #"{"_type":"waypoint","tst":1600000000,"rid":"r","desc":"\#(name)\#(beacon)","lat":52,"lon":6,"#
                + #""rad":\#(hasRadius ? 50 : 0)}"#
        }
    }

    private static let rows = [
        // A location without a description is no waypoint.
        Row(hasDescription: false, hasBeacon: false, hasRadius: false, isShared: true, events: [], waypoints: 0),
        Row(hasDescription: false, hasBeacon: true, hasRadius: false, isShared: true, events: [], waypoints: 0),
        // A note.
        Row(hasDescription: true, hasBeacon: false, hasRadius: false, isShared: true, events: [], waypoints: 3),
        Row(hasDescription: true, hasBeacon: false, hasRadius: false, isShared: false, events: [], waypoints: 0),
        // A circle. Its beacon is not listened for.
        Row(hasDescription: true, hasBeacon: false, hasRadius: true, isShared: false, events: [], waypoints: 0),
        Row(hasDescription: true, hasBeacon: false, hasRadius: true, isShared: true, events: [], waypoints: 3),
        Row(hasDescription: true, hasBeacon: true, hasRadius: true, isShared: false, events: [], waypoints: 0),
        Row(hasDescription: true, hasBeacon: true, hasRadius: true, isShared: true, events: [], waypoints: 3),
        // A beacon region.
        Row(
            hasDescription: true, hasBeacon: true, hasRadius: false, isShared: false, events: ["b enter Garden"],
            waypoints: 0),
        Row(
            hasDescription: true, hasBeacon: true, hasRadius: false, isShared: true, events: ["b enter Garden"],
            waypoints: 3),
    ]

    @Test(arguments: rows)
    func `A location made by hand brings what the table says (Location page)`(row: Row) throws {
        var house = try GatewayHarness("publishWaypoints: \(row.isShared)")
        house.setWaypoints(row.waypoint)
        #expect(house.gateway.trackers[0].regions.regions.count == (row.hasDescription ? 1 : 0))
        house.setWaypoints(row.waypoint.replacing("Garden", with: "Back garden"))
        house.setWaypoints(row.waypoint)
        try house.hear()
        let messages = house.drainMessages()
        let waypoints = messages.filter { $0.topic.hasSuffix("/waypoint") }
        #expect(waypoints.count == row.waypoints)
        #expect(waypoints.allSatisfy { !$0.isRetained })
        let events = try messages.filter { $0.kind == .transition }.map { message in
            let json = try JSONValue(parsing: message.payload)
            return ["t", "event", "desc"].map { json[$0]?.string ?? "?" }.joined(separator: " ")
        }
        // Another name is no other presence, so hearing the beacon brings one enter.
        #expect(events.filter { $0.hasPrefix("b ") } == row.events)
    }

    @Test func `An automatic location brings neither event nor waypoint (Location page)`() throws {
        var house = try GatewayHarness("publishWaypoints: true, lat: 52, lon: 6")
        house.command(#"{"_type":"cmd","action":"reportLocation"}"#)
        #expect(house.drainMessages().map(\.kind) == [.location])
        #expect(house.gateway.trackers[0].regions.regions.isEmpty)
    }
}
