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

    @Test(
        "--leave-after takes what the setting takes, and names both forms where it refuses",
        arguments: [("1", true), ("86400", true), ("0.5", false), ("0", false), ("86401", false), ("soon", false)])
    func leaveAfter(text: String, isTaken: Bool) throws {
        let gateway = try GatewayProcess("", port: 0)
        let said = try gateway.say("regions", "add", "Keys:\(GatewayFixture.uuid):1:7", "--leave-after", text)
        let refusal = "--leave-after '\(text)' does not fit; write 'auto' or a number of seconds from 1 to 86400"
        #expect(said.contains(refusal) != isTaken, "\(said)")
        #expect(try gateway.ask("regions", "list").contains("Keys") == isTaken)
        guard isTaken else { return }
        let file = gateway.directory.file("keys.otrw")
        _ = try gateway.ask("regions", "export", file)
        _ = try gateway.ask("--quiet", "regions", "import", file)
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

    @Test(
        "replay refuses a file without a region that can be used, and says where there are no regions at all",
        arguments: [[], ["--quiet"]])
    func replayWithoutRegions(options: [String]) throws {
        let gateway = try GatewayProcess("", port: 0)
        func replay(_ waypoint: String?) throws -> (code: Int32, said: String) {
            let file =
                try waypoint.map { ["--regions", try gateway.directory.write("[\($0)]", to: "home.otrw")] } ?? []
            let name = "said-\(waypoint?.count ?? 0)"
            let output = gateway.directory.file(name)
            let words = gateway.arguments + options + ["replay", "\(GatewayProcess.fixtures)/demo.btsnoop"] + file
            let code = try ChildProcess(try GatewayProcess.program, words, output: output).wait()
            return (code, String(decoding: try gateway.directory.read(name), as: UTF8.self))
        }
        let refused = try replay(GatewayFixture.waypoint("k", "Kitchen", more: #","leaveAfter":0"#))
        #expect(refused.code == 65, "\(refused.said)")
        #expect(refused.said.contains("waypoint 0 ('Kitchen"), "\(refused.said)")
        #expect(refused.said.contains("home.otrw has no beacon region that can be used"), "\(refused.said)")
        let circle = try replay(#"{"_type":"waypoint","desc":"Home","lat":52,"lon":6,"rad":100,"tst":1}"#)
        #expect(circle.code == 65, "\(circle.said)")
        let none = try replay(nil)
        #expect(none.code == 0 && none.said.contains("there are no beacon regions, so nothing comes"), "\(none.said)")
        let sound = try replay(GatewayFixture.waypoint("k", "Kitchen"))
        #expect(sound.code == 0 && !sound.said.contains("no beacon region"), "\(sound.said)")
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

    @Test func `A setting that stands twice is told by config check, beside mistakes too, and the file stays valid`()
        throws
    {
        let gateway = try GatewayProcess("", port: 0)
        let twice = try gateway.directory.write("{\nhost: \"a\",\ntid: \"GW\",\nhost: \"b\"\n}\n", to: "twice.json")
        let told = "host: it stands on line 2 and again on line 4; the last one counts, so remove the other"
        let said = try gateway.say("--config", twice, "config", "check")
        #expect(said.contains("warning: \(told)\n") && said.contains("is valid"), "\(said)")
        let wrong = try gateway.directory.write("{\nhost: \"a\",\nprot: 1,\nhost: \"b\"\n}\n", to: "wrong.json")
        let refused = try gateway.say("--config", wrong, "config", "check")
        #expect(refused.contains("prot: there is no such setting") && refused.contains("  \(told)\n"), "\(refused)")
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

    @Test(arguments: ["Jane's bag", "bob/x", "a b", "", "größe", String(repeating: "a", count: 65)])
    func `An id that is no level of a topic is refused, and takes no tag away`(id: String) throws {
        let service = try RoomsProcess(port: 0, instance: "a", tags: [])
        _ = try service.ask("rooms", "tags", "add", "Jane:\(BeaconScript.uuid):1:7")
        let said = try service.say("rooms", "tags", "add", "--rid", id, "Jane:\(BeaconScript.uuid):1:8")
        let reason =
            "cannot be the id of a tag, which is a level of its topics; write 1 to 64 of these characters: a to z"
        #expect(said.contains("--rid '\(id)' \(reason)"), "\(said)")
        let list = try service.ask("rooms", "tags", "list").split(separator: "\n")
        #expect(list.count == 2 && list.last?.contains(" 7 (") == true, "\(list)")
    }

    @Test func `A tag that came with a key that is no level of a topic is still changed by its key`() throws {
        let service = try RoomsProcess(port: 0, instance: "a", tags: [])
        let tag = GatewayFixture.waypoint("a b", "Jane", suffix: ":1:7")
        _ = try service.say("rooms", "tags", "import", try service.directory.write("[\(tag)]", to: "tags.otrw"))
        _ = try service.ask("rooms", "tags", "add", "--rid", "a b", "Jane:\(BeaconScript.uuid):1:8")
        let list = try service.ask("rooms", "tags", "list").split(separator: "\n")
        #expect(list.count == 2 && list.last?.contains(" 8 (") == true, "\(list)")
    }

    @Test(
        arguments: [
            (["regions", "list", "x"], "regions list takes no 'x'; for one region: regions show 'x'"),
            (["rooms", "tags", "list", "x"], "rooms tags list takes no 'x'; for one tag: rooms tags show 'x'"),
            (["rooms", "status", "x"], "rooms status takes no 'x'; for one tag: ibeacon-gateway rooms find 'x'"),
            (["rooms", "tags", "adop"], "rooms tags has no 'adop'; did you mean 'adopt'?"),
            (["rooms", "tags"], "name the action: rooms tags list, show, add, remove, import, export, adopt"),
            (["regions", "adop"], "regions has no 'adop'; did you mean 'add'?"),
            (["rooms", "tags", "show", "x"], "there is no tag 'x'"),
            (
                ["config", "check", "foo.json"],
                "config check takes no 'foo.json'; for another file write --config foo.json"
            ),
            (["config", "default", "x"], "config default takes no 'x'"),
            (
                ["phones", "add", "Jane", "Doe"],
                "'Doe' is unexpected; quote a name that contains spaces: phones add 'Jane Doe'"
            ),
            (["phones", "list", "x"], "phones list takes no 'x'"),
        ])
    func `A word too many, or a misspelt action, is told with what was meant`(words: [String], text: String) throws {
        let service = try RoomsProcess(port: 0, instance: "a", tags: [])
        let output = service.directory.file("told")
        let arguments = [
            "--config", service.directory.file("config.json"), "--state-dir", service.directory.file("state"),
        ]
        let code = try ChildProcess(try GatewayProcess.program, arguments + words, output: output).wait()
        let told = String(decoding: try service.directory.read("told"), as: UTF8.self)
        #expect(told.contains(text) && code == (words.contains("show") ? 65 : 64), "\(code) \(told)")
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
