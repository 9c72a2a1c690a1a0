import JSON
import TestSupport
import Testing

/// The fleet of a rooms service and what Home Assistant is told of it, over a real broker.
@Suite struct RoomsFleetRunTests {
    private static let discovery = #", homeAssistant: {discovery: true}"#

    /// What the broker retains, by topic, as a witness sees it that was there from the start.
    ///
    /// - Parameter first: The first of the witness's lines that counts.
    private func retained(_ witness: Subscriber, from first: Int = 0) -> [String: String] {
        Dictionary(witness.lines.dropFirst(first).map { ($0.topic, $0.text) }) { $1 }.filter { !$0.value.isEmpty }
    }

    /// The entities that are described.
    private func described(_ witness: Subscriber) -> Set<String> {
        Set(
            retained(witness).keys.filter { $0.hasPrefix("homeassistant/") && $0.hasSuffix("/config") }
                .map { String($0.split(separator: "/")[3]) })
    }

    @Test func `Home Assistant is told of tags, rooms and gateways, and entities go with what they describe`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker)
        let service = try RoomsProcess(port: broker.port, instance: "a", Self.discovery)
        let house = try RoomsHouse(port: broker.port)
        try service.start()
        #expect(service.says("the active one"), "\(service.log)")
        let of = { (gateways: [Int], rooms: [String]) -> Set<String> in
            Set(
                ["service", "tag-jane"] + ["room", "confidence", "last_room", "last_heard"].map { "tag-jane_\($0)" }
                    + gateways.flatMap { ["gateway-g\($0)_listening", "gateway-g\($0)_version"] }
                    + rooms.flatMap { ["room-\($0)_occupancy", "room-\($0)_count"] })
        }
        let all = of([0, 1, 2], ["kitchen", "hall", "bath"])
        // A gateway is described once it counts.
        #expect(try house.stay(in: 0) { described(witness) == all }, "\(service.log)")
        #expect(
            eventually {
                retained(witness)["ibeacon-rooms/home/room/hall"] == #"{"count":0,"name":"Hall","tags":[]}"#
            })
        // A gateway is forgotten, and with it the room in which no other stands.
        try house.publish("gateway/g2", "", retained: true)
        #expect(eventually { described(witness) == of([0, 1], ["kitchen", "hall"]) }, "\(service.log)")
        #expect(
            eventually {
                retained(witness).keys.allSatisfy {
                    !$0.contains("bath") && (!$0.contains("g2") || $0.hasSuffix("heard/g2"))
                }
            })
        // Home Assistant starts: all is said once more.
        let count = { witness.lines.count { $0.topic.hasSuffix("/tag-jane_room/config") } }
        let before = count()
        #expect(eventually { broker.log.contains("homeassistant/status (QoS") }, "\(service.log)")
        try run(
            "mosquitto_pub",
            ["-h", "127.0.0.1", "-p", "\(broker.port)", "-q", "1", "-t", "homeassistant/status", "-m", "online"])
        #expect(eventually { count() > before }, "\(service.log)")
        #expect(service.stop() == 0)
        // A tag that goes while the service is down goes from Home Assistant at the next start.
        let configuration = String(decoding: try service.directory.read("config.json"), as: UTF8.self)
        try service.directory.write(configuration.replacing("Jane:", with: "Bob:"), to: "config.json")
        try run("rm", ["-r", service.directory.file("state")])
        try service.start()
        #expect(
            eventually {
                let topics = described(witness)
                return topics.contains("tag-bob") && !topics.contains("tag-jane")
            }, "\(service.log)")
        #expect(service.stop() == 0)
    }

    @Test
    func `A service that lost its state asks to adopt the site's list, does not shorten it, and adopts it when told`()
        throws
    {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker, topic: "ibeacon-rooms/home/tags")
        let service = try RoomsProcess(port: broker.port, instance: "a", tags: [])
        for name in ["Jane:7", "Bob:8"] {
            let parts = name.split(separator: ":")
            _ = try service.ask("rooms", "tags", "add", "\(parts[0]):\(BeaconScript.uuid):1:\(parts[1])")
        }
        let isListed = { (minors: [Int]) in
            minors.allSatisfy { witness.lines.last?.text.contains(#""minor":\#($0)"#) == true }
        }
        try service.start()
        #expect(eventually { isListed([7, 8]) }, "\(service.log)")
        service.kill()
        try run("rm", ["-r", service.directory.file("state")])
        let before = witness.lines.count
        try service.start()
        #expect(service.says("rooms tags adopt"), "\(service.log)")
        #expect(try eventually { try service.say("rooms", "status").contains("rooms tags adopt") })
        _ = try service.ask("rooms", "tags", "add", "New:\(BeaconScript.uuid):1:9")
        #expect(service.says("tags: 1 new", times: 1), "\(service.log)")
        #expect(try eventually { try service.say("rooms", "tags", "list").contains("New") })
        #expect(try eventually { try service.say("doctor", "--listen", "0").contains("rooms tags adopt") })
        #expect(witness.lines.count == before)
        _ = try service.ask("rooms", "tags", "adopt")
        #expect(eventually { isListed([7, 8, 9]) }, "\(service.log)")
        _ = try service.ask("rooms", "tags", "adopt")
        #expect(service.stop() == 0)
    }

    @Test
    func
        `A gateway is listed with its state, and forgotten with its topics; a room is forgotten with what was learned`()
        throws
    {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker)
        let service = try RoomsProcess(port: broker.port, instance: "a", Self.discovery)
        let house = try RoomsHouse(port: broker.port)
        try service.start()
        #expect(service.says("the active one"), "\(service.log)")
        try run(
            "mosquitto_pub",
            [
                "-h", "127.0.0.1", "-p", "\(broker.port)", "-q", "1", "-r", "-t", "ibeacon-gateway/g2/availability",
                "-m", "offline",
            ])
        let health = { (gateway: String) in retained(witness)["ibeacon-rooms/home/health/\(gateway)"] ?? "" }
        #expect(
            try house.stay(in: 0) {
                health("g0").contains(#""listening":true"#) && health("g1").contains(#""listening":true"#)
            }, "\(service.log)")
        // Another machine has the name of the third gateway, and is told apart by the starts that alternate.
        for second in 0..<8 {
            try house.publish(
                "heard/g2",
                #"{"v":1,"boot":"\#(second % 2)","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":4,"beacons":[]}"#
            )
        }
        #expect(eventually { health("g2").contains("sharedName") }, "\(service.log)")
        #expect(service.says("several gateways are called g2"))
        // A command collects what the broker retains for a moment, and a gateway listens as long as it publishes.
        var list = ""
        #expect(
            try house.stay(in: 0) {
                list = try service.ask("rooms", "gateways")
                return list.contains("several gateways are called g2: give each a deviceId of its own")
                    && list.contains("g0") && list.contains("Kitchen") && list.contains("listening")
            }, "\(list)")
        var json = JSONValue.null
        #expect(
            try house.stay(in: 0) {
                json = try JSONValue(parsing: Array(try service.ask("rooms", "gateways", "--json").utf8))
                return json["g1"]?["room"] == "Hall" && json["g1"]?["health"]?["problem"] == .null
            }, "\(json)")
        // A state with tags is that of a rooms service.
        _ = try service.ask("rooms", "tags", "add", "Keys:\(BeaconScript.uuid):1:9")
        var doctor = ""
        #expect(
            try eventually {
                doctor = try service.say("doctor", "--listen", "0")
                return doctor.contains("3 gateways at site 'home'")
                    && doctor.contains("BAD  rooms          several gateways are called g2")
            }, "\(doctor)")
        _ = try service.ask("rooms", "gateways", "remove", "g2")
        #expect(
            eventually {
                retained(witness).keys.allSatisfy { !$0.contains("g2_") && !$0.hasSuffix("gateway/g2") }
            }, "\(service.log)")
        #expect(throws: (any Error).self) { try service.ask("rooms", "gateways", "remove", "g2") }
        // A room without a gateway is known as long as something is learned of it.
        try house.publish("learn", #"{"room":"Attic","tag":"Jane","seconds":600}"#)
        #expect(
            try house.stay(in: 0) { retained(witness)["ibeacon-rooms/home/room/attic"] != nil }, "\(service.log)")
        #expect(
            try house.stay(in: 0) { try service.ask("rooms", "status").contains("Attic has no gateway") },
            "\(service.log)")
        try house.publish("learn", #"{"room":"Attic","tag":"Jane","seconds":0}"#)
        _ = try service.ask("rooms", "forget", "attic")
        // The tag may be in it as yet.
        #expect(
            try house.stay(in: 0) { !retained(witness).keys.contains { $0.contains("attic") } }, "\(service.log)")
        #expect(service.stop() == 0)
    }

    @Test func `Where a tag was is listed, and deleted with the tag`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker)
        // Jane is no tag of the configuration file, which only that file can remove.
        let service = try RoomsProcess(port: broker.port, instance: "a", tags: [])
        let missing = try service.say("rooms", "history", "--json")
        #expect(missing.contains("there is no state in \(service.directory.file("state"))"), "\(missing)")
        _ = try service.ask("rooms", "tags", "add", "Jane:\(BeaconScript.uuid):1:7")
        let house = try RoomsHouse(port: broker.port)
        try service.start()
        #expect(service.says("the active one"), "\(service.log)")
        #expect(try service.ask("rooms", "history").contains("no tag was in a room yet"))
        _ = try service.ask("rooms", "tags", "add", "--rid", "keys", "Keys:\(BeaconScript.uuid):1:9")
        for (room, name) in ["kitchen", "hall"].enumerated() {
            #expect(
                try house.stay(in: room) {
                    retained(witness)["ibeacon-rooms/home/tag/jane"]?.contains(#""room":"\#(name)""#) == true
                }, "\(service.log)")
        }
        let json = try service.ask("rooms", "history", "--tag", "Jane", "--json").split(separator: "\n").map {
            try JSONValue(parsing: Array($0.utf8))
        }
        #expect(json.map { $0["roomName"]?.string } == ["Kitchen", "Hall"])
        #expect(json.map { $0["to"] == .null } == [false, true])
        #expect(try service.ask("rooms", "history").contains("Jane"))
        #expect(try service.ask("rooms", "history", "--csv").hasPrefix("from,to,name,room,tag,roomId\n"))
        #expect(try service.ask("rooms", "history", "--tag", "Keys").contains("'Keys' was in no room yet"))
        #expect(try service.ask("rooms", "history", "--tag", "JANE", "--json").contains("Kitchen"))
        let later = try service.ask("rooms", "history", "--tag", "Jane", "--since", "2100-01-01")
        #expect(later.contains("'Jane' was in no room since that time"), "\(later)")
        let unknown = try service.say("rooms", "history", "--tag", "Jnae")
        #expect(unknown.contains("there is no tag 'Jnae', and no history of one; did you mean 'Jane'?"), "\(unknown)")
        #expect(throws: (any Error).self) { try service.ask("rooms", "history", "--tag", "Jnae") }
        #expect(throws: (any Error).self) { try service.ask("rooms", "history", "--json", "--csv") }
        _ = try service.ask("rooms", "tags", "remove", "--erase", "jane")
        #expect(try service.ask("rooms", "history").contains("no tag was in a room yet"))
        #expect(service.stop() == 0)
        #expect(try service.ask("rooms", "history").contains("no tag was in a room yet"))
    }

    @Test func `A tag that was taken out of the configuration file is removed once the service has read it`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let tag = "Jane:\(BeaconScript.uuid):1:7"
        let service = try RoomsProcess(port: broker.port, instance: "a", tags: [tag])
        try service.start()
        #expect(service.says("the active one"), "\(service.log)")
        // With a change of the tags the service stores all of them.
        _ = try service.ask("rooms", "tags", "add", "Bob:\(BeaconScript.uuid):1:8")
        #expect(service.says("tags: 1 new, 0 changed, 0 removed"), "\(service.log)")
        let list = { try service.ask("rooms", "tags", "list") }
        #expect(eventually { (try? list().contains("Bob")) == true })
        let file = String(decoding: try service.directory.read("config.json"), as: UTF8.self)
        try service.directory.write(file.replacing("\"\(tag)\"", with: ""), to: "config.json")
        let said = try service.say("rooms", "tags", "remove", "jane")
        #expect(said.contains("'Jane' was in the configuration file when the service read it"), "\(said)")
        service.reload()
        #expect(
            service.says("'Jane' is removed: the configuration file (rooms.tags) no longer has it"), "\(service.log)")
        #expect(eventually { (try? list().contains("Jane")) == false }, "\(service.log)")
        #expect(try list().contains("Bob"))
        #expect(service.stop() == 0)
    }

    @Test func `What the broker retains of a site is cleared when no service is active any more, and not before`()
        throws
    {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker)
        let service = try RoomsProcess(port: broker.port, instance: "a", Self.discovery + ", lat: 48.2, lon: 16.4")
        let house = try RoomsHouse(port: broker.port)
        try service.start()
        #expect(service.says("the active one"), "\(service.log)")
        #expect(try house.stay(in: 0) { retained(witness)["owntracks/jane/jane"] != nil }, "\(service.log)")
        #expect(eventually { described(witness).contains("tag-jane") }, "\(service.log)")
        #expect(throws: (any Error).self) { try service.ask("rooms", "clear") }
        #expect(eventually { retained(witness)["ibeacon-rooms/home/tags"] != nil })
        #expect(service.stop() == 0)
        let doctor = { try service.say("doctor", "--listen", "0") }
        _ = try service.ask("rooms", "tags", "add", "Keys:\(BeaconScript.uuid):1:9")
        #expect(try eventually { try doctor().contains("no rooms service is active") })
        // The readings were not retained.
        let left = {
            retained(witness).filter {
                !$0.key.contains("/heard/") && !$0.key.hasSuffix("/event") && !$0.key.contains("owntracks/jane/vm")
            }
        }
        // A client retains the state of a tag that does not exist and has the name of a phone.
        try house.publish("tag/phone", "{}", retained: true)
        try run(
            "mosquitto_pub",
            ["-h", "127.0.0.1", "-p", "\(broker.port)", "-r", "-t", "owntracks/jane/phone", "-m", "{}"])
        #expect(eventually { left()["owntracks/jane/phone"] != nil && left()["ibeacon-rooms/home/tag/phone"] != nil })
        _ = try service.ask("rooms", "clear")
        #expect(eventually { Array(left().keys) == ["owntracks/jane/phone"] }, "\(left())")
        let after = try doctor()
        #expect(!after.contains("no rooms service is active"), "\(after)")
    }

    @Test func `A broker that lost all it retained gets the states of tags and rooms and the list of tags again`()
        throws
    {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker)
        let service = try RoomsProcess(port: broker.port, instance: "a")
        try service.start()
        #expect(service.says("the active one"), "\(service.log)")
        let house = try RoomsHouse(port: broker.port)
        let isInKitchen = {
            retained(witness)["ibeacon-rooms/home/tag/jane"]?.contains(#""room":"kitchen""#) == true
                && retained(witness)["ibeacon-rooms/home/room/kitchen"]?.contains(#""count":1"#) == true
                && retained(witness)["ibeacon-rooms/home/tags"] != nil
        }
        #expect(try house.stay(in: 0, until: isInKitchen), "\(service.log)")
        let before = retained(witness)
        let first = witness.lines.count
        try broker.restart()
        #expect(
            eventually {
                let now = retained(witness, from: first)
                return ["tag/jane", "room/kitchen", "tags"].allSatisfy {
                    now["ibeacon-rooms/home/\($0)"] == before["ibeacon-rooms/home/\($0)"]
                }
            }, "\(service.log)")
        #expect(service.stop() == 0)
    }
}
