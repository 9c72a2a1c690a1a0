import Configuration
import JSON
import OwnTracks
import Regions
import Testing

/// What the OwnTracks Recorder and Home Assistant need of a message (owntracks.md 5), each need a test.
@Suite struct ConsumerNeeds {
    private func transition(_ event: Transition.Event = .leave, desc: String = "Kitchen") throws -> JSONValue {
        let nowhere = Position(coordinates: Coordinates(latitude: 0, longitude: 0), accuracy: 0)
        return Transition(
            event, of: try region(["desc": .string(desc)]), trackerID: "gw", position: nowhere,
            timestamp: 1_700_000_000, createdAt: 1_700_000_000
        ).payload
    }

    @Test("Home Assistant: event is enter or leave, or the message is an error (5.1)")
    func homeAssistantEvent() throws {
        #expect(try transition(.enter)["event"] == "enter")
        #expect(try transition(.leave)["event"] == "leave")
    }

    @Test("Home Assistant: desc is there and not empty, or the message is ignored (5.1)")
    func homeAssistantDescription() throws {
        #expect(try transition()["desc"] == "Kitchen")
    }

    @Test("Home Assistant: a name that is nothing before its bar still has a desc")
    func emptyDisplayName() throws {
        #expect(try transition(desc: "|1|2")["desc"]?.string?.isEmpty == false)
    }

    @Test("Home Assistant: lat and lon have their keys even if no place is set (5.1)")
    func homeAssistantCoordinates() throws {
        #expect(try transition()["lat"] == 0)
        #expect(try transition()["lon"] == 0)
    }

    @Test("Home Assistant: t is b, for the mobile beacon logic (5.1)")
    func homeAssistantTrigger() throws {
        #expect(try transition()["t"] == "b")
    }

    @Test("Home Assistant: acc is at least 1, or a leave does not move the tracker (5.1)")
    func homeAssistantAccuracy() throws {
        #expect(try transition()["acc"] == 1)
    }

    @Test("Home Assistant: by default acc is within the accuracy that it takes, 200 m (5.1)")
    func homeAssistantDefaultAccuracy() {
        #expect((1...200).contains(Configuration.defaults(hostName: "pi").position.accuracy))
    }

    @Test("Home Assistant: every waypoint has a rad, or the import ends with an error (5.1)")
    func homeAssistantWaypoints() throws {
        #expect(try region().waypoint()["rad"] == 0)
    }

    @Test("Home Assistant: a message is an object, never an array or number (5.1)")
    func homeAssistantObject() throws {
        #expect(try sampleMessages().allSatisfy { $0.payload.object != nil })
    }

    @Test("Home Assistant and Recorder: the default topic has the levels user and device (5.1, 5.2)")
    func topicLevels() throws {
        let configuration = Configuration.defaults(hostName: "pi")
        #expect(configuration.trackers[0].topics.levels == 3)
    }

    @Test("Recorder and Home Assistant: a topic of fewer levels is warned of (5.2)")
    func fewLevels() throws {
        let configuration = try Configuration(["pubTopicBase": "home/pi"], hostName: "pi")
        #expect(configuration.warnings.map(\.member) == ["pubTopicBase"])
    }

    @Test("Home Assistant: a leave can carry a place outside the zone (5.1, away)")
    func away() throws {
        let configuration = try Configuration(["away": ["lat": 1, "lon": 2]], hostName: "pi")
        let away = try #require(configuration.trackers[0].away)
        let payload = Transition(
            .leave, of: try region(), trackerID: "gw", position: away, timestamp: 1, createdAt: 1
        ).payload
        #expect(payload["lat"] == 1)
        #expect(payload["acc"] == 10)
    }

    @Test("Home Assistant: nothing is said on /waypoint unasked, for it makes zones of it (5.1)")
    func noWaypoints() {
        #expect(!Configuration.defaults(hostName: "pi").broker.publishesWaypoints)
    }

    @Test("Recorder: event and desc are strings, or it may crash (5.2)")
    func recorderStrings() throws {
        #expect(try transition()["event"]?.string != nil)
        #expect(try transition()["desc"]?.string != nil)
    }

    @Test("Recorder: lat and lon are numbers and no null, or the message is dropped (5.2)")
    func recorderCoordinates() throws {
        for name in ["lat", "lon"] {
            let value = try #require(try transition()[name])
            #expect(value.string == nil && value.asNumber != nil)
        }
    }

    @Test("Recorder: tst is a number in seconds (5.2)")
    func recorderTime() throws {
        #expect(try transition()["tst"] == 1_700_000_000)
    }

    @Test("Recorder: every waypoint has lat, lon, desc and _type, for a missing one risks a crash (5.2)")
    func recorderWaypoints() throws {
        let json = waypointsMessage([try region(), try region(["rid": "r2", "desc": "Town", "rad": 50])])
        for element in json["waypoints"]?.array ?? [] {
            for name in ["lat", "lon", "desc", "_type"] { #expect(element[name] != nil) }
        }
    }

    @Test("Recorder: a dump is of _type dump with the configuration inside (5.2)")
    func recorderDump() {
        let payload = Dump(configuration: ["_type": "configuration"]).payload
        #expect(payload.text == #"{"_type":"dump","configuration":{"_type":"configuration"}}"#)
    }

    @Test("iOS: a place of 0/0 is no known place, so that no location is published for it (1.2, 5.3)")
    func unknownPlace() {
        #expect(!Configuration.defaults(hostName: "pi").position.isKnown)
        #expect(samplePosition.isKnown)
    }
}
