import Base
import JSON
import OwnTracks
import Testing

@testable import Configuration

/// The table of settings: each row is read, shown and taken over by a reload. `Scripts/interface` compares the documents.
@Suite struct SettingTableTests {
    private static let uuid = "CA271EAE-5FA8-4E80-8F08-2A302A95A959"
    private static let tracker = "deviceId: 'bag'"

    /// A change of one setting, with what must stand beside it.
    struct Change: Sendable {
        let name: String
        let before: String
        let after: String
        let beside: String
        /// Settings that are in force, or not, because of the change.
        let consequences: [String]

        init(
            _ name: String, _ before: String, _ after: String, beside: String = "", consequences: [String] = []
        ) {
            (self.name, self.before, self.after) = (name, before, after)
            (self.beside, self.consequences) = (beside, consequences)
        }

        func configuration(_ value: String) throws -> Configuration {
            let member = String(name.split(separator: ".").last ?? "")
            let text = value.isEmpty ? "" : "\(member): \(value),"
            let file = name.hasPrefix("rooms.") ? "rooms: {\(text) \(beside)}" : "\(text) \(beside)"
            let user = name == "username" ? "" : "username: 'jane', "
            let files = name == "bluetoothProxy" ? ConfigurationFiles { _ in BluetoothProxyTests.key } : .named
            return try Configuration(parsing: "{\(user)\(file)}".utf8, hostName: "pi", files: files)
        }
    }

    static let changes: [Change] = [
        Change("mode", "0", "3", beside: "url: 'http://h/p', rooms: null", consequences: ["url"]),
        Change("url", "'http://h/p'", "'http://h/q'", beside: "mode: 3"), Change("host", "", "'other'"),
        Change("port", "", "1884"), Change("tls", "", "true"), Change("caFile", "", "'ca'"),
        Change("clientCertificateFile", "'a'", "'b'", beside: "clientKeyFile: 'k'"),
        Change("clientKeyFile", "'a'", "'b'", beside: "clientCertificateFile: 'c'"),
        Change("username", "'jane'", "'joe'"), Change("password", "'a'", "'b'"), Change("passwordFile", "'a'", "'b'"),
        Change("clientId", "", "'mine'"), Change("keepalive", "", "30"), Change("cleanSession", "", "true"),
        Change("mqttProtocolLevel", "", "4"), Change("pubQos", "", "2"), Change("pubRetain", "", "false"),
        Change("publishWaypoints", "", "true"), Change("tid", "", "'K1'"), Change("deviceId", "", "'hall'"),
        Change("name", "", "'Anna'"), Change("pubTopicBase", "", "'home/%u/%d'"),
        Change("encryptionKey", "'a'", "'b'"), Change("encryptionKeyFile", "'a'", "'b'"),
        Change("waypoints", "", "[{_type: 'waypoint', desc: 'K:\(uuid)', tst: 1}]"),
        Change("trackers", "", "[{\(tracker)}]"), Change("card", "", "{name: 'K'}"), Change("room", "", "'Hall'"),
        Change("floor", "", "1"), Change("rooms.floors", "{Kitchen: 0}", "{Kitchen: 1}"),
        Change("rooms.stairs", "", "['Hall', 'Landing']"),
        Change("lat", "1", "2", beside: "lon: 1"), Change("lon", "1", "2", beside: "lat: 1"),
        Change("acc", "", "50"), Change("away", "", "{lat: 1, lon: 2}", beside: "trackers: [{\(tracker)}]"),
        Change("tag", "", "'x'"), Change("scanner", "", "'hci'"), Change("adapter", "", "'hci1'"),
        Change("scanDuty", "", "0.5"), Change("battery", "", "{minorMask: 255}"),
        Change("majorMinorBase", "", "'hex'"), Change("leaveAfter", "", "60"), Change("enterRSSI", "", "-70"),
        Change("leaveRSSI", "", "-80"), Change("monitoring", "", "2"), Change("ping", "", "5"),
        Change("locatorInterval", "", "5"), Change("cmd", "", "false"), Change("remoteConfiguration", "", "true"),
        Change("remoteConfigurationTrial", "", "5"), Change("ranging", "", "true"),
        Change("rangingInterval", "", "1"), Change("reannounce", "", "true"),
        Change("homeAssistant", "", "{prefix: 'ha'}"), Change("rooms.site", "", "'cabin'"),
        Change("rooms.instance", "", "'attic'"), Change("rooms.tags", "", "['Jane:\(uuid):1:7']"),
        Change("rooms.gateways", "{k: 'Kitchen'}", "{k: 'Hall'}"), Change("rooms.espresense", "", "true"),
        Change("rooms.publishAsEspresense", "", "true"), Change("rooms.survey", "", "true"),
        Change("rooms.encryptionKey", "'a'", "'b'"), Change("rooms.encryptionKeyFile", "'a'", "'b'"),
        Change("rooms.plainState", "", "true", beside: "encryptionKeyFile: 'f'"), Change("rooms.http", "", "null"),
        Change("rooms.days", "", "7"), Change("http", "", "null"), Change("days", "", "7"),
        Change("bluetoothProxy", "null", "{keyFile: 'k'}"),
    ]

    @Test("There is a change of every row")
    func complete() {
        #expect(Self.changes.map(\.name).sorted() == Setting.rows.map(\.name).sorted())
    }

    @Test("A reload names the changed setting and no other, in the services that use it", arguments: changes)
    func reload(_ change: Change) throws {
        let row = try #require(Setting.rows.first { $0.name == change.name })
        let (before, after) = (try change.configuration(change.before), try change.configuration(change.after))
        for service in CommandService.allCases {
            let reload = Reload(from: before, to: after, in: service)
            let own = reload.changes.filter { !change.consequences.contains($0.name) }
            #expect(own.map(\.name) == (row.effects[service] == nil ? [] : [change.name]))
            #expect(own.map(\.effect) == (row.effects[service].map { [$0] } ?? []))
            #expect(reload.needsConnection == (row.effects[service] == .reconnect))
        }
    }

    @Test("What needs a restart keeps its running value, and is named again by the next reload", arguments: changes)
    func restart(_ change: Change) throws {
        let row = try #require(Setting.rows.first { $0.name == change.name })
        let (before, after) = (try change.configuration(change.before), try change.configuration(change.after))
        for service in CommandService.allCases where row.effects[service] == .restart {
            let inForce = Reload(from: before, to: after, in: service).configuration
            #expect(row.shown(inForce) == row.shown(before))
            #expect(Reload(from: inForce, to: after, in: service).changes.map(\.name) == [change.name])
            #expect(Reload(from: inForce, to: before, in: service).text == "nothing changed")
        }
    }

    @Test("The log tells the three kinds apart")
    func text() throws {
        let before = try Configuration(parsing: "{}".utf8, hostName: "pi")
        let after = try Configuration(
            parsing: "{tag: 'x', days: 7, host: 'other', http: null, rooms: {tags: []}}".utf8, hostName: "pi")
        #expect(
            Reload(from: before, to: after, in: .gateway).text
                == "applied: tag, days; connecting again for: host; restart needed for: http")
        #expect(Reload(from: before, to: after, in: .rooms).text == "applied: days; connecting again for: host")
        #expect(Reload(from: before, to: before, in: .rooms).text == "nothing changed")
    }

    @Test("Rooms that are switched off are one change")
    func noRooms() throws {
        let before = try Configuration(parsing: "{rooms: {encryptionKey: 'a'}}".utf8, hostName: "pi")
        let after = try Configuration(parsing: "{rooms: null}".utf8, hostName: "pi")
        #expect(Reload(from: before, to: after, in: .gateway).text == "connecting again for: rooms")
    }

    @Test("A secret in a file that has another content is a change of the setting that names the file")
    func secretFile() throws {
        let before = try Configuration(
            parsing: "{username: 'u', passwordFile: 'p'}".utf8, hostName: "pi", files: .named)
        var after = before
        after.broker.password = .file(path: "p", secret: Secret("new"))
        #expect(Reload(from: before, to: after, in: .gateway).text == "connecting again for: passwordFile")
    }

    @Test("Over HTTP, other trackers need a new connection")
    func trackersOverHTTP() throws {
        let http = "mode: 3, url: 'http://h/p'"
        let before = try Configuration(parsing: "{\(http)}".utf8, hostName: "pi")
        let after = try Configuration(parsing: "{\(http), trackers: [{deviceId: 'bag'}]}".utf8, hostName: "pi")
        #expect(Reload(from: before, to: after, in: .gateway).text == "connecting again for: trackers")
    }

    @Test("Every member is shown, and what is shown can be read again", arguments: changes)
    func shown(_ change: Change) throws {
        let row = try #require(Setting.rows.first { $0.name == change.name })
        let configuration = try change.configuration(change.after)
        guard row.secrets == nil || row.name.hasSuffix("File") else { return }
        let again = try Configuration(configuration.shown, hostName: "elsewhere", files: .named)
        #expect(row.shown(again).bytes == row.shown(configuration).bytes)
        let members = row.name.split(separator: ".").map(String.init)
        let shown = members.reduce(configuration.shown as JSONValue?) { $0?[$1] }
        #expect(shown?.bytes == row.shown(configuration).bytes)
    }

    /// Settings with a secret that `setConfiguration` may set: the login at a broker comes with the broker. Keys in
    /// `trackers` are refused as a whole (`RemoteSettingsRules`).
    private static let remoteSecrets: Set = ["password", "url", "trackers"]

    @Test("What opens a port, names a file or has a secret is changed in the file alone", arguments: changes)
    func local(_ change: Change) throws {
        let row = try #require(Setting.rows.first { $0.name == change.name })
        let isLocal =
            row.value.contains("listen:") || row.name.hasSuffix("File") || row.name == "scanner"
            || row.secrets != nil && !Self.remoteSecrets.contains(row.name)
        #expect(!isLocal || Setting.localNames.contains(change.name))
    }

    static let mistakes: [(rooms: String, member: String, words: String)] = [
        ("gateways: 5", "rooms.gateways", "write {gateway: 'Room'}"),
        ("gateways: {k: ''}", "rooms.gateways.k", "1 to 128 bytes"),
        ("gateways: {k: 7}", "rooms.gateways.k", "the name of a room"),
        ("floors: 5", "rooms.floors", "write {Room: 0}"),
        ("floors: {Kitchen: 100}", "rooms.floors.Kitchen", "a whole number from -9 to 99"),
        ("floors: {Kitchen: 'up'}", "rooms.floors.Kitchen", "a whole number from -9 to 99"),
        ("floors: {' ': 1}", "rooms.floors. ", "1 to 128 bytes"),
        ("stairs: 'Hall'", "rooms.stairs", "a list of rooms"),
        ("stairs: ['Hall', 7]", "rooms.stairs", "a list of rooms"),
        ("tags: {a: 1}", "rooms.tags", "a list of waypoints or descriptions"),
        ("tags: [{desc: 'x'}]", "rooms.tags", "waypoint 0"), ("tags: ['Jane']", "rooms.tags", "names no beacon"),
        ("tags: ['Jane:x:1:7']", "rooms.tags", "waypoint 0 ('Jane:x:1:7')"),
        ("tag: []", "rooms.tag", "did you mean 'tags'"), ("days: 'x'", "rooms.days", "0 keeps none"),
        ("plainState: 5", "rooms.plainState", "true or false"), ("site: 'a/b'", "rooms.site", "1 to 64"),
        ("instance: 'a b'", "rooms.instance", "1 to 64"),
    ]

    @Test("A mistake in rooms is found with the others, before a service starts on it", arguments: mistakes)
    func mistake(rooms: String, member: String, words: String) {
        let error = #expect(throws: ConfigurationError.self) {
            try Configuration(parsing: "{rooms: {\(rooms)}}".utf8, hostName: "pi")
        }
        #expect(error?.problems.map(\.member) == [member])
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    @Test("Both mistakes of one file are told: gateways that are no object, and a tag without a beacon")
    func allMistakes() {
        let error = #expect(throws: ConfigurationError.self) {
            try Configuration(parsing: "{rooms: {gateways: 5, tags: [{desc: 'x'}]}}".utf8, hostName: "pi")
        }
        #expect(error?.problems.map(\.member) == ["rooms.tags", "rooms.gateways"])
    }

    @Test("A tracker with the topic of the rooms service is a mistake")
    func topicOfTheService() {
        let error = #expect(throws: ConfigurationError.self) {
            try Configuration(
                parsing: "{username: 'jane', trackers: [{deviceId: 'rooms-home'}]}".utf8, hostName: "pi")
        }
        #expect(error?.problems.map(\.member) == ["trackers[0].deviceId"])
    }

    @Test("An acc beyond a million metres is the same error for both services, and up to there it is the same value")
    func accuracy() throws {
        #expect(throws: ConfigurationError.self) { try Configuration(parsing: "{acc: 1000001}".utf8, hostName: "pi") }
        #expect(try Configuration(parsing: "{acc: 1000000}".utf8, hostName: "pi").position.accuracy == 1_000_000)
    }
}
