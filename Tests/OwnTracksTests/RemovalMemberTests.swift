import JSON
import Regions
import TestSupport
import Testing

@testable import OwnTracks

/// Waypoints that delete, as people have them: what set a region, without a place on Earth.
@Suite struct RemovalMemberTests {
    private static func set(_ waypoints: String...) throws -> RegionSet {
        RegionSet.reading(try WaypointsReading(parsing: "[\(waypoints.joined(separator: ","))]"))
    }

    private static func left(_ set: RegionSet, deleting waypoint: String) throws -> [String] {
        var set = set
        set.apply(try WaypointsReading(parsing: waypoint).changes)
        return set.regions.map(\.rid)
    }

    @Test func `Of two regions with one name the members uuid, major and minor say which is meant`() throws {
        let beacon = #""uuid":"\#(sampleUUID)","major":1,"minor":"#
        let set = try Self.set(
            #"{"_type":"waypoint","rid":"a","desc":"Bag",\#(beacon)7}"#,
            #"{"_type":"waypoint","rid":"b","desc":"Bag",\#(beacon)8}"#)
        #expect(
            try Self.left(
                set, deleting: #"{"_type":"waypoint","desc":"Bag",\#(beacon)8,"lat":-1000000,"lon":-1000000}"#)
                == ["a"])
        #expect(try Self.left(set, deleting: #"{"_type":"waypoint","desc":"Bag","lat":-1000000}"#) == ["a", "b"])
    }

    @Test func `A circle whose name looks like a description is deleted by it`() throws {
        let set = try Self.set(#"{"_type":"waypoint","rid":"c","desc":"Lunch: the corner","lat":1,"lon":2,"rad":50}"#)
        #expect(try Self.left(set, deleting: #"{"_type":"waypoint","desc":"Lunch: the corner","lat":-1000000}"#) == [])
    }

    @Test func `The words about a removal that matches nothing have no key`() throws {
        let reading = try WaypointsReading(
            parsing: #"{"_type":"waypoint","desc":"Jane:irk:EC0234A357C8AD05341010A60A397D9B","lat":-1000000}"#)
        let unmatched = RegionSet().resolving(reading.changes).unmatched
        #expect(unmatched.count == 1 && !"\(unmatched)".contains("EC0234A357C8"))
    }
}
