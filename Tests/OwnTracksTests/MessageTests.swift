import Beacon
import Configuration
import JSON
import OwnTracks
import Regions
import Testing

/// One message of each kind in each form, by name.
func sampleMessages() throws -> [(name: String, payload: JSONValue)] {
    let kitchen = try region(["desc": .string("-Kitchen|1|2:\(sampleUUID):1:2"), "tst": 1_600_000_000])
    let place = Position(coordinates: Coordinates(latitude: 52.123_456_78, longitude: -6), accuracy: 0)
    let nowhere = Position(coordinates: Coordinates(latitude: 0, longitude: 0), accuracy: 10)
    var messages: [(String, JSONValue)] = []
    for event in Transition.Event.allCases {
        for (position, delay) in [(place, Int64(0)), (nowhere, 3600)] {
            let transition = Transition(
                event, of: kitchen, trackerID: "KI", position: position, timestamp: 1_700_000_000,
                createdAt: 1_700_000_000 + delay)
            messages.append(("transition", transition.payload))
        }
    }
    for trigger in [Location.Trigger.beacon, .requested, .periodic, .manual] {
        let location = Location(
            trigger, trackerID: "KI", position: place, timestamp: 1_700_000_000, createdAt: 1_700_000_010,
            inRegions: trigger == .beacon ? [kitchen] : [], tag: trigger == .periodic ? "Spain 2023" : nil,
            pointOfInterest: trigger == .manual ? "delicious seafood" : nil)
        messages.append(("location", location.payload))
    }
    if let uuid = BeaconUUID(sampleUUID), let rssi = RSSI(reported: -70) {
        let ranging = BeaconRanging(
            beacon: BeaconID(uuid: uuid, major: 1, minor: 65_535), rssi: rssi, distance: 2.6, trackerID: "KI",
            timestamp: 1_700_000_000, regionName: "-Kitchen|1|2")
        messages.append(("beacon", ranging.payload))
    }
    messages.append(("waypoint", kitchen.waypoint()))
    messages.append(("waypoints", waypointsMessage([kitchen, try region(["rad": 50])])))
    messages.append(("waypoints", waypointsMessage([])))
    messages.append(("lwt", LastWill(timestamp: 1_700_000_000).payload))
    messages.append(("status", Status(gateway: ["version": "1"]).payload))
    messages.append(("dump", Dump(configuration: Configuration.defaults(hostName: "pi").shown).payload))
    messages.append(("card", Card(name: "Kitchen", face: nil).payload(trackerID: "KI")))
    messages.append(("encrypted", EncryptedMessage(data: "AAEC").payload))
    return messages
}

@Suite struct MessageSet {
    @Test("Every message keeps the rules of the message set (owntracks.md 1)")
    func everyMessage() throws {
        let messages = try sampleMessages()
        #expect(Set(messages.map(\.name)) == Set(MessageRules.members.keys))
        for (name, payload) in messages {
            #expect(payload["_type"] == .string(name))
            #expect(MessageRules.violations(payload.bytes) == [], "\(payload.text)")
        }
    }

    @Test(
        "The rules see what other senders were blamed for",
        arguments: [
            ("lwt without tst", #"{"_type":"lwt"}"#), ("lwt.tst as text", #"{"_type":"lwt","tst":"1700000000"}"#),
            ("tst in milliseconds", #"{"_type":"lwt","tst":1700000000000}"#),
            ("tst with a fraction", #"{"_type":"lwt","tst":1700000000.5}"#),
            ("two lines", "{\"_type\":\"lwt\",\n\"tst\":1700000000}"),
            ("an unknown type", #"{"_type":"heartbeat"}"#), ("no JSON", "hello"),
            (
                "a transition without desc",
                #"{"_type":"transition","acc":1,"event":"enter","lat":0,"lon":0,"rid":"a","t":"b","tid":"a","tst":1,"wtst":1}"#
            ),
            (
                "a transition with acc 0",
                #"{"_type":"transition","acc":0,"desc":"a","event":"enter","lat":0,"lon":0,"rid":"a","t":"b","tid":"a","tst":1,"wtst":1}"#
            ),
            (
                "a transition without lat",
                #"{"_type":"transition","acc":1,"desc":"a","event":"enter","lat":null,"lon":0,"rid":"a","t":"b","tid":"a","tst":1,"wtst":1}"#
            ),
        ])
    func violations(name: String, payload: String) {
        #expect(MessageRules.violations(Array(payload.utf8)) != [])
    }

    @Test("A transition has exactly the bytes of the reference output (owntracks.md 7)")
    func referenceOutput() throws {
        let region = try region(["desc": "-kitchen", "tst": 1_600_000_000, "rid": "b4b412"])
        let transition = Transition(
            .enter, of: region, trackerID: "gw", position: samplePosition, timestamp: 1_700_000_000,
            createdAt: 1_700_000_001)
        let expected =
            #"{"_type":"transition","acc":10,"desc":"-kitchen","event":"enter","lat":52,"lon":6,"rid":"b4b412","#
            + #""t":"b","tid":"gw","tst":1700000000,"wtst":1600000000}"#
        #expect(transition.payload.text == expected)
    }

    @Test(
        "created_at is there if a message was made more than a second late",
        arguments: [(-5, false), (0, false), (1, false), (2, true), (3600, true)] as [(Int64, Bool)])
    func createdAt(delay: Int64, isThere: Bool) throws {
        let transition = Transition(
            .leave, of: try region(), trackerID: "gw", position: samplePosition, timestamp: 1_700_000_000,
            createdAt: 1_700_000_000 + delay)
        #expect(transition.payload["created_at"] == (isThere ? .integer(1_700_000_000 + delay) : nil))
    }

    @Test(
        "desc is the name up to the first bar, with its dash and without its UUID (owntracks.md 1.1)",
        arguments: [
            ("Kitchen", "Kitchen"), ("-Kitchen:\(sampleUUID)", "-Kitchen"), ("Home|1|2:\(sampleUUID):1", "Home"),
            ("A|B", "A"),
        ])
    func description(written: String, shown: String) throws {
        let transition = Transition(
            .enter, of: try region(["desc": .string(written)]), trackerID: "gw", position: samplePosition, timestamp: 1,
            createdAt: 1)
        #expect(transition.payload["desc"] == .string(shown))
    }

    @Test(
        "A name with exactly two bars asks for monitoring modes (iOS page)",
        arguments: [
            ("Home|1|2", [1, 2]), ("-Home|-1|0", [-1, 0]), ("Home|1", nil), ("Home|1|2|3", nil), ("Home|1|9", nil),
            ("Home|a|b", nil), ("Home", nil),
        ] as [(String, [Int]?)])
    func monitoringModes(name: String, modes: [Int]?) throws {
        let asked = try region(["desc": .string("\(name):\(sampleUUID)")]).monitoringModes
        #expect(asked.map { [$0.onEnter, $0.onLeave] } == modes)
    }

    @Test("A location names its regions and their rids in step, without moving circles (Regions page, 1.2)")
    func inRegions() throws {
        let regions = [
            try region(["desc": .string("-Home|1|2:\(sampleUUID)"), "rid": "a"]),
            try region(["desc": "+follow", "rad": 50, "rid": "b"]),
            try region(["desc": "Town", "rad": 5000, "rid": "c"]),
        ]
        let payload = Location(
            .beacon, trackerID: "gw", position: samplePosition, timestamp: 1, createdAt: 1, inRegions: regions
        ).payload
        #expect(payload["inregions"] == ["-Home", "Town"])
        #expect(payload["inrids"] == ["a", "c"])
    }

    @Test("The will has no more than its type and time, for the broker sends it unencrypted (1.5)")
    func lastWill() {
        #expect(LastWill(timestamp: 5).payload.text == #"{"_type":"lwt","tst":5}"#)
        let (bytes, timePlace) = LastWill(timestamp: 1_700_000_000).timed
        #expect(String(decoding: bytes[timePlace], as: UTF8.self) == "1700000000")
    }

    @Test("An encrypted message is known by its type, whatever else it has (4)")
    func encrypted() {
        #expect(EncryptedMessage(["_type": "encrypted", "data": "YWJj", "_id": "1"])?.data == "YWJj")
        #expect(EncryptedMessage(["_type": "encrypted"])?.data == "")
        #expect(EncryptedMessage(["_type": "encrypted", "data": 5])?.data == "")
        #expect(EncryptedMessage(["_type": "cmd", "data": "YWJj"]) == nil)
        #expect(EncryptedMessage([]) == nil)
    }

    @Test("A dump holds no secret in clear (decision 16)")
    func dump() throws {
        let text = #"{username: "u", password: "hunter2", encryptionKey: "topsecret"}"#
        let configuration = try Configuration(parsing: text.utf8, hostName: "pi")
        let dump = Dump(configuration: configuration.shown).payload.text
        #expect(!dump.contains("hunter2"))
        #expect(!dump.contains("topsecret"))
        #expect(dump.contains(#""_type":"configuration""#))
    }
}
