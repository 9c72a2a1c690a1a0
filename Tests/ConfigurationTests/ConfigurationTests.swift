import Base
import Beacon
import JSON
import OwnTracks
import Regions
import Testing

@testable import Configuration

private func read(_ text: String) throws -> Configuration {
    try Configuration(parsing: text.utf8, hostName: "pi", files: .named)
}

@Suite struct ConfigurationDefaults {
    let configuration = Configuration.defaults(hostName: "pi")

    @Test("The broker's defaults are the contract's")
    func broker() {
        let broker = configuration.broker
        #expect(broker.hosts == ["localhost"])
        #expect(broker.port == 1883)
        #expect(!broker.tls)
        #expect(broker.username == nil)
        #expect(broker.password == .absent)
        #expect(broker.clientID == "userpi")
        #expect(broker.keepalive == .seconds(60))
        #expect(!broker.cleanSession)
        #expect(broker.protocolLevel == .v5)
        #expect(broker.qos == .atLeastOnce)
        #expect(broker.retainsLocations)
        #expect(!broker.publishesWaypoints)
    }

    @Test("The gateway's defaults are the contract's")
    func gateway() {
        #expect(configuration.trackers.map(\.topics.base) == ["owntracks/user/pi"])
        #expect(configuration.trackers.map(\.trackerID) == ["PI"])
        #expect(configuration.position.accuracy == 10)
        #expect(!configuration.position.isKnown)
        #expect(configuration.monitoring == .significant)
        #expect(configuration.obeysCommands)
        #expect(!configuration.allowsRemoteConfiguration)
        #expect(!configuration.ranging)
        #expect(configuration.rangingInterval == .seconds(5))
        #expect(configuration.scanner == .auto)
        #expect(configuration.scanDuty == nil)
        #expect(configuration.adapters == [])
        #expect(configuration.leaveRule == .auto)
        #expect(configuration.homeAssistant == HomeAssistantSettings(discovery: false, prefix: "homeassistant"))
        #expect(configuration.statusPage == ListenAddress(host: "127.0.0.1", port: 8080))
        #expect(configuration.historyDays == 30)
        #expect(configuration.numberBase == .auto)
        #expect(!configuration.reannounces)
        #expect(configuration.warnings == [])
    }

    @Test("Enters are repeated only where that is asked for, also beside discovery")
    func reannounce() throws {
        let home = try Configuration(parsing: "{homeAssistant: {discovery: true}}".utf8, hostName: "pi")
        #expect(!home.reannounces)
    }

    @Test(
        "A mask that gives no level, or leaves no identity, is pointed out",
        arguments: [
            ("{minorMask: 255}", nil), ("{minorMask: 0xf00f}", "are not side by side"),
            ("{majorMask: 65535, minorMask: 65535}", "count as one"),
        ] as [(String, String?)])
    func masks(text: String, warning: String?) throws {
        let warnings = try read("{battery: \(text)}").warnings
        #expect(warnings.map(\.member) == (warning == nil ? [] : ["battery"]))
        if let warning { #expect(warnings.first?.reason.contains(warning) == true) }
    }

    @Test func `A mask of the UUID is written from its end or as a whole, and the UUID alone is a mask too`() throws {
        let uuid = "uuid: 'CA271EAE-5FA8-4E80-8F08-2A302A95A959'"
        for mask in ["'0xFF'", "'0x000000ff'", "'00000000-0000-0000-0000-0000000000FF'"] {
            let configuration = try read("{battery: {\(uuid), uuidMask: \(mask)}}")
            #expect(configuration.batteryMasks.all.map(\.uuidBits) == [BeaconUUID(high: 0, low: 0xff)])
            #expect(configuration.warnings.isEmpty)
            let shown = try #require(configuration.shown["battery"])
            #expect(try read("{battery: \(shown.text)}").batteryMasks == configuration.batteryMasks)
        }
        let alone = try read("{battery: {\(uuid)}}")
        #expect(alone.batteryMasks.all.map(\.isEmpty) == [true])
        #expect(alone.warnings.isEmpty)
    }

    @Test func `What some exports call trackerId is the tid, for each tracker too`() throws {
        let configuration = try read(
            "{trackerId: 'ab', trackers: [{deviceId: 'x', trackerId: 'cd'}, {deviceId: 'y', tid: 'ef', trackerId: 'gh'}]}"
        )
        #expect(configuration.trackers.map(\.trackerID) == ["ab", "cd", "ef"])
    }

    @Test("A mask is shown as it can be written again")
    func shownMasks() throws {
        let masks = "[{majorMask: '0x0F00', minorMask: '0x00FF', uuid: 'CA271EAE-5FA8-4E80-8F08-2A302A95A959'}]"
        let shown = try #require(read("{battery: \(masks)}").shown["battery"])
        #expect(try read("{battery: \(shown.text)}").batteryMasks == read("{battery: \(masks)}").batteryMasks)
        #expect(Configuration.defaults(hostName: "pi").shown["battery"] == .null)
    }

    @Test("The port follows tls", arguments: [("{tls: true}", 8883), ("{tls: true, port: 1}", 1), ("{port: 0}", 0)])
    func port(text: String, port: UInt16) throws {
        #expect(try read(text).broker.port == port)
    }

    @Test("Port 0 is offline (iOS page)")
    func offline() throws {
        #expect(try read("{port: 0}").broker.isOffline)
        #expect(!configuration.broker.isOffline)
    }

    @Test(
        "Nothing set, null and an empty string are the default",
        arguments: ["{}", "{host: null}", "{host: \"\"}", "{_type: 'configuration'}", "// nothing\n{}"])
    func unset(text: String) throws {
        #expect(try read(text) == configuration)
    }

    @Test("The commented default file gives exactly the defaults")
    func commentedDefault() throws {
        #expect(try read(Configuration.commentedDefault) == configuration)
    }

    @Test("So it does with the slashes before every default removed")
    func uncommentedDefault() throws {
        let lines = Configuration.commentedDefault.split(separator: "\n").map { line in
            let text = line.drop { $0 == " " }
            let isDefault = text.hasPrefix("//") && !text.hasPrefix("// ") && !text.hasSuffix("// example")
            return isDefault ? text.dropFirst(2) : text
        }
        let text = lines.joined(separator: "\n")
        #expect(text.contains("\nhost: \"localhost\",") && text.contains("\nrooms: {"))
        #expect(try read(text) == configuration)
    }

    @Test("Every example in it can be used", arguments: Setting.rows.map(\.name))
    func examples(name: String) throws {
        let setting = try #require(Setting.rows.first { $0.name == name })
        // Some settings only go together.
        let beside = [
            "clientCertificateFile": "clientKeyFile: 'x'", "clientKeyFile": "clientCertificateFile: 'x'",
            "password": "username: 'u'", "passwordFile": "username: 'u'", "lat": "lon: 0", "lon": "lat: 0",
            "url": "mode: 3",
        ]
        let member = "\(setting.member): \(setting.value)"
        guard name != "bluetoothProxy" else {
            let files = ConfigurationFiles { _ in BluetoothProxyTests.key }
            let proxy = try Configuration(parsing: "{\(member)}".utf8, hostName: "pi", files: files).bluetoothProxy
            return #expect(proxy?.key.path == "/etc/ibeacon-gateway/proxy-key")
        }
        let configuration = try read(
            name.hasPrefix("rooms.") ? "{rooms: {\(member)}}" : "{\(member), \(beside[name] ?? "")}")
        #expect((configuration == self.configuration) == setting.isDefault)
        #expect(configuration.warnings == [])
    }

    @Test("So is every member of rooms", arguments: Setting.rooms.map(\.member))
    func everyMemberOfRoomsIsRead(name: String) {
        let error = #expect(throws: ConfigurationError.self) {
            try Configuration(["rooms": .object([name: ["nonsense": [1]]])], hostName: "pi")
        }
        #expect(error?.problems.contains { $0.member.hasPrefix("rooms.\(name)") } == true)
    }

    @Test("Every setting of the table is read: none takes just anything", arguments: Setting.names)
    func everyMemberIsRead(name: String) throws {
        let passedOver: Set = [
            "clientpkcs", "passphrase", "servercer", "tlsCaCrt", "tlsCaCrtPath", "tlsClientCrt",
            "tlsClientCrtPath", "tlsClientCrtPassword",
        ]
        guard !passedOver.contains(name) else { return }
        let wrong: JSONValue = ["nonsense": [1]]
        let error = #expect(throws: ConfigurationError.self) {
            try Configuration(.object([name: wrong]), hostName: "pi")
        }
        #expect(error?.problems.contains { $0.member.hasPrefix(name) } == true, "\(error?.description ?? "")")
    }
}

@Suite struct ConfigurationReading {
    @Test("What is set is read")
    func everything() throws {
        let configuration = try read(
            """
            {
                _type: "configuration", mode: 0, host: "broker", port: "8884", tls: true, username: "jane",
                password: "hunter2", caFile: "ca.pem", clientCertificateFile: "c.pem", clientKeyFile: "c.key",
                clientId: "mine", keepalive: "30", cleanSession: 1, mqttProtocolLevel: 5, pubQos: 2, pubRetain: "false",
                publishWaypoints: true, tid: "K1", deviceId: "kitchen", pubTopicBase: "home/%u/%d",
                encryptionKey: "s3cr1t", lat: "52.5", lon: 6, acc: 3.4, away: {lat: 1, lon: 2, acc: 3}, monitoring: -1,
                cmd: false, remoteConfiguration: true, tag: "Spain 2023", ranging: true, rangingInterval: 0.5,
                scanner: {capture: "walk.btsnoop", speed: "4"}, adapter: ["hci1", "00:11:22:aa:BB:cc"], leaveAfter: 45,
                scanDuty: 0.25,
                battery: [{uuid: "CA271EAE-5FA8-4E80-8F08-2A302A95A959", minorMask: "0x00ff"}, {majorMask: 0xff00}],
                enterRSSI: -70, leaveRSSI: "-80", homeAssistant: {discovery: true, prefix: "ha"}, http: {listen: "[::]:80"},
                days: 7, majorMinorBase: "hex", card: {name: "Kitchen", face: "aGk="}, reannounce: true,
                waypoints: [{_type: "waypoint", rid: "a", desc: "A:CA271EAE-5FA8-4E80-8F08-2A302A95A959:10", tst: 1}],
            }
            """)
        let broker = configuration.broker
        #expect((broker.hosts, broker.port, broker.tls) == (["broker"], 8884, true))
        #expect((broker.username, broker.password.secret?.revealed) == ("jane", "hunter2"))
        #expect((broker.caFile, broker.clientCertificateFile, broker.clientKeyFile) == ("ca.pem", "c.pem", "c.key"))
        #expect((broker.clientID, broker.keepalive, broker.cleanSession) == ("mine", .seconds(30), true))
        #expect((broker.protocolLevel, broker.qos, broker.retainsLocations) == (.v5, .exactlyOnce, false))
        #expect(broker.publishesWaypoints)
        let tracker = configuration.trackers[0]
        #expect((tracker.trackerID, tracker.topics.base) == ("K1", "home/jane/kitchen"))
        #expect(tracker.encryptionKey.secret?.revealed == "s3cr1t")
        #expect(configuration.position.coordinates == Coordinates(latitude: 52.5, longitude: 6))
        #expect(configuration.position.accuracy == 3)
        #expect(tracker.away?.coordinates == Coordinates(latitude: 1, longitude: 2))
        #expect((configuration.monitoring, configuration.obeysCommands) == (.quiet, false))
        #expect((configuration.allowsRemoteConfiguration, configuration.tag) == (true, "Spain 2023"))
        #expect((configuration.ranging, configuration.rangingInterval) == (true, .milliseconds(500)))
        #expect(configuration.scanner == .capture(file: "walk.btsnoop", speed: 4))
        #expect(configuration.adapters.map(\.description) == ["hci1", "00:11:22:AA:BB:CC"])
        #expect(configuration.scanDuty == 0.25)
        #expect(configuration.batteryMasks.all.map(\.minor) == [0xff, 0])
        #expect(configuration.batteryMasks.all.map(\.major) == [0, 0xff00])
        #expect(
            configuration.batteryMasks.all.map(\.uuid?.description) == ["CA271EAE-5FA8-4E80-8F08-2A302A95A959", nil])
        #expect(configuration.leaveRule == .after(.seconds(45)))
        #expect((configuration.enterRSSI?.dBm, configuration.leaveRSSI?.dBm) == (-70, -80))
        #expect(configuration.homeAssistant == HomeAssistantSettings(discovery: true, prefix: "ha"))
        #expect(configuration.statusPage == ListenAddress(host: "::", port: 80))
        #expect((configuration.historyDays, configuration.numberBase) == (7, .hexadecimal))
        #expect(configuration.card == Card(name: "Kitchen", face: "aGk="))
        #expect(configuration.reannounces)
        guard case .set(let region, _)? = tracker.waypoints.changes.first else {
            Issue.record("no region")
            return
        }
        #expect(region.description.pattern?.major == 16)
    }

    @Test("http null is off, and only http")
    func noStatusPage() throws {
        #expect(try read("{http: null}").statusPage == nil)
        #expect(try read("{http: {}}").statusPage != nil)
    }

    @Test func `A member that stands twice is a warning with its path and its lines, and the last one counts`() throws {
        let configuration = try read("{host: 'a',\n trackers: [{deviceId: 'k', tid: 'A',\n tid: 'B'}],\n host: 'b'}")
        #expect(configuration.broker.hosts == ["b"] && configuration.trackers[1].trackerID == "B")
        #expect(
            configuration.warnings.map(\.description) == [
                "trackers[0].tid: it stands on line 2 and again on line 3; the last one counts, so remove the other",
                "host: it stands on line 1 and again on line 4; the last one counts, so remove the other",
            ])
        let line = try read("{acc: 20, acc: 30}").warnings.map(\.description)
        #expect(line == ["acc: it stands twice on line 1; the last one counts, so remove the other"])
    }

    @Test("The page of the rooms service has a port of its own, and rooms.http null is off")
    func roomsPage() throws {
        #expect(try read("{}").rooms?.statusPage == ListenAddress(host: "127.0.0.1", port: 8081))
        #expect(try read("{http: null}").rooms?.statusPage != nil)
        #expect(try read("{rooms: {http: null}}").rooms?.statusPage == nil)
        let elsewhere = try read("{rooms: {http: {listen: '0.0.0.0:80'}}}")
        #expect(elsewhere.rooms?.statusPage == ListenAddress(host: "0.0.0.0", port: 80))
        #expect(elsewhere.statusPage == ListenAddress(host: "127.0.0.1", port: 8080))
        for configuration in [elsewhere, try read("{rooms: {http: null}}")] {
            let again = try Configuration(configuration.shown, hostName: "pi").rooms
            #expect(again?.statusPage == configuration.rooms?.statusPage)
        }
    }

    @Test(
        "The file of an app is warned of while it has the phone's client id or device",
        arguments: [
            ("theme: 1, locked: false, info: true, clientId: 'janephone', deviceId: 'phone'", ["clientId"]),
            ("theme: 1, locked: false, info: true, deviceId: 'phone'", ["deviceId"]),
            ("theme: 1, locked: false, info: true, clientId: '', deviceId: null", []),
            ("theme: 1, locked: false, info: true", []),
            ("theme: 1, locked: false, clientId: 'kitchen'", []), ("clientId: 'kitchen', deviceId: 'kitchen'", []),
        ])
    func phone(members: String, warned: [String]) throws {
        #expect(try read("{_type: 'configuration', \(members)}").warnings.map(\.member) == warned)
    }

    @Test("An acc below 1 is raised to 1 and warned of")
    func accuracy() throws {
        let configuration = try read("{acc: 0}")
        #expect(configuration.position.accuracy == 1)
        #expect(configuration.warnings.map(\.member) == ["acc"])
    }

    @Test(
        "A login that is switched off is not sent (owntracks.md 6)",
        arguments: [("auth: false", nil, nil), ("usePassword: false", "u", nil), ("auth: true", "u", "p")]
            as [(String, String?, String?)])
    func login(text: String, username: String?, password: String?) throws {
        let broker = try read("{username: 'u', password: 'p', \(text)}").broker
        #expect(broker.username == username)
        #expect(broker.password.secret?.revealed == password)
    }

    @Test("A bad region in it is warned of, and its neighbours are taken")
    func badRegion() throws {
        let configuration = try read(
            "{waypoints: [{_type: 'waypoint', desc: 'A:b', tst: 1}, {_type: 'waypoint', desc: 'C', tst: 2}]}")
        #expect(configuration.trackers[0].waypoints.changes.count == 1)
        #expect(configuration.warnings.map(\.description).first?.hasPrefix("waypoints: waypoint 0 ('A:b')") == true)
    }

    @Test("A secret is printed nowhere, whatever prints it")
    func secrets() throws {
        let configuration = try read("{username: 'u', password: 'hunter2', encryptionKey: 'topsecret'}")
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), configuration.shown.text, dumped] {
            #expect(!text.contains("hunter2"))
            #expect(!text.contains("topsecret"))
        }
        #expect(configuration.holdsSecret)
        #expect(!Configuration.defaults(hostName: "pi").holdsSecret)
    }
}

@Suite struct ConfigurationProblems {
    static let rows: [(text: String, member: String, words: String)] = [
        ("{hots: 'x'}", "hots", "did you mean 'host'"),
        ("{pubtopicbase: 'x'}", "pubtopicbase", "did you mean 'pubTopicBase'"),
        ("{leavAfter: 5}", "leavAfter", "did you mean 'leaveAfter'"), ("{zzzzzz: 1}", "zzzzzz", "no such setting"),
        ("{port: 65536}", "port", "65536 does not fit; write a whole number from 0 to 65535 (0 is offline)"),
        ("{port: -1}", "port", "-1"), ("{port: 1883.5}", "port", "1883.5"), ("{port: 'abc'}", "port", "'abc'"),
        ("{host: []}", "host", "a list of 1 to 16 names"), ("{host: [1]}", "host", "a list of 1 to 16 names"),
        ("{host: 5.5}", "host", "a text in quotes"), ("{tls: 'yes'}", "tls", "true or false"),
        ("{mode: 3}", "url", "it is missing"), ("{mode: 'http'}", "mode", "0 (MQTT) or 3 (HTTP)"),
        ("{mode: 1}", "mode", "0 (MQTT) or 3 (HTTP)"), ("{mode: 3, url: 'ftp://h/p'}", "url", "http://host/path"),
        ("{mode: 3, url: []}", "url", "text in quotes"), ("{ws: true}", "ws", "WebSockets"),
        ("{_type: 'location'}", "_type", "'configuration'"), ("{keepalive: 4}", "keepalive", "from 5 to 65535"),
        ("{mqttProtocolLevel: 6}", "mqttProtocolLevel", "3 (MQTT 3.1)"), ("{pubQos: 3}", "pubQos", "from 0 to 2"),
        ("{monitoring: 3}", "monitoring", "-1 (quiet)"), ("{lat: 91, lon: 0}", "lat", "from -90 to 90, in degrees"),
        ("{lat: 5}", "lon", "required together with lat"), ("{acc: -1}", "acc", "in metres"),
        ("{away: {lat: 1}}", "away.lon", "missing"),
        ("{away: {lat: 1, lon: 2, alt: 3}}", "away.alt", "no such setting"),
        ("{encryptionKey: 'abcdefghijklmnopqrstuvwxyz1234567'}", "encryptionKey", "33 bytes; at most 32"),
        ("{encryptionKey: 'schlüssel-schlüssel-schlüssel-x'}", "encryptionKey", "34 bytes"),
        ("{encryptionKey: 'a', encryptionKeyFile: 'b'}", "encryptionKeyFile", "one of the two"),
        (
            "{rooms: {encryptionKey: 'abcdefghijklmnopqrstuvwxyz1234567'}}", "rooms.encryptionKey",
            "33 bytes; at most 32"
        ),
        ("{rooms: {encryptionKey: 'a', encryptionKeyFile: 'b'}}", "rooms.encryptionKeyFile", "one of the two"),
        ("{rooms: {encryptionKey: '(hidden)'}}", "rooms.encryptionKey", "hidden secret"),
        ("{rooms: {encryptionKey: 'a', espresense: true}}", "rooms.espresense", "plainState: true"),
        (
            "{rooms: {encryptionKeyFile: 'f', publishAsEspresense: true}}", "rooms.publishAsEspresense",
            "plainState: true"
        ),
        (
            "{rooms: {espresense: true, publishAsEspresense: true}}", "rooms.publishAsEspresense",
            "remove one of the two"
        ),
        ("{rooms: {encryptionKeyFile: 'f'}, homeAssistant: {discovery: true}}", "homeAssistant", "plainState: true"),
        ("{username: 'u', password: 'a', passwordFile: 'b'}", "passwordFile", "one of the two"),
        ("{password: 'a'}", "username", "required together with the password"),
        ("{username: 'u', password: '(hidden)'}", "password", "hidden secret"),
        ("{username: 'u', password: ['hunter2']}", "password", "this does not fit"),
        ("{clientKeyFile: 'x'}", "clientCertificateFile", "required together"),
        ("{pubTopicBase: 'owntracks/#'}", "pubTopicBase", "wildcard"),
        ("{pubTopicBase: 'a/b/c/'}", "pubTopicBase", "end with '/'"),
        ("{username: 'a+b'}", "pubTopicBase", "wildcard"), ("{scanner: 'ble'}", "scanner", "'auto', 'mgmt'"),
        ("{scanner: {speed: 1}}", "scanner.capture", "missing"),
        ("{battery: 7}", "battery", "write {uuid: 'UUID', majorMask"),
        ("{battery: []}", "battery", "an array of these"),
        ("{battery: [{minorMask: 1}, 5]}", "battery", "does not fit"),
        ("{battery: {}}", "battery", "it names no bits; write majorMask or minorMask"),
        ("{battery: {uuidMask: '0xff'}}", "battery.uuidMask", "it needs uuid"),
        (
            "{battery: {uuid: 'CA271EAE-5FA8-4E80-8F08-2A302A95A959', uuidMask: '0x'}}", "battery.uuidMask",
            "a whole UUID"
        ),
        (
            "{battery: {uuid: 'CA271EAE-5FA8-4E80-8F08-2A302A95A959', uuidMask: 255}}", "battery.uuidMask",
            "for the last byte"
        ),
        ("{_type: 'waypoints', waypoints: []}", "_type", "'ibeacon-gateway regions import FILE' takes it"),
        ("{_type: 'cmd', action: 'dump', x: 1}", "_type", "this is a command"),
        ("{_type: 'dump', configuration: {}}", "_type", "its member 'configuration'"),
        ("[{_type: 'waypoint'}]", "", "'ibeacon-gateway regions import FILE' takes it"),
        (
            "owntracks:///config?inline=e30=", "",
            "this is a link of OwnTracks; 'ibeacon-gateway regions import FILE' takes"
        ),
        ("eyJ0aWQiOiJhYiJ9\n", "", "this is base64; decode it first"),
        ("{battery: [{minorMask: 0}]}", "battery[0]", "it names no bits"),
        ("{battery: {minorMask: 65536}}", "battery.minorMask", "a number from 0 to 65535, or '0x0000' to '0xFFFF'"),
        ("{battery: {minorMask: '0x10000'}}", "battery.minorMask", "'0xFFFF'"),
        ("{battery: {minorMask: '0xgg'}}", "battery.minorMask", "'0xFFFF'"),
        ("{battery: {uuid: 'x', minorMask: 1}}", "battery.uuid", "a UUID"),
        ("{battery: {minormask: 1}}", "battery.minormask", "did you mean 'minorMask'"),
        ("{battery: [{minorMask: 1}, {majorMask: 1}]}", "battery[1]", "a mask for all beacons is there already"),
        ("{scanDuty: 0.04}", "scanDuty", "0.04 does not fit; write a number from 0.05 to 1, or 'auto'"),
        ("{scanDuty: 1.1}", "scanDuty", "1.1"), ("{scanDuty: 'half'}", "scanDuty", "'auto'"),
        ("{scanner: {capture: 'f', spede: 1}}", "scanner.spede", "did you mean 'speed'"),
        ("{adapter: 'wlan0'}", "adapter", "such as hci0"), ("{adapter: ['hci0', 5]}", "adapter", "an array of 2"),
        ("{adapter: 'hci+1'}", "adapter", "such as hci0"),
        ("{leaveAfter: 'never'}", "leaveAfter", "'auto' or a number"),
        ("{enterRSSI: 127}", "enterRSSI", "-127 to 20"),
        ("{enterRSSI: -80, leaveRSSI: -70}", "leaveRSSI", "above enterRSSI"),
        ("{homeAssistant: true}", "homeAssistant", "{discovery: true"),
        ("{homeAssistant: {prefix: 'a/#'}}", "homeAssistant.prefix", "wildcard"),
        ("{http: {listen: '8080'}}", "http.listen", "127.0.0.1:8080"),
        ("{http: {listen: '::1:80'}}", "http.listen", "[::1]:8080"),
        ("{http: {listen: 'pi:80'}}", "http.listen", "in figures"),
        ("{http: {listen: '1.2.3:80'}}", "http.listen", "in figures"),
        ("{http: {listen: '1.2.3.256:80'}}", "http.listen", "in figures"),
        ("{http: {listen: '[::g]:80'}}", "http.listen", "in figures"),
        ("{rooms: {http: {listen: '8081'}}}", "rooms.http.listen", "127.0.0.1:8081"),
        ("{rooms: {http: {port: 1}}}", "rooms.http.port", ""),
        ("{days: 100000}", "days", "0 keeps none"), ("{majorMinorBase: 16}", "majorMinorBase", "'hex'"),
        ("{waypoints: {a: 1}}", "waypoints", "_type is missing"), ("{trackers: {}}", "trackers", "an array of objects"),
        ("{trackers: [5]}", "trackers[0]", "a number does not fit"),
        ("{trackers: [{tit: 'a', deviceId: 'x'}]}", "trackers[0].tit", "did you mean 'tid'"),
        ("{trackers: [{deviceId: 'x', port: 1}]}", "trackers[0].port", "at the top level"),
        ("{trackers: [{tid: 'a'}]}", "trackers[0].deviceId", "two trackers have the topic 'owntracks/user/pi'"),
        ("{card: 'Kitchen'}", "card", "{name: 'Kitchen'"),
        ("{rangingInterval: 0}", "rangingInterval", "0.1 to 86400, in seconds"),
        ("{username: 'u', password: 1hunter2}", "", "this is not a number"),
        ("5", "", "a number is not a configuration"), ("{host: 'a',\n port 5}", "", "line 2, column 7"),
        ("", "", "empty"),
    ]

    @Test("A mistake is told with its member and what is allowed", arguments: rows)
    func problem(text: String, member: String, words: String) {
        let error = #expect(throws: ConfigurationError.self) { try read(text) }
        #expect(error?.problems.count == 1, "\(error?.description ?? "")")
        #expect(error?.problems.first?.member == member)
        #expect(error?.problems.first?.reason.contains(words) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test("All mistakes are told at once, the inherited ones once")
    func all() {
        let error = #expect(throws: ConfigurationError.self) {
            try read("{hots: 1, port: 'x', tid: [], monitoring: 9, trackers: [{deviceId: 'a'}, {deviceId: {}}]}")
        }
        #expect(
            Set(error?.problems.map(\.member) ?? []) == ["hots", "port", "tid", "monitoring", "trackers[1].deviceId"])
    }

    @Test("A long value is shortened")
    func shortening() {
        let error = #expect(throws: ConfigurationError.self) {
            try read("{port: '\(String(repeating: "9", count: 5000))'}")
        }
        #expect((error?.description.utf8.count ?? 0) < 200)
    }
}
