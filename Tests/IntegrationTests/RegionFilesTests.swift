import JSON
import TestSupport
import Testing

/// Files of the phones and of ours, through the program.
@Suite struct RegionFilesTests {
    /// As OwnTracks for iOS exports regions: sorted members, numbers as numbers, the UUID in `desc`.
    private static let phone = """
        {"_type":"waypoints","waypoints":[{"_type":"waypoint","desc":"Home","lat":52.123457,"lon":6.5,"rad":100,\
        "rid":"67952e","tst":1708625557},{"_type":"waypoint","desc":"-Kitchen|1|2:\(GatewayFixture.uuid):1:7","lat":0,"lon":0,\
        "rad":0,"rid":"b4b412","tst":1700000000},{"_type":"waypoint","desc":"+60follow","lat":52,"lon":6,"rad":50,\
        "rid":"0a1b2c","tst":1600000000}]}
        """

    @Test func `regions import and export work, and a file of ours comes back the same`() throws {
        try Self.importAndExport("phone.otrw")
    }

    @Test func `The older ending .mqtw works too (iOS waypoints page)`() throws {
        try Self.importAndExport("phone.mqtw")
    }

    private static func importAndExport(_ name: String) throws {
        let gateway = try GatewayProcess("", port: 0)
        let file = try gateway.directory.write(Self.phone, to: name)
        _ = try gateway.ask("--quiet", "regions", "import", file)
        let exported = gateway.directory.file("ours.otrw")
        _ = try gateway.ask("regions", "export", exported)
        // With the time of creation, which the app does not write into its files.
        let times = [1_708_625_557, 1_700_000_000, 1_600_000_000]
        let expected = times.reduce(Self.phone) { text, time in
            text.replacing("\"tst\":\(time)", with: "\"tst\":\(time),\"wtst\":\(time)")
        }
        #expect(String(decoding: try gateway.directory.read("ours.otrw"), as: UTF8.self) == expected + "\n")
        let other = try GatewayProcess("", port: 0)
        _ = try other.ask("--quiet", "regions", "import", exported)
        #expect(try other.ask("regions", "export") == expected + "\n")
        // What is no beacon region is said to be none.
        let list = try other.ask("regions", "list")
        #expect(list.split(separator: "\n").count { $0.contains("not a beacon region") } == 2)
    }

    @Test func `regions add on a region that is there keeps its time, place and own members (Regions page)`() throws {
        let gateway = try GatewayProcess("", port: 0)
        let region = GatewayFixture.waypoint(
            "k", "Kitchen", more: #","lat":52,"lon":6,"wtst":5,"leaveAfter":30,"mine":[1]"#)
        let file = try gateway.directory.write("[\(region)]", to: "home.otrw")
        _ = try gateway.ask("--quiet", "regions", "import", file)
        _ = try gateway.ask("regions", "add", "Cellar:\(GatewayFixture.uuid):1:8", "--rid", "k")
        #expect(
            try gateway.ask("regions", "show", "k")
                == #"{"_type":"waypoint","desc":"Cellar:\#(GatewayFixture.uuid):1:8","lat":52,"#
                + #""leaveAfter":30,"lon":6,"mine":[1],"rad":0,"rid":"k","tst":1600000000,"wtst":5}"# + "\n")
        _ = try gateway.ask(
            "regions", "add", "Cellar:\(GatewayFixture.uuid):1:8", "--rid", "k", "--leave-after", "auto")
        #expect(try gateway.ask("regions", "show", "k").contains(#""leaveAfter":"auto","lon":6"#))
    }

    @Test func `Regions that are added at once are all there, the same one is there already, and names find them`()
        throws
    {
        let gateway = try GatewayProcess("", port: 0)
        for minor in 1...5 { _ = try gateway.ask("regions", "add", "Keys:\(GatewayFixture.uuid):1:\(minor)") }
        let first = try gateway.ask("regions", "add", "Bag:\(GatewayFixture.uuid):2")
        let again = try gateway.say("regions", "add", "Bag:\(GatewayFixture.uuid):2")
        #expect(again.contains("'Bag' is already there; nothing was changed"), "\(again)")
        #expect(again.contains(first))
        _ = try gateway.ask("regions", "add", "Bag:\(GatewayFixture.uuid):2", "--leave-after", "40")
        #expect(try gateway.ask("regions", "show", "Bag").contains(#""leaveAfter":40"#))
        let list = try gateway.ask("regions", "list").split(separator: "\n").dropFirst()
        #expect(list.count == 6 && Set(list.map { $0.prefix(6) }).count == 6, "\(list)")
        let many = try gateway.say("regions", "remove", "Keys")
        #expect(many.contains("5 regions are called 'Keys'; name one by its RID: "), "\(many)")
        let typo = try gateway.say("regions", "show", "Bgag")
        #expect(typo.contains("there is no region 'Bgag'; did you mean 'Bag'?"), "\(typo)")
        _ = try gateway.ask("regions", "remove", "Bag")
        #expect(try !gateway.ask("regions", "list").contains("Bag"))
        let moving = try gateway.say("regions", "add", "+Car:\(GatewayFixture.uuid):3")
        #expect(moving.contains("warning: '+Car': its name begins with '+'"), "\(moving)")
    }

    @Test func `With trackers, regions list shows all of them, and a region of another tracker is found`() throws {
        let gateway = try GatewayProcess("tid: \"GW\", trackers: [{deviceId: \"keys\", tid: \"KE\"}]", port: 0)
        _ = try gateway.ask("regions", "add", "Hall:\(GatewayFixture.uuid):1")
        _ = try gateway.ask("regions", "add", "Car:\(GatewayFixture.uuid):2", "--tracker", "KE")
        let list = try gateway.ask("regions", "list").split(separator: "\n")
        #expect(list.map { $0.prefix(7) } == ["TRACKER", "GW     ", "KE     "], "\(list)")
        #expect(try gateway.ask("regions", "list", "--tracker", "KE").split(separator: "\n").count == 2)
        let json = try gateway.ask("regions", "list", "--json").split(separator: "\n")
        #expect(json.count == 2 && json[1].contains(#""tracker":"KE""#), "\(json)")
        let removed = try gateway.say("regions", "remove", "Car")
        #expect(removed.contains("'Car' is a region of the tracker KE"), "\(removed)")
        #expect(try gateway.ask("regions", "list").split(separator: "\n").count == 2)
    }

    @Test func `regions import takes a command and a link, and says what a file is that has no waypoints`() throws {
        let gateway = try GatewayProcess("", port: 0)
        let command = try gateway.directory.write(
            #"{"_type":"cmd","action":"setWaypoints","waypoints":[\#(GatewayFixture.waypoint("k", "Kitchen"))]}"#,
            to: "command")
        _ = try gateway.ask("--quiet", "regions", "import", command)
        _ = try gateway.ask(
            "--quiet", "regions", "import", "owntracks:///beacon?rid=c&name=Car&uuid=\(GatewayFixture.uuid)&major=2")
        let list = try gateway.ask("regions", "list")
        #expect(list.contains("Kitchen") && list.contains("Car"), "\(list)")
        let empty = try gateway.directory.write(#"{"_type":"configuration"}"#, to: "phone.otrc")
        #expect(try gateway.say("regions", "import", empty).contains("a configuration without waypoints"))
        let gone = try gateway.directory.write(
            #"[{"_type":"waypoint","desc":"Car:\#(GatewayFixture.uuid):2","lat":1000},{"_type":"waypoint","desc":"Bus","lat":1000}]"#,
            to: "gone")
        let said = try gateway.say("regions", "import", gone)
        #expect(said.contains("'Bus' deletes nothing: there is no such region"), "\(said)")
        #expect(try !gateway.ask("regions", "list").contains("Car"))
        let checked = try gateway.directory.write(Self.phone, to: "phone.otrw")
        let check = try gateway.say("--config", checked, "config", "check")
        #expect(
            check.contains("this is a list of waypoints; 'ibeacon-gateway regions import FILE' takes it"), "\(check)")
    }

    @Test func `Blanks of JSON5 are blanks in a file, and typographic quotes are told`() throws {
        let gateway = try GatewayProcess("", port: 0)
        let blanks = try gateway.directory.write("{\n\u{a0}\u{a0}host: \"broker.lan\",\u{3000}\n}\n", to: "blanks.json")
        #expect(try gateway.say("--config", blanks, "config", "check").contains("is valid"))
        let quotes = try gateway.directory.write(
            "{\u{201c}host\u{201d}: \u{201c}broker.lan\u{201d}}", to: "quotes.json")
        let told = try gateway.say("--config", quotes, "config", "check")
        #expect(told.contains("'\u{201c}' where the name of a member should be; write the quote \""), "\(told)")
        let region = try gateway.directory.write(
            #"{"_type":"waypoint",“desc”:"Keys:\#(GatewayFixture.uuid)","tst":5}"#, to: "w.otrw")
        #expect(try gateway.say("regions", "import", region).contains("write the quote"))
        #expect(try gateway.ask("regions", "list").contains("none yet"))
    }

    @Test func `rooms tags add changes the tag of the name, and gives no beacon and no id to two tags`() throws {
        let service = try RoomsProcess(port: 0, instance: "a", tags: [])
        for minor in [7, 9] { _ = try service.ask("rooms", "tags", "add", "Jane:\(BeaconScript.uuid):1:\(minor)") }
        let said = try service.say("rooms", "tags", "add", "Keys:\(BeaconScript.uuid):1:9")
        #expect(said.contains("this beacon is the tag 'Jane' already"), "\(said)")
        _ = try service.ask("rooms", "tags", "add", "--rid", "jane", "Joan:\(BeaconScript.uuid):1:9")
        let other = try service.say("rooms", "tags", "add", "Jane:\(BeaconScript.uuid):1:10")
        #expect(other.contains("'jane' is the id of the tag 'Joan' already"), "\(other)")
        let list = try service.ask("rooms", "tags", "list").split(separator: "\n")
        #expect(
            list.count == 2 && list.last?.contains("Joan") == true && list.last?.contains(" 9 (") == true, "\(list)")
    }

    @Test func `Tags that no gateway hears, with own times, or on the topic of a gateway are named`() throws {
        let phone = "BF76C877-E0BE-5D31-9AE5-547EBF800856"
        let service = try RoomsProcess(
            port: 0, instance: "a",
            tags: [
                "Cats:\(BeaconScript.uuid):1", "Alt:altbeacon:\(phone)", "Phone:\(phone)", "Bike:mac:C0:FF:EE:00:00:01",
            ],
            ", deviceId: \"hall\"")
        func warnings(_ said: String) -> [String] {
            said.split(separator: "\n").filter { $0.hasPrefix("warning: ") }.map { String($0.prefix(45)) }
        }
        let checked = try service.say("config", "check")
        #expect(
            warnings(checked) == [
                "warning: rooms.tags: 'Cats': it fits several ", "warning: rooms.tags: 'Alt': it fits several b",
            ], "\(checked)")
        let added = try service.say("rooms", "tags", "add", "Hall:\(BeaconScript.uuid):1:7")
        #expect(added.contains("'Hall': a gateway publishes on its topic owntracks/jane/hall, too"), "\(added)")
        let fine = try service.say("rooms", "tags", "add", "Jane:D33B3AE7-A582-5F11-9B50-837F99FF0EA2")
        #expect(warnings(fine).isEmpty, "\(fine)")
        let file = try service.directory.write(
            "[\(GatewayFixture.waypoint("k", "Kim", suffix: ":1:9", more: #","leaveAfter":30"#))]", to: "tags.otrw")
        let imported = try service.say("rooms", "tags", "import", file)
        #expect(
            imported.contains("warning: 'Kim': leaveAfter, enterRSSI and leaveRSSI of a tag have no "), "\(imported)")
        let list = try service.ask("rooms", "tags", "list")
        #expect(list.contains("Kim") && !list.contains("LEAVE"), "\(list)")
    }

    @Test func `A tag of the configuration file is listed as one of it, and is changed there alone`() throws {
        let service = try RoomsProcess(port: 0, instance: "a")
        let reason = "'Jane': the tag is in the configuration file (rooms.tags); change it there"
        func list() throws -> [String] {
            try service.ask("rooms", "tags", "list").split(separator: "\n").map(String.init)
        }
        let alone = try list()
        #expect(alone.last?.hasSuffix("beacon  configuration file") == true, "\(alone)")
        let place = ["--config", service.directory.file("config.json"), "--state-dir", service.directory.file("state")]
        func isRefused(_ words: [String], _ why: String) throws {
            let (code, said) = try GatewayProcess.answer(place + words, in: service.directory)
            #expect(code == 65 && said.contains(why), "\(words): \(code) \(said)")
        }
        try isRefused(["rooms", "tags", "remove", "jane"], reason)
        _ = try service.ask("rooms", "tags", "add", "Bob:\(BeaconScript.uuid):1:8")
        for words in [["remove", "Jane"], ["remove", "jane", "--erase"]] {
            try isRefused(["rooms", "tags"] + words, reason)
        }
        try isRefused(["rooms", "tags", "add", "Jane:\(BeaconScript.uuid):1:9"], reason)
        try isRefused(["rooms", "tags", "add", "--rid", "jane", "Joan:\(BeaconScript.uuid):1:7"], reason)
        try isRefused(
            ["rooms", "tags", "add", "Joan:\(BeaconScript.uuid):1:7"], "this beacon is the tag 'Jane' already")
        let file = try service.directory.write(
            #"[{"_type":"waypoint","tst":1,"rid":"jane","desc":"Jane:\#(BeaconScript.uuid):1:9"}]"#, to: "tags.otrw")
        try isRefused(["rooms", "tags", "import", file], reason)
        let same = try service.ask("rooms", "tags", "add", "Jane:\(BeaconScript.uuid):1:7")
        #expect(same.contains("'Jane' is already there; nothing was changed") && same.contains("jane\n"), "\(same)")
        let lines = try list()
        #expect(
            lines.count == 3 && lines[0].hasSuffix("SOURCE") && lines.last?.hasSuffix("beacon") == false, "\(lines)")
        let json = try JSONValue(parsing: Array(try service.ask("rooms", "tags", "list", "--json").utf8))
        let marks = (json["waypoints"]?.array ?? []).map {
            "\($0["desc"]?.string?.prefix(4) ?? "") \($0["configured"]?.asBool == true)"
        }
        #expect(marks == ["Bob: false", "Jane true"], "\(json)")
        _ = try service.ask("rooms", "tags", "remove", "bob")
        #expect(try list().count == 2)
    }

    @Test func `Regions of the configuration file are named where there are none, and where they come back`() throws {
        let region = GatewayFixture.waypoint("k", "Kitchen")
        let gateway = try GatewayProcess("waypoints: [\(region)]", port: 0)
        let none = try gateway.ask("regions", "list")
        #expect(none.contains("none yet; the configuration file has 1 waypoint, which the service takes"), "\(none)")
        let warning = "warning: 'Kitchen': it is in the configuration file (waypoints), too"
        let same = try gateway.directory.write("[\(region)]", to: "home.otrw")
        #expect(try !gateway.say("regions", "import", same).contains("warning"))
        let changed = try gateway.say("regions", "add", "Kitchen:\(GatewayFixture.uuid):1:9", "--rid", "k")
        #expect(changed.contains(warning), "\(changed)")
        let removed = try gateway.say("regions", "remove", "k")
        #expect(removed.contains(warning), "\(removed)")
    }

    @Test func `rooms tags import skips a waypoint whose beacon is another tag, and may exchange beacons`() throws {
        let service = try RoomsProcess(port: 0, instance: "a", tags: [])
        for (name, minor) in [("Jane", 7), ("Keys", 9)] {
            _ = try service.ask(
                "rooms", "tags", "add", "--rid", name.lowercased(), "\(name):\(BeaconScript.uuid):1:\(minor)")
        }
        func importTags(_ tags: (rid: String, name: String, minor: Int)...) throws -> String {
            let waypoints = tags.map {
                #"{"_type":"waypoint","tst":1,"rid":"\#($0.rid)","desc":"\#($0.name):\#(BeaconScript.uuid):1:\#($0.minor)"}"#
            }
            let file = try service.directory.write("[\(waypoints.joined(separator: ","))]", to: "tags.otrw")
            return try service.say("rooms", "tags", "import", file)
        }
        func tags() throws -> String {
            let regions = try JSONValue(parsing: Array(try service.ask("rooms", "tags", "list", "--json").utf8))
            let waypoints = regions["waypoints"]?.array ?? []
            return waypoints.map { "\($0["rid"]?.string ?? ""):\($0["desc"]?.string?.suffix(2) ?? "")" }.sorted()
                .joined(separator: " ")
        }
        let said = try importTags(("bag", "Bag", 8), ("joan", "Joan", 7), ("bike", "Bike", 8), ("keys", "Keys", 7))
        #expect(
            said.contains("waypoint 'Joan': the beacon \(BeaconScript.uuid):1:7 is the tag 'Jane' already"),
            "\(said)")
        #expect(
            said.contains("waypoint 'Bike': the beacon \(BeaconScript.uuid):1:8 is the tag 'Bag' already"),
            "\(said)")
        #expect(said.contains("waypoint 'Keys': "), "\(said)")
        #expect(said.contains("1 waypoint taken, 3 refused"), "\(said)")
        #expect(try tags() == "bag::8 jane::7 keys::9")
        #expect(try importTags(("jane", "Jane", 9), ("keys", "Keys", 7)).contains("2 waypoints taken, 0 refused"))
        #expect(try tags() == "bag::8 jane::9 keys::7")
        // The tag that is refused the beacon keeps its own, so no other tag gets that.
        #expect(try importTags(("jane", "Jane", 7), ("keys", "Keys", 8)).contains("0 waypoints taken, 2 refused"))
        #expect(try tags() == "bag::8 jane::9 keys::7")
    }

    @Test func `An .otrc as a phone exports it runs, with its regions and its topic`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker)
        let gateway = try GatewayProcess("", port: 0)
        try gateway.directory.write(
            """
            {"_type":"configuration","mode":0,"deviceId":"phone","tid":"JP","clientId":"janephone","host":"127.0.0.1",
            "port":"\(broker.port)","username":"jane","password":"","auth":true,"usePassword":true,"pubQos":1,"keepalive":60,
            "pubTopicBase":"owntracks/%u/%d","pubRetain":true,"cleanSession":false,"monitoring":1,"cmd":true,"sub":true,
            "subTopic":"owntracks/+/+","willTopic":"","willQos":1,"willRetain":false,"tls":false,"ws":false,"days":-1,
            "positions":50,"locatorInterval":180,"locatorDisplacement":200,"ranging":false,"extendedData":true,
            "allowRemoteLocation":true,"remoteConfiguration":false,"encryptionKey":"","mqttProtocolLevel":4,"locked":false,
            "waypoints":[{"_type":"waypoint","desc":"Home","lat":52,"lon":6,"rad":100,"tst":1600000000,"rid":"abcdef"}]}
            """, to: "config.json")
        #expect(try gateway.ask("config", "check").isEmpty == false)
        try gateway.start()
        #expect(eventually { broker.log.contains("owntracks/jane/phone/cmd (QoS") }, "\(gateway.log)")
        try run(
            "mosquitto_pub",
            [
                "-h", "127.0.0.1", "-p", "\(broker.port)", "-q", "1", "-t", "owntracks/jane/phone/cmd", "-m",
                #"{"_type":"cmd","action":"waypoints"}"#,
            ])
        let answer = { witness.lines.first { $0.topic == "owntracks/jane/phone/waypoints" }?.text }
        #expect(eventually { answer()?.contains(#""rid":"abcdef""#) == true }, "\(gateway.log)")
        #expect(gateway.stop() == 0)
    }
}
