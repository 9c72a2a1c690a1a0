import JSON
import OwnTracks
import Regions
import Testing

/// A command and what is read from it; `source` as in `WaypointRow`.
struct CommandRow: Sendable, CustomTestStringConvertible {
    let source: String
    let text: String
    let command: Command?
    /// Words of the reason if it is refused.
    let reason: String?

    init(_ source: String, _ text: String, _ command: Command) {
        (self.source, self.text, self.command, reason) = (source, text, command, nil)
    }

    init(_ source: String, _ text: String, refused reason: String) {
        (self.source, self.text, command, self.reason) = (source, text, nil, reason)
    }

    var testDescription: String { "\(source): \(text)" }
}

@Suite struct CommandRules {
    static let rows: [CommandRow] = [
        .init("3 reportLocation", #"{"_type":"cmd","action":"reportLocation"}"#, .reportLocation),
        .init("3 waypoints", #"{"_type":"cmd","action":"waypoints"}"#, .waypoints),
        .init("3 clearWaypoints", #"{"_type":"cmd","action":"clearWaypoints"}"#, .clearWaypoints),
        .init("3 dump", #"{"_type":"cmd","action":"dump"}"#, .dump),
        .init("3 status, members it does not know", #"{"action":"status","_type":"cmd","_id":"x"}"#, .status),
        .init(
            "3 setConfiguration",
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration","tid":"x"}}"#,
            .setConfiguration(["_type": "configuration", "tid": "x"], waypoints: nil)),
        .init("4: NUL-terminated plaintext", "{\"_type\":\"cmd\",\"action\":\"dump\"}\0", .dump),
        .init("SCH cmd-illegal-action", #"{"_type":"cmd","action":"explode"}"#, refused: "unknown action 'explode'"),
        .init("a typo", #"{"_type":"cmd","action":"setWaypoint"}"#, refused: "did you mean 'setWaypoints'"),
        .init("SCH cmd-without-action", #"{"_type":"cmd"}"#, refused: "action is missing"),
        .init("action null", #"{"_type":"cmd","action":null}"#, refused: "action is missing"),
        .init("action a number", #"{"_type":"cmd","action":5}"#, refused: "a number is not a string"),
        .init("_type of another message", #"{"_type":"location"}"#, refused: "_type is 'location'"),
        .init("no _type", #"{"action":"dump"}"#, refused: "_type is missing"),
        .init("an array", #"[{"_type":"cmd"}]"#, refused: "an array is not a command"),
        .init("a number", "5", refused: "a number is not a command"),
        .init("no JSON", "report now", refused: "not JSON: line 1, column 1"),
        .init("empty", "", refused: "not JSON: the text is empty"),
        .init(
            "SCH cmd-setWaypoints-illegal: tst 010",
            #"{"_type":"cmd","action":"setWaypoints","waypoints":[{"tst": 010}]}"#, refused: "line 1, column 61"),
        .init(
            "setWaypoints without an argument", #"{"_type":"cmd","action":"setWaypoints"}"#,
            refused: "setWaypoints: waypoints is missing"),
        .init(
            "setWaypoints with text", #"{"_type":"cmd","action":"setWaypoints","waypoints":"all"}"#,
            refused: "setWaypoints: a string is not a list"),
        .init(
            "SCH setConfiguration-noconfiguration", #"{"_type":"cmd","action":"setConfiguration"}"#,
            refused: "configuration is missing"),
        .init(
            "SCH setConfiguration-config-notype",
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"tid":"x"}}"#,
            refused: "_type 'configuration'"),
        .init(
            "SCH setConfiguration-config-wrongtype",
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"cmd"}}"#,
            refused: "_type 'configuration'"),
        .init(
            "SCH setConfiguration-badconfiguration",
            #"{"_type":"cmd","action":"setConfiguration","configuration":[]}"#, refused: "_type 'configuration'"),
        .init("restart is refused politely", #"{"_type":"cmd","action":"restart"}"#, refused: "systemd does that"),
        .init(
            "3 reportSteps", #"{"_type":"cmd","action":"reportSteps","from":1,"to":2}"#, refused: "does not count steps"
        ),
        .init("3 response", #"{"_type":"cmd","action":"response"}"#, refused: "does not use tours"),
    ]

    @Test("A command is read, or refused with its reason", arguments: rows)
    func rule(row: CommandRow) {
        do throws(CommandError) {
            let command = try Command(parsing: row.text.utf8)
            #expect(command == row.command)
        } catch {
            #expect(row.reason.map { error.description.contains($0) } == true, "\(error)")
        }
    }

    /// The example of Regions page, "Remote loading of regions", in one line as `jq -c` makes it.
    static let documentedExample = """
        {"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[\
        {"_type":"waypoint","tst":1708625557,"rid":"my-region-id-1","desc":"home","rad":100,"lat":30.0,"lon":40.0},\
        {"_type":"waypoint","tst":1708625558,"rid":"my-region-id-2","desc":"work","rad":100,"lat":30.1,"lon":40.1}]}}
        """

    @Test("setWaypoints is read as the document shows it (Regions page), and with a line end after it")
    func setWaypoints() throws {
        for ending in ["", "\n", "\r\n"] {
            guard case .setWaypoints(let reading) = try Command(parsing: (Self.documentedExample + ending).utf8) else {
                Issue.record("another command was read")
                return
            }
            var set = RegionSet()
            let difference = set.apply(reading.changes)
            #expect(difference.inserted.map(\.rid) == ["my-region-id-1", "my-region-id-2"])
            #expect(set[rid: "my-region-id-2"]?.coordinates == Coordinates(latitude: 30.1, longitude: 40.1))
        }
    }

    @Test("Insert, update, delete first, middle and last, clear (owntracks.md 3.1)")
    func mergeSequence() throws {
        var set = RegionSet()
        func send(_ waypoints: [JSONValue]) throws -> [String] {
            let json: JSONValue = ["_type": "cmd", "action": "setWaypoints", "waypoints": .array(waypoints)]
            guard case .setWaypoints(let reading) = try Command(json) else { return ["?"] }
            set.apply(reading.changes)
            return set.regions.map { "\($0.rid)=\($0.description.name)" }
        }
        func one(_ rid: String, _ name: String) -> JSONValue { waypoint(["rid": .string(rid), "desc": .string(name)]) }
        func gone(_ rid: String) -> JSONValue { waypoint(["rid": .string(rid), "lat": 100, "lon": 500]) }
        #expect(try send(["a", "b", "c", "d", "e"].map { one($0, $0) }) == ["a=a", "b=b", "c=c", "d=d", "e=e"])
        #expect(try send([one("c", "new")]) == ["a=a", "b=b", "c=new", "d=d", "e=e"])
        #expect(try send([gone("a")]) == ["b=b", "c=new", "d=d", "e=e"])
        #expect(try send([gone("c")]) == ["b=b", "d=d", "e=e"])
        #expect(try send([gone("e"), gone("unknown")]) == ["b=b", "d=d"])
        #expect(set.removeAll().removed.count == 2)
    }

    @Test("A region without rid replaces the only one of the same time (the older key, Waypoints page)")
    func legacyKey() throws {
        var set = RegionSet()
        set.apply(try WaypointsReading([waypoint(["rid": "mine"])]).changes)
        let renamed = try WaypointsReading([waypoint(["rid": .null, "desc": "Larder"])])
        #expect(set.apply(renamed.changes).updated.map(\.rid) == ["mine"])
        #expect(set.regions.map(\.description.name) == ["Larder"])
    }

    @Test("A changed region keeps its rid, and the time that came with it (Regions page)")
    func changedRegion() throws {
        var set = RegionSet()
        set.apply(try WaypointsReading([waypoint(["rid": "f7676c", "tst": 1_385_997_757])]).changes)
        let changed = try WaypointsReading([
            waypoint(["rid": "f7676c", "tst": 1_385_997_757, "desc": "Larder", "rad": 9])
        ])
        #expect(set.apply(changed.changes).updated.count == 1)
        let exported = try #require(set[rid: "f7676c"]).waypoint()
        #expect(exported["tst"] == 1_385_997_757)
        #expect(exported["desc"] == "Larder")
        #expect(exported["rad"] == 9)
    }

    @Test("Android's setConfiguration brings regions beside the configuration")
    func configurationWithWaypoints() throws {
        let json: JSONValue = [
            "_type": "cmd", "action": "setConfiguration", "configuration": ["_type": "configuration"],
            "waypoints": ["_type": "waypoints", "waypoints": [waypoint()]],
        ]
        guard case .setConfiguration(_, let waypoints?) = try Command(json) else {
            Issue.record("no waypoints")
            return
        }
        #expect(waypoints.changes.count == 1)
    }

    @Test("An encrypted message may hold an array of commands, and a bad one stops no other (owntracks.md 4)")
    func array() {
        let text = #"[{"_type":"cmd","action":"dump"},{"_type":"cmd"},{"_type":"cmd","action":"status"}]"#
        #expect(Command.all(in: text.utf8) == [.success(.dump), .failure(.missingAction), .success(.status)])
        #expect(Command.all(in: #"{"_type":"cmd","action":"dump"}"#.utf8) == [.success(.dump)])
        #expect(Command.all(in: "hello".utf8).count == 1)
    }
}
