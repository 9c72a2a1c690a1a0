import Base
import Configuration
import JSON
import OwnTracks
import Testing

@Suite struct Trackers {
    private func read(_ text: String) throws -> Configuration {
        try Configuration(parsing: text.utf8, hostName: "pi", files: .named)
    }

    @Test("A tracker takes what it leaves out from the top level")
    func inheritance() throws {
        let configuration = try read(
            """
            {username: "jane", tid: "J1", away: {lat: 1, lon: 2}, encryptionKey: "k", pubTopicBase: "home/%u/%d",
             waypoints: [{_type: "waypoint", desc: "A", tst: 1}],
             trackers: [{deviceId: "keys"}, {deviceId: "bag", tid: "BG", username: "joe", waypoints: [], encryptionKey: ""}]}
            """)
        let (keys, bag) = (configuration.trackers[1], configuration.trackers[2])
        #expect(keys.topics.base == "home/jane/keys")
        #expect(keys.trackerID == "J1")
        #expect(keys.away == configuration.trackers[0].away)
        #expect(keys.encryptionKey.inline?.revealed == "k")
        #expect(keys.waypoints.changes.count == 1)
        #expect(bag.topics.base == "home/joe/bag")
        #expect(bag.trackerID == "BG")
        #expect(bag.encryptionKey == .absent)
        #expect(bag.waypoints.changes.isEmpty)
    }

    private func trackers(_ count: Int, _ more: String = "") -> String {
        "{\(more) trackers: [" + (0..<count).map { "{deviceId: 't\($0)'}" }.joined(separator: ",") + "]}"
    }

    @Test("There are at most a thousand trackers; more are refused before they are read")
    func limit() throws {
        #expect(try read(trackers(Configuration.mostTrackers)).trackers.count == Configuration.mostTrackers + 1)
        for count in [Configuration.mostTrackers + 1, 20_000] {
            let text = "trackers: it has \(count) elements; at most 1000 are allowed"
            #expect {
                try read(trackers(count))
            } throws: {
                ($0 as? ConfigurationError)?.problems.map(\.description) == [text]
            }
        }
        // A mistake in each would be named, if they were read.
        let mistakes = (0...Configuration.mostTrackers).map { _ in "{tid: 1}" }.joined(separator: ",")
        #expect {
            try read("{trackers: [\(mistakes)]}")
        } throws: {
            ($0 as? ConfigurationError)?.problems.map(\.member) == ["trackers"]
        }
    }

    @Test("Regions of the top level that many trackers inherit are read once, and no more than a gateway has are taken")
    func inheritedRegions() throws {
        let waypoints = (0..<100).map { "{_type: 'waypoint', desc: 'R\($0)', rid: 'r\($0)', tst: 1}" }.joined(
            separator: ",")
        let configuration = try read(trackers(1_000, "waypoints: [\(waypoints)],"))
        let counts = configuration.trackers.map(\.waypoints.changes.count)
        #expect(counts.reduce(0, +) == Configuration.mostRegions)
        #expect(counts.prefix(500) == [100][...] + Array(repeating: 100, count: 499))
        #expect(configuration.warnings.count { $0.description.contains("its regions are left out") } == 501)
    }

    @Test("A tracker has a name of its own, and none from the top level")
    func names() throws {
        let configuration = try read(
            "{name: 'Kitchen', trackers: [{deviceId: 'keys', name: 'Anna'}, {deviceId: 'bag'}]}")
        #expect(configuration.trackers.map(\.name) == ["Kitchen", "Anna", nil])
        #expect(configuration.shown["trackers"]?.array?.first?["name"] == "Anna")
    }

    @Test(
        "A name has 1 to 80 characters, one of them a letter or digit, and no control characters",
        arguments: ["\(String(repeating: "a", count: 81))", "--", " ", "An\\nna", "An\\u202ena"])
    func badNames(name: String) {
        let error = #expect(throws: ConfigurationError.self) {
            try read("{trackers: [{deviceId: 'keys', name: '\(name)'}]}")
        }
        #expect(error?.problems.map(\.member) == ["trackers[0].name"])
    }

    @Test("Without any tid, each tracker has the last two characters of its own topic")
    func trackerIDs() throws {
        let configuration = try read("{trackers: [{deviceId: 'keys'}, {pubTopicBase: 'a/b/x'}]}")
        #expect(configuration.trackers.map(\.trackerID) == ["PI", "YS", "/X"])
    }

    @Test("A key file of a tracker's own stands against the key of the top level")
    func keyFile() throws {
        let tracker = try read("{encryptionKey: 'k', trackers: [{deviceId: 'a', encryptionKeyFile: 'f'}]}").trackers[1]
        #expect(tracker.encryptionKey == .file(path: "f", secret: Secret("in f")))
    }

    @Test("Two trackers with one device are warned of, because both write its topics")
    func sharedDevice() throws {
        let text = """
            {_type: "configuration", username: "jane", deviceId: "hall",
             trackers: [{pubTopicBase: "owntracks/joe/hall", deviceId: "hall"}, {deviceId: "keys"}]}
            """
        let configuration = try Configuration(parsing: Array(text.utf8), hostName: "test")
        #expect(configuration.warnings.map(\.member) == ["trackers[0].deviceId"])
    }

    @Test("The broker's login is the top level's")
    func login() throws {
        #expect(try read("{username: 'jane', trackers: [{username: 'joe'}]}").broker.username == "jane")
    }
}

@Suite struct TopicRules {
    @Test("All topics of a tracker hang under its base (owntracks.md 1.0)")
    func suffixes() throws {
        let topics = try Topics(base: "owntracks/jane/phone")
        let all = [
            topics.event, topics.command, topics.waypoint, topics.waypoints, topics.beacon, topics.status, topics.dump,
            topics.info,
        ]
        let names = ["event", "cmd", "waypoint", "waypoints", "beacon", "status", "dump", "info"]
        #expect(all == names.map { "owntracks/jane/phone/\($0)" })
    }

    @Test(
        "User and device are put in once and as they are",
        arguments: [
            ("owntracks/%u/%d", "jane", "phone", "owntracks/jane/phone"), ("x/%d/%u/%u", "a", "b", "x/b/a/a"),
            ("x/%u/y", "%d", "b", "x/%d/y"), ("100%/%x/%", "a", "b", "100%/%x/%"), ("%%u", "a", "b", "%%u"),
        ])
    func substitution(template: String, user: String, device: String, base: String) throws {
        #expect(try Topics(template: template, user: user, device: device).base == base)
    }

    @Test(
        "What MQTT does not take as a topic is refused",
        arguments: ["", "a/+/b", "a/#", "a\0b", "a\nb", "$SYS/x", "a/b/", String(repeating: "x", count: 65_001)])
    func refused(base: String) {
        #expect(throws: TopicError.self) { try Topics(base: base) }
    }

    @Test(
        "The default tid is the topic's last two characters, upper case (iOS page, decision 24)",
        arguments: [("owntracks/jane/phone", "NE"), ("o/j/x", "/X"), ("o/j/straße", "SSE")])
    func trackerID(base: String, tid: String) throws {
        #expect(try Topics(base: base).trackerID == tid)
    }
}
