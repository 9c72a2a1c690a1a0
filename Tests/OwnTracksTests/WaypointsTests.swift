import Beacon
import JSON
import OwnTracks
import Regions
import Testing

/// One waypoint and what becomes of it. `source` names what asks for it: a section or decision of
/// Docs/owntracks.md, or one of the pages of OwnTracks that it lists.
struct WaypointRow: Sendable, CustomTestStringConvertible {
    enum Outcome: Sendable {
        /// Taken, with this description and kind.
        case set(String, Region.Kind)
        case removed(String)
        /// Skipped, the reason holding these words.
        case skipped(String)
    }

    let source: String
    let members: [String: JSONValue]
    let outcome: Outcome

    init(_ source: String, _ members: [String: JSONValue], _ outcome: Outcome) {
        self.source = source
        self.members = members
        self.outcome = outcome
    }

    var testDescription: String { "\(source): \(JSONValue.object(members).text)" }
}

private func beacon(_ major: UInt16? = nil, _ minor: UInt16? = nil) -> Region.Kind {
    guard let uuid = BeaconUUID(sampleUUID) else { return .plain }
    return .beacon(BeaconPattern(uuid: uuid, major: major, minor: minor))
}

@Suite struct WaypointRules {
    static let rows: [WaypointRow] = [
        // Descriptions.
        .init(
            "iOS page: any beacon of the UUID", ["desc": .string("myBeacons:\(sampleUUID)")],
            .set("myBeacons:\(sampleUUID)", beacon())),
        .init(
            "iOS page: :0001:CAFE", ["desc": .string("myBeacon:\(sampleUUID):0001:CAFE")],
            .set("myBeacon:\(sampleUUID):1:51966", beacon(1, 51966))),
        .init("2.2 name:UUID:major", ["desc": .string("K:\(sampleUUID):7")], .set("K:\(sampleUUID):7", beacon(7))),
        .init("2.2 name:UUID:0:0 is any", ["desc": .string("K:\(sampleUUID):0:0")], .set("K:\(sampleUUID)", beacon())),
        .init(
            "decision 3: minor without major", ["desc": .string("K:\(sampleUUID):0:5")],
            .set("K:\(sampleUUID):0:5", beacon(nil, 5))),
        .init(
            "contract: undashed, lower case", ["desc": "K:ca271eae5fa84e808f082a302a95a959:10:20"],
            .set("K:\(sampleUUID):10:20", beacon(10, 20))),
        .init("2.2 leading -", ["desc": .string("-Home:\(sampleUUID)")], .set("-Home:\(sampleUUID)", beacon())),
        .init(
            "iOS page: Home|1|2", ["desc": .string("Home|1|2:\(sampleUUID)")], .set("Home|1|2:\(sampleUUID)", beacon())),
        .init("iOS page: +follow", ["desc": "+follow", "rad": 50], .set("+follow", .follow)),
        .init(
            "decision 4: rad > 0 with a UUID", ["desc": .string("K:\(sampleUUID)"), "rad": 50],
            .set("K:\(sampleUUID)", .circular)),
        .init(
            "2.3: a circle's name may hold ':'", ["desc": "Lunch: the corner", "rad": 50],
            .set("Lunch: the corner", .circular)),
        .init(
            "2.2 rad < 0 is a mobile beacon", ["desc": .string("Car:\(sampleUUID)"), "rad": -1],
            .set("Car:\(sampleUUID)", beacon())),
        .init("2.1: neither UUID nor radius", ["desc": "Note"], .set("Note", .plain)),
        .init("2.3: bad UUID is reported", ["desc": "K:CA271EAE"], .skipped("'CA271EAE' is not a UUID")),
        .init("2.3: over 65535", ["desc": .string("K:\(sampleUUID):65536")], .skipped("out of range")),
        .init("2.3: negative", ["desc": .string("K:\(sampleUUID):-1")], .skipped("not a number")),
        .init("2.3: more than four parts", ["desc": .string("K:\(sampleUUID):1:2:3")], .skipped("at most 4")),
        .init("2.1: empty name", ["desc": .string(":\(sampleUUID)")], .skipped("empty")),
        .init("iOS waypoints page: desc has a default", ["desc": .null], .set("Here", .plain)),
        .init(
            "iOS waypoints page: a beacon region without desc", ["desc": .null, "uuid": .string(sampleUUID)],
            .set("Here:\(sampleUUID)", beacon())),
        .init("3.1: desc is a string", ["desc": 5], .skipped("desc: 5 does not fit")),
        .init(
            "2.3: a name of 100 kB", ["desc": .string(String(repeating: "x", count: 100_000))],
            .skipped("100000 bytes")),
        // Members beside the description.
        .init(
            "decision 2: members are read", ["uuid": .string(sampleUUID), "major": 1, "minor": 2],
            .set("Kitchen:\(sampleUUID):1:2", beacon(1, 2))),
        .init(
            "2.3: members win",
            [
                "desc": "Kitchen:00000000-0000-0000-0000-000000000001:8:9",
                "uuid": .string(sampleUUID), "major": 1,
            ], .set("Kitchen:\(sampleUUID):1:9", beacon(1, 9))),
        .init(
            "2.3: members win over what is wrong", ["desc": "Kitchen:nonsense", "uuid": .string(sampleUUID)],
            .set("Kitchen:\(sampleUUID)", beacon())),
        .init(
            "2.3: 0 says any, also against desc", ["desc": .string("K:\(sampleUUID):7"), "major": 0],
            .set("K:\(sampleUUID)", beacon())),
        .init(
            "2.3: numeric strings", ["uuid": .string(sampleUUID), "major": "0010", "minor": "2"],
            .set("Kitchen:\(sampleUUID):10:2", beacon(10, 2))),
        .init("contract: members are decimal", ["uuid": .string(sampleUUID), "major": "CAFE"], .skipped("decimal")),
        .init("2.3: member out of range", ["uuid": .string(sampleUUID), "minor": 70000], .skipped("minor: 70000")),
        .init("2.3: member UUID is wrong", ["uuid": "x"], .skipped("uuid: 'x'")),
        // Required members and types.
        .init("3.1: _type is waypoint", ["_type": "location"], .skipped("_type: 'location'")),
        .init("iOS waypoints page: tst has a default", ["tst": .null], .set("Kitchen", .plain)),
        .init("3.1: tst is a number", ["tst": "yesterday"], .skipped("tst")),
        .init("Regions page: tst as a string", ["tst": "1385997757"], .set("Kitchen", .plain)),
        .init("Regions page: rad as a string", ["rad": "50"], .set("Kitchen", .circular)),
        .init(
            "Waypoints page: coordinates as strings", ["lat": "48.858330", "lon": "2.295130"], .set("Kitchen", .plain)),
        .init("decision 7: lat null", ["lat": .null], .skipped("lat: null")),
        .init("decision 7: lon no number", ["lon": "here"], .skipped("lon: 'here'")),
        .init("decision 7: rad no number", ["rad": true], .skipped("rad: true")),
        .init("a radius is on the Earth", ["rad": .number(1e20)], .skipped("rad")),
        .init("JSON5 NaN is no coordinate", ["lat": .number(.nan)], .skipped("lat")),
        // Keys and deletion.
        .init("decision 6: latitude out of range", ["lat": 100, "lon": 500], .removed("r1")),
        .init("3: deletion looks at rid alone", ["lat": 91, "desc": "x:nonsense"], .removed("r1")),
        .init("3.1: deletion without rid", ["lat": 91, "rid": .null], .removed("b4b412")),
        .init("1.4: poles and date line are places", ["lat": 90, "lon": -180], .set("Kitchen", .plain)),
        .init("3.1: rid is a string", ["rid": 5], .skipped("rid: 5")),
        .init("a rid becomes part of a topic", ["rid": .string(String(repeating: "r", count: 2000))], .skipped("rid")),
        // Our own members.
        .init("contract: leaveAfter", ["leaveAfter": "soon"], .skipped("leaveAfter: 'soon'")),
        .init("contract: leaveAfter range", ["leaveAfter": 0], .skipped("from 1 to 86400")),
        .init("contract: enterRSSI", ["enterRSSI": 127], .skipped("enterRSSI: 127")),
        .init("contract: hysteresis", ["enterRSSI": -80, "leaveRSSI": -70], .skipped("not above enterRSSI")),
    ]

    @Test("A waypoint is read by the rules", arguments: rows)
    func rule(row: WaypointRow) throws {
        let reading = try WaypointsReading([waypoint(row.members)])
        switch row.outcome {
        case .set(let description, let kind):
            #expect(reading.problems == [])
            guard case .set(let region, _)? = reading.changes.first else {
                Issue.record("it was not set")
                return
            }
            #expect(region.description.text() == description)
            #expect(region.kind == kind)
        case .removed(let rid):
            var set = RegionSet([
                Region(rid: rid, description: RegionDescription(name: "x", pattern: nil), timestamp: 1)
            ])
            #expect(reading.changes.count == 1)
            #expect(set.apply(reading.changes).removed.map(\.rid) == [rid])
        case .skipped(let words):
            #expect(reading.changes == [])
            #expect(reading.problems.first?.reason.contains(words) == true, "\(reading.problems)")
        }
    }

    @Test(
        "A region without rid gets the one that OwnTracks derives",
        arguments: [
            ("Kitchen", 1_700_000_000, "b4b412"), ("Main@WestWing", 1_432_817_332, "b4319f"),
            ("-MyBeacon", 1, "05f7ac"),
            ("home", 1_708_625_557, "67952e"),
        ])
    func derivedRID(name: String, timestamp: Int64, rid: String) throws {
        for absent in [JSONValue.null, ""] {
            let members: [String: JSONValue] = [
                "desc": .string("\(name):\(sampleUUID):1"), "tst": .integer(timestamp), "rid": absent,
            ]
            let reading = try WaypointsReading([waypoint(members)])
            guard case .set(let region, isRIDDerived: true)? = reading.changes.first else {
                Issue.record("no derived rid")
                return
            }
            #expect(region.rid == rid)
        }
    }

    @Test("A region keeps its place, time, own members and those it does not know")
    func members() throws {
        let region = try OwnTracksTests.region([
            "tst": "1700000001", "lat": "52.12345678", "lon": 6, "rad": .number(-0.4), "leaveAfter": .number(90.5),
            "enterRSSI": "-70",
            "leaveRSSI": -85, "wtst": 5, "shared": ["a": [1]] as JSONValue,
        ])
        #expect(region.timestamp == 1_700_000_001)
        #expect(region.coordinates == Coordinates(latitude: 52.123457, longitude: 6))
        #expect(region.radius == -1)
        #expect(region.leaveRule == .after(.milliseconds(90_500)))
        #expect(region.enterRSSI == RSSI(reported: -70))
        #expect(region.leaveRSSI == RSSI(reported: -85))
        #expect(region.extensionMembers == #"{"shared":{"a":[1]},"wtst":5}"#)
    }

    @Test("A bad element is told with its index and name, and its neighbours are taken")
    func neighbours() throws {
        let reading = try WaypointsReading([
            waypoint(), 5, waypoint(["desc": "Bad:uuid", "rid": "r2"]), [:], waypoint(["rid": "r3"]),
        ])
        #expect(reading.changes.count == 2)
        #expect(reading.problems.map(\.index) == [1, 2, 3])
        #expect(reading.problems.map(\.name) == ["", "Bad:uuid", ""])
        #expect(reading.problems[1].description.hasPrefix("waypoint 2 ('Bad:uuid'): desc: "))
    }

    @Test func `A rid that stands twice in a list is told, and the last waypoint counts`() throws {
        let reading = try WaypointsReading([
            waypoint(["desc": "A"]), waypoint(["rid": "other"]), waypoint(["desc": "B"]),
            waypoint(["rid": .null, "tst": 0, "desc": "Keys"]),
            waypoint(["rid": .null, "tst": 0, "desc": .string("Keys:\(sampleUUID)")]),
        ])
        #expect(
            reading.remarks.map { $0.description }.filter { !$0.contains("neither a UUID") } == [
                "waypoint 2 ('B'): waypoint 0 has the same rid, 'r1'; this one takes its place",
                "waypoint 4 ('\(JSON.shortened("Keys:\(sampleUUID)"))'): waypoint 3 has the same rid, "
                    + "'\(Regions.derivedRID(name: "Keys", timestamp: 0))'; this one takes its place",
            ])
        #expect(reading.problems.isEmpty && reading.changes.count == 5)
    }

    @Test(arguments: ["uuid", "leaveAfter", "lat"])
    func `A key in the wrong member is not told`(member: String) throws {
        let reading = try WaypointsReading([waypoint([member: "irk:ec0234a357c8ad05341010a60a397d9b"])])
        let reason = try #require(reading.problems.first?.reason)
        #expect(reason.hasPrefix("\(member): 'irk:(hidden)' does not fit"), "\(reason)")
    }

    @Test("Of very many bad elements the first hundred are told and all are counted")
    func manyProblems() throws {
        let reading = try WaypointsReading(.array(Array(repeating: .null, count: 5000)))
        #expect(reading.problems.count == 100)
        #expect(reading.problemCount == 5000)
    }

    @Test(
        "A region that no beacon enters is remarked on, but for a circle that was meant as one",
        arguments: [
            (["desc": .string("Car:\(sampleUUID):1:3"), "rad": 50], "rad is above 0"),
            (["desc": "Car", "uuid": .string(sampleUUID), "rad": .number(0.2)], "rad is above 0"),
            (["desc": .string("+Car:\(sampleUUID)"), "uuid": .string(sampleUUID)], "moving circle"),
            (["desc": "Dog", "UUID": .string(sampleUUID), "major": 1], "its 'UUID' is written 'uuid'"),
            (["desc": "Dog", "Rad": 50], "its 'Rad' is written 'rad'"),
            (["desc": "Dog"], "neither a UUID nor a radius"), ([:], "neither a UUID nor a radius"),
            (["desc": "Dog", "rad": 0, "lat": 50, "lon": 8], "neither a UUID nor a radius"),
            (["desc": "Dog", "rad": -5], "neither a UUID nor a radius"),
            (["desc": "Dog", "uuid": ""], "neither a UUID nor a radius"),
            (["desc": .string("Dog:\(sampleUUID)")], nil), (["desc": "Dog", "uuid": .string(sampleUUID)], nil),
            (["desc": "Home", "rad": 50], nil), (["desc": "+follow", "rad": 50], nil),
            (["desc": "Dog:mac:00:11:22:33:44:55"], nil),
        ] as [([String: JSONValue], String?)])
    func regionsWithoutBeacon(members: [String: JSONValue], words: String?) throws {
        let waypoint = members.merging(["_type": "waypoint", "tst": 1]) { $1 }
        let reading = try WaypointsReading(.object(waypoint))
        #expect(reading.problems.isEmpty && reading.changes.count == 1)
        guard let words else { return #expect(reading.remarks.isEmpty) }
        #expect(reading.remarks.count == 1)
        #expect(reading.remarks.first?.reason.contains(words) == true, "\(reading.remarks)")
    }

    @Test("What a phone would understand otherwise is remarked on")
    func remarks() throws {
        let circle = try WaypointsReading([waypoint(["desc": .string("K:\(sampleUUID)"), "rad": 5])])
        #expect(circle.remarks.map(\.reason).first?.contains("circle") == true)
        let minor = try WaypointsReading([waypoint(["desc": .string("K:\(sampleUUID)::5")])])
        #expect(minor.remarks.map(\.reason).first?.contains("minor without a major") == true)
    }

    @Test(
        "A list comes as an object, as a bare array, as one waypoint or in a configuration",
        arguments: [
            ["_type": "waypoints", "waypoints": [waypoint()]], [waypoint()], waypoint(),
            ["_type": "configuration", "waypoints": [waypoint()]],
            ["_type": "waypoints", "_creator": "someone", "waypoints": [waypoint()]],
        ] as [JSONValue])
    func forms(json: JSONValue) throws {
        #expect(try WaypointsReading(json).changes.count == 1)
    }

    @Test(
        "Anything else is no list of waypoints",
        arguments: [
            ("waypoints", "a string"), (["_type": "location"], "_type is 'location'"), ([:], "_type is missing"),
            (["_type": "waypoints", "waypoints": ["a": 1]], "expected an array"),
        ] as [(JSONValue, String)])
    func noList(json: JSONValue, words: String) {
        let error = #expect(throws: WaypointsError.self) { try WaypointsReading(json) }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }
}
