import Beacon
import JSON
import OwnTracks
import Regions
import Testing

/// What the page's form shows of a region, and what it makes of it.
@Suite struct RegionFormTests {
    private static let uuid = "CA271EAE-5FA8-4E80-8F08-2A302A95A959"

    private func region(_ more: String = "") throws -> Region {
        let text =
            #"{"_type":"waypoint","tst":5,"wtst":3,"rid":"k","desc":"Kitchen:\#(Self.uuid):1:7","mine":[1]\#(more)}"#
        let reading = try WaypointsReading(JSONValue(parsing: text))
        guard case .set(let region, _)? = reading.changes.first else { throw NoRegion() }
        return region
    }

    private func changed(_ region: Region, _ changes: [String: JSONValue]) throws -> Region {
        let reading = try WaypointsReading(region.waypoint(changing: changes, base: .auto))
        #expect(reading.problems.isEmpty)
        guard case .set(let region, _)? = reading.changes.first else { throw NoRegion() }
        return region
    }

    private struct NoRegion: Error {}

    @Test func `The form shows name, numbers, leaveAfter and thresholds`() throws {
        let plain = try region().form
        #expect(
            plain == [
                "rid": "k", "desc": "Kitchen", "uuid": .string(Self.uuid), "major": 1, "minor": 7,
                "leaveAfter": .null, "enterRSSI": .null, "leaveRSSI": .null,
            ])
        let full = try region(#","leaveAfter":30,"enterRSSI":-70,"leaveRSSI":-80"#).form
        #expect([full["leaveAfter"], full["enterRSSI"], full["leaveRSSI"]] == [30, -70, -80])
    }

    @Test(arguments: ["", #","leaveAfter":"auto","enterRSSI":-70,"leaveRSSI":-80,"lat":52,"lon":6"#])
    func `A form that is sent back as it is changes nothing`(more: String) throws {
        let region = try region(more)
        #expect(try changed(region, try #require(region.form.object)) == region)
    }

    @Test func `A form changes neither rid nor time stamp, even if it contains them`() throws {
        let region = try region()
        let new = try changed(region, ["rid": "other", "tst": 1, "_type": "location", "desc": "Cellar"])
        #expect((new.rid, new.timestamp, new.description.name) == ("k", region.timestamp, "Cellar"))
    }

    @Test func `A name and numbers that are changed in the form change the region and nothing else of it`() throws {
        let old = try region(#","leaveAfter":30"#)
        let new = try changed(
            old,
            [
                "rid": "k", "desc": "Cellar", "uuid": .string(Self.uuid), "major": 2, "minor": 0, "leaveAfter": .null,
                "enterRSSI": -75, "leaveRSSI": .null,
            ])
        #expect(new.description.text(base: .auto) == "Cellar:\(Self.uuid):2")
        #expect((new.rid, new.timestamp, new.creationTimestamp) == ("k", 5, 3))
        #expect((new.leaveRule, new.enterRSSI?.dBm, new.leaveRSSI?.dBm) == (nil, -75, nil))
        #expect(new.extensionMembers == old.extensionMembers)
    }
}
