import Configuration
import JSON
import OwnTracks
import Testing

@Suite struct RemoteSettingsRules {
    private func apply(_ changes: String, to current: String = "{}") throws -> RemoteSettings {
        try RemoteSettings(
            applying: JSONValue(parsing: changes, dialect: .json5), to: JSONValue(parsing: current, dialect: .json5),
            hostName: "pi")
    }

    @Test("Members that come replace those that are, the others stay")
    func merge() throws {
        let settings = try apply("{_type: 'configuration', tid: 'XX', tag: 'new'}", to: "{tid: 'AA', port: 1}")
        #expect(settings.json == ["_type": "configuration", "tid": "XX", "tag": "new", "port": 1])
        #expect(settings.configuration.trackers[0].trackerID == "XX")
        #expect(settings.configuration.broker.port == 1)
    }

    @Test("null brings the default back (owntracks.md 6)")
    func null() throws {
        let settings = try apply("{_type: 'configuration', port: null}", to: "{port: 1}")
        #expect(settings.json["port"] == nil)
        #expect(settings.configuration.broker.port == 1883)
    }

    @Test("What is local is refused, whole, and named", arguments: RemoteSettings.localMembers.sorted())
    func local(name: String) {
        let error = #expect(throws: ConfigurationError.self) {
            try apply("{_type: 'configuration', tid: 'x', \(name): 'new'}")
        }
        #expect(error?.problems.map(\.member) == [name])
        #expect(error?.description.contains("cannot be set from afar") == true)
    }

    @Test("A local member that comes with the value it has is no change: phones send all they have")
    func unchangedLocal() throws {
        let current = "{tls: true, caFile: 'ca', encryptionKey: 'k'}"
        let settings = try apply(
            "{_type: 'configuration', tls: 1, caFile: 'ca', encryptionKey: 'k', passwordFile: '', http: null, tid: 'x'}",
            to: current)
        #expect(settings.configuration.trackers[0].trackerID == "x")
        #expect(throws: ConfigurationError.self) {
            try apply("{_type: 'configuration', encryptionKey: null}", to: current)
        }
    }

    @Test("Trackers with keys cannot be set, nor taken away")
    func trackers() throws {
        _ = try apply("{_type: 'configuration', trackers: [{deviceId: 'a'}]}")
        let withKey = "{_type: 'configuration', trackers: [{deviceId: 'a', encryptionKey: 'k'}]}"
        #expect(throws: ConfigurationError.self) { try apply(withKey) }
        #expect(throws: ConfigurationError.self) { try apply("{_type: 'configuration', trackers: []}", to: withKey) }
        _ = try apply(withKey, to: withKey)
    }

    @Test("All that is wrong is told together, and nothing is given out")
    func invalid() {
        let error = #expect(throws: ConfigurationError.self) {
            try apply("{_type: 'configuration', port: 'x', hots: 1, scanner: 'hci'}")
        }
        #expect(Set(error?.problems.map(\.member) ?? []) == ["port", "hots", "scanner"])
    }

    @Test("Regions in it are merged once and not kept with the settings")
    func waypoints() throws {
        let settings = try apply("{_type: 'configuration', waypoints: [{_type: 'waypoint', desc: 'A', tst: 1}]}")
        #expect(settings.waypoints?.changes.count == 1)
        #expect(settings.json["waypoints"] == nil)
        #expect(try apply("{_type: 'configuration'}").waypoints == nil)
    }

    @Test("Without its _type it is no configuration")
    func type() {
        #expect(throws: ConfigurationError.self) { try apply("{tid: 'x'}") }
        #expect(throws: ConfigurationError.self) { try apply("[]") }
    }
}
