import Base
import JSON
import OwnTracks
import Testing

@testable import Configuration

@Suite struct RemoteSettingsRules {
    private func apply(_ changes: String, to current: String = "{}") throws -> RemoteSettings {
        try RemoteSettings(
            applying: JSONValue(parsing: changes, dialect: .json5), to: JSONValue(parsing: current, dialect: .json5),
            hostName: "pi", files: .named)
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

    @Test("What is local is refused, whole, and named", arguments: Setting.localNames.sorted())
    func local(name: String) {
        let path = name.split(separator: ".")
        let change = path.count == 1 ? "\(name): 'new'" : "\(path[0]): {\(path[1]): 'new'}"
        let error = #expect(throws: ConfigurationError.self) {
            try apply("{_type: 'configuration', tid: 'x', \(change)}")
        }
        #expect(error?.problems.map(\.member) == [name])
        #expect(error?.description.contains("cannot be set remotely") == true)
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

    @Test("The key of a site cannot be set, nor taken away")
    func siteKey() throws {
        let withKey = "{_type: 'configuration', rooms: {site: 'home', encryptionKeyFile: 'f'}}"
        #expect(throws: ConfigurationError.self) { try apply(withKey) }
        for rooms in ["null", "{site: 'home'}", "{site: 'home', encryptionKeyFile: 'g'}"] {
            #expect(throws: ConfigurationError.self) {
                try apply("{_type: 'configuration', rooms: \(rooms)}", to: withKey)
            }
        }
        _ = try apply(withKey, to: withKey)
        _ = try apply("{_type: 'configuration', rooms: null}", to: "{rooms: {site: 'home'}}")
    }

    @Test(
        "The page of a rooms service is neither opened, moved nor closed from afar",
        arguments: [
            ("{site: 'home'}", "{site: 'home', http: {listen: '0.0.0.0:80'}}"),
            ("{site: 'home'}", "{site: 'home', http: null}"),
            ("{http: {listen: '127.0.0.1:9'}}", "{http: {listen: '0.0.0.0:9'}}"),
            ("{http: {listen: '127.0.0.1:9'}}", "{}"), ("{http: {listen: '127.0.0.1:9'}}", "null"),
        ])
    func pageOfRooms(before: String, after: String) throws {
        let error = #expect(throws: ConfigurationError.self) {
            try apply("{_type: 'configuration', rooms: \(after)}", to: "{rooms: \(before)}")
        }
        #expect(error?.problems.map(\.member) == ["rooms.http"])
        _ = try apply("{_type: 'configuration', rooms: \(before)}", to: "{rooms: \(before)}")
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

    private static let login = "host: 'home', port: 1, username: 'jane'"

    @Test(
        "A password goes to the broker that it was configured for and to no other",
        arguments: [
            ("host: 'other'", nil), ("port: 2", nil), ("mode: 0, host: 'HOME', port: '1'", "p"), ("tag: 'x'", "p"),
            ("host: 'other', password: 'q'", "q"), ("host: 'other', password: ''", nil),
            ("host: 'other', password: null", nil), ("password: 'q'", "q"), ("host: null", nil), ("port: null", nil),
            ("host: 'other', auth: true, usePassword: true", nil),
        ])
    func credentials(changes: String, password: String?) throws {
        for secret in ["password: 'p'", "passwordFile: 'p'"] {
            // For the broker of the file, the file's password file stays, and a password beside it is refused.
            if secret.hasPrefix("passwordFile"), password != nil, !changes.contains("other") { continue }
            let settings = try apply("{_type: 'configuration', \(changes)}", to: "{\(Self.login), \(secret)}")
            #expect(settings.configuration.broker.password.secret?.revealed == password)
            #expect(settings.configuration.broker.password.path == nil)
        }
    }

    @Test("Without a password of its own, another broker gets no user name either, unless one came")
    func userName() throws {
        let current = "{\(Self.login), password: 'p'}"
        let silent = try apply("{_type: 'configuration', host: 'other'}", to: current).configuration
        #expect(silent.broker.username == nil)
        // It is in the topics.
        #expect(silent.trackers[0].topics.base == "owntracks/jane/pi")
        let named = try apply("{_type: 'configuration', host: 'other', username: 'ann'}", to: current).configuration
        #expect(named.broker.username == "ann")
        #expect(named.broker.password == .absent)
    }

    @Test("A password that came for one broker is not taken along to the next")
    func passwordOfChanges() throws {
        let file: JSONValue = ["host": "home", "username": "jane", "password": "p"]
        func merge(_ changes: JSONValue, _ earlier: JSONValue) -> JSONValue {
            RemoteSettings.merge(changes, over: earlier, file: file)
        }
        func password(_ changes: JSONValue, file: JSONValue = file) throws -> String? {
            let settings = try RemoteSettings(applying: changes, to: file, hostName: "pi")
            return settings.configuration.broker.password.secret?.revealed
        }
        let first = merge(["host": "other", "password": "q"], ["_type": "configuration"])
        #expect(try password(first) == "q")
        #expect(try password(merge(["tag": "x"], first)) == "q")
        #expect(try password(merge(["host": "third"], first)) == nil)
        #expect(try password(merge(["host": "home"], first)) == "p")
        // The one that came for the file's broker does not follow the file to another.
        let own = merge(["password": "q"], ["_type": "configuration"])
        #expect(try password(own) == "q")
        #expect(try password(own, file: ["host": "new", "username": "jane", "password": "r"]) == "r")
        // A command cannot set the broker to which a kept password belongs.
        let claimed = merge(["host": "third", "_passwordFor": ["third", 1883, ""]], first)
        #expect(try password(claimed) == nil)
    }

    /// What stays of settings that came over one file beside another, and what does not.
    private func kept(
        _ changes: JSONValue, over file: JSONValue, beside later: JSONValue
    ) -> (stay: [String], yielded: [String]) {
        let kept = RemoteSettings.merge(changes, over: ["_type": "configuration"], file: file)
        let (stay, yielded) = RemoteSettings.yielding(kept, to: later)
        return (RemoteSettings.names(of: stay ?? .null, beside: later), yielded)
    }

    @Test("A kept setting stays until its value in the file changes, and the others stay")
    func lastWriter() {
        let file: JSONValue = ["tag": "file", "keepalive": 30]
        let changes: JSONValue = ["tag": "afar", "keepalive": 45, "tid": "", "positions": 50]
        #expect(kept(changes, over: file, beside: file) == (["keepalive", "tag"], []))
        #expect(kept(changes, over: file, beside: ["tag": "file", "keepalive": 31]) == (["tag"], ["keepalive"]))
        #expect(kept(changes, over: file, beside: ["keepalive": 30]) == (["keepalive"], ["tag"]))
        #expect(kept(changes, over: file, beside: ["tag": "afar", "keepalive": 30]) == (["keepalive"], []))
        #expect(kept(["tag": .null], over: file, beside: file) == (["tag"], []))
    }

    @Test(
        "The way to the broker is one value: who changes the port in the file does not mean another host",
        arguments: [
            ["port": 2], ["host": "new", "port": 1], ["port": 1, "tls": true], ["port": 1, "password": "p"],
        ] as [JSONValue])
    func lastWriterOfBroker(later: JSONValue) {
        let changes: JSONValue = ["host": "other", "username": "ann", "password": "q", "tag": "x"]
        let (stay, yielded) = kept(changes, over: ["port": 1], beside: later)
        #expect(stay == ["tag"])
        #expect(yielded == ["host", "username", "password"])
    }

    @Test("Settings that an earlier program kept stay, and yield to what changes after that")
    func earlierProgram() {
        let old: JSONValue = ["_type": "configuration", "host": "other", "_passwordFor": ["other", 1883, ""]]
        let (stay, yielded) = RemoteSettings.yielding(old, to: ["host": "home"])
        #expect(stay?["host"] == "other")
        #expect(yielded == [])
        #expect(RemoteSettings.yielding(stay ?? .null, to: ["host": "home"]).stay == stay)
        let later = RemoteSettings.yielding(stay ?? .null, to: ["host": "new"])
        #expect(later.stay == nil)
        #expect(later.yielded == ["host"])
    }

    @Test("What is noted of the file does not contain its secrets, and does not come from afar")
    func notes() {
        let changes: JSONValue = ["tag": "x", "password": "new", "_file": ["tag": "claimed"]]
        let kept = RemoteSettings.merge(changes, over: ["_type": "configuration"], file: ["password": "the secret"])
        #expect(kept["_file"]?["tag"] != "claimed")
        #expect(!kept.text.contains("the secret"))
    }

    @Test("Without its _type it is no configuration")
    func type() {
        #expect(throws: ConfigurationError.self) { try apply("{tid: 'x'}") }
        #expect(throws: ConfigurationError.self) { try apply("[]") }
    }
}
