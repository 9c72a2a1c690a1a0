import Beacon
import Identities
import JSON
import OwnTracks
import Regions
import Testing

@Suite("A region of what is no iBeacon")
struct RegionIdentityTests {
    private func region(_ json: JSONValue) throws -> Region {
        let reading = try WaypointsReading(json)
        #expect(reading.problems.isEmpty)
        guard case .set(let region, _)? = reading.changes.first else { throw NoRegion() }
        return region
    }

    private func region(desc: String, _ more: String = "") throws -> Region {
        try region(JSONValue(parsing: #"{"_type":"waypoint","tst":5,"rid":"b","desc":"\#(desc)"\#(more)}"#))
    }

    private struct NoRegion: Error {}

    @Test("other programs see the derived UUID, and an import finds the identity again")
    func export() throws {
        let bike = try region(desc: "Bike:mac:C0:FF:EE:00:00:01")
        let identity = Identity.address(0xc0ff_ee00_0001)
        #expect(bike.identity == identity)
        let waypoint = bike.waypoint()
        #expect(waypoint["desc"] == .string("Bike:\(identity.uuid)"))
        #expect(waypoint["identity"] == "mac:C0:FF:EE:00:00:01")
        #expect(try region(waypoint) == bike)
    }

    @Test("numbers of an AltBeacon stay beside its UUID")
    func altBeacon() throws {
        let tag = try region(desc: "Tag:altbeacon:CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:2")
        #expect(tag.description.pattern?.major == 1)
        #expect(tag.description.pattern?.minor == 2)
        #expect(try region(tag.waypoint()).identity == tag.identity)
    }

    @Test("another UUID, or none, ends the identity")
    func changed() throws {
        let bike = try region(desc: "Bike:mac:C0:FF:EE:00:00:01")
        let uuid: JSONValue = "CA271EAE-5FA8-4E80-8F08-2A302A95A959"
        #expect(try region(bike.waypoint(changing: ["uuid": uuid], base: .auto)).identity == nil)
        #expect(try region(bike.waypoint(changing: ["desc": "Bike"], base: .auto)).identity == nil)
        #expect(try region(desc: "Bike:mac:C0:FF:EE:00:00:01", #","uuid":\#(uuid.text)"#).identity == nil)
    }

    @Test(
        "a key in a description is refused, of a circle too, and is not shown",
        arguments: ["", #","rad":5"#, #","uuid":"1""#])
    func key(_ more: String) throws {
        let text = #"{"_type":"waypoint","tst":5,"desc":"Jane: IRK :ec0234a357c8ad05341010a60a397d9b"\#(more)}"#
        let reading = try WaypointsReading(JSONValue(parsing: text))
        #expect(reading.changes.isEmpty)
        let problem = try #require(reading.problems.first)
        #expect(problem.description.contains("a key does not belong into a description"))
        #expect(!problem.description.contains("ec02"), "\(problem)")
    }

    @Test("where keys are accepted, the region has the derived UUID, and the key stands beside the list")
    func acceptedKey() throws {
        let text =
            #"{"_type":"waypoint","tst":5,"rid":"b","desc":"Jane|1|2:irk:EC:02:34:A3:57:C8:AD:05:34:10:10:A6:0A:39:7D:9B"}"#
        let reading = try WaypointsReading(JSONValue(parsing: text), acceptsKeys: true)
        let key = IdentityKey(high: 0xec02_34a3_57c8_ad05, low: 0x3410_10a6_0a39_7d9b)
        #expect(reading.keys == [NamedKey(name: "Jane", key: key)])
        guard case .set(let region, _)? = reading.changes.first else { throw NoRegion() }
        #expect(
            region.description
                == RegionDescription(name: "Jane|1|2", pattern: BeaconPattern(uuid: key.uuid, major: nil, minor: nil)))
        #expect(region.waypoint()["desc"] == .string("Jane|1|2:\(key.uuid)"))
        #expect(region.waypoint()["identity"] == nil)
    }

    @Test(
        "also there a circle, a UUID beside the key, and a key that is none are refused",
        arguments: [
            #""desc":"Jane:irk:EC0234A357C8AD05341010A60A397D9B","rad":5"#,
            #""desc":"Jane:irk:EC0234A357C8AD05341010A60A397D9B","uuid":"CA271EAE-5FA8-4E80-8F08-2A302A95A959""#,
            #""desc":"Jane:irk:EC0234A357C8AD05341010A60A397D""#,
        ])
    func unusableKey(_ members: String) throws {
        let json = try JSONValue(parsing: #"{"_type":"waypoint","tst":5,\#(members)}"#)
        let reading = try WaypointsReading(json, acceptsKeys: true)
        #expect(reading.changes.isEmpty && reading.keys.isEmpty)
        #expect(reading.problemCount == 1)
        #expect(!reading.problems.contains { $0.description.contains("EC02") }, "\(reading.problems)")
    }

    @Test("another name keeps it")
    func renamed() throws {
        let bike = try region(desc: "Bike:mac:C0:FF:EE:00:00:01")
        let uuid = try #require(bike.form["uuid"])
        let renamed = try region(bike.waypoint(changing: ["desc": "Cycle", "uuid": uuid], base: .auto))
        #expect(renamed.identity == bike.identity)
    }

    @Test(
        "a member that is no identity of this UUID is kept and has no effect",
        arguments: ["mac:", "mac:C0:FF:EE:00:00:02"])
    func foreign(_ text: String) throws {
        let uuid = Identity.address(0xc0ff_ee00_0001).uuid
        let region = try region(desc: "Bike:\(uuid)", #","identity":"\#(text)""#)
        #expect(region.identity == nil)
        #expect(region.waypoint()["identity"] == .string(text))
    }
}
