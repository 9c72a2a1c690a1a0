import JSON
import TestSupport
import Testing

/// The rooms service against a real broker, with gateways that say what the test has them say.
@Suite struct RoomsRunTests {
    /// The rooms of the tag as they were published, `none` where it was in no room. What was sent again because its
    /// acknowledgement was not on the disk yet is byte-identical, and counts once.
    private func rooms(_ witness: Subscriber) -> [String] {
        var seen: Set<String> = []
        return witness.lines.filter { $0.topic == "ibeacon-rooms/home/tag/jane" && seen.insert($0.text).inserted }.map {
            line in
            (try? JSONValue(parsing: Array(line.text.utf8)))?["roomName"]?.string ?? "none"
        }
    }

    private func reported(_ witness: Subscriber, _ room: String) -> Bool { rooms(witness).last == room }

    @Test func `A tag that is carried is reported in each room, with its transitions`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker)
        let service = try RoomsProcess(port: broker.port, instance: "a")
        try service.start()
        #expect(service.says("the active one of site 'home'"), "\(service.log)")
        // In a cluster each subscription with QoS 1 delays what is published.
        #expect(eventually { broker.log.contains("ibeacon-rooms/home/learn (QoS 0)") }, "\(broker.log)")
        #expect(!broker.log.contains("ibeacon-rooms/home/tags (QoS 1)"))
        let house = try RoomsHouse(port: broker.port)
        for (room, name) in ["Kitchen", "Hall", "Bath"].enumerated() {
            #expect(try house.stay(in: room) { reported(witness, name) }, "\(service.log)")
        }
        #expect(rooms(witness).filter { $0 != "none" } == ["Kitchen", "Hall", "Bath"], "\(service.log)")
        let events = {
            witness.lines.filter { $0.topic == "owntracks/jane/jane/event" }.compactMap { line in
                (try? JSONValue(parsing: Array(line.text.utf8))).map {
                    "\($0["event"]?.string ?? "") \($0["desc"]?.string ?? "")"
                }
            }
        }
        #expect(
            eventually {
                events() == ["enter Kitchen", "leave Kitchen", "enter Hall", "leave Hall", "enter Bath"]
            }, "\(events())")
        #expect(
            eventually {
                witness.lines.contains {
                    $0.topic == "ibeacon-rooms/home/tags" && $0.text.contains(#""major":1,"minor":7"#)
                }
            })
        #expect(service.stop() == 0)
    }

    @Test func `Where the service runs, rooms status tells the reasons, and elsewhere the rooms alone`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker, topic: "ibeacon-rooms/home/tag/+")
        let service = try RoomsProcess(port: broker.port, instance: "a", page: try LoopbackPort.free())
        try service.start()
        #expect(service.says("the active one"), "\(service.log)")
        let house = try RoomsHouse(port: broker.port)
        #expect(try house.stay(in: 0) { reported(witness, "Kitchen") }, "\(service.log)")
        // The reasons are those of the moment, so the tag is heard while they are asked for.
        var (text, json, other) = ("", JSONValue.null, "")
        #expect(
            try house.stay(in: 0) {
                text = try service.ask("rooms", "status")
                return text.contains("What speaks most for Kitchen: g0 at -50 dBm")
            }, "\(text)")
        #expect(
            try house.stay(in: 0) {
                json = try JSONValue(parsing: Array(try service.ask("rooms", "status", "--json").utf8))
                return json["tags"]?["jane"]?["reasons"]?.array?.isEmpty == false
            }, "\(json)")
        let elsewhere = try RoomsProcess(port: broker.port, instance: "b")
        #expect(
            try house.stay(in: 0) {
                other = try elsewhere.ask("rooms", "status")
                return other.contains("Kitchen")
            }, "\(other)")
        #expect(!other.contains("speaks most"), "\(other)")
    }

    @Test func `After kill -9 a tag that stayed is not reported again, and one that moved is`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker)
        let service = try RoomsProcess(port: broker.port, instance: "a")
        try service.start()
        #expect(service.says("the active one"), "\(service.log)")
        let house = try RoomsHouse(port: broker.port)
        #expect(try house.stay(in: 0) { reported(witness, "Kitchen") }, "\(service.log)")
        service.kill()
        try service.start()
        #expect(service.says("the active one", times: 2), "\(service.log)")
        try house.stay(in: 0, seconds: 6)
        #expect(rooms(witness).filter { $0 != "none" } == ["Kitchen"], "\(service.log)")
        service.kill()
        try house.stay(in: 1, seconds: 2)
        try service.start()
        #expect(try house.stay(in: 1) { reported(witness, "Hall") }, "\(service.log)")
        #expect(rooms(witness).filter { $0 != "none" } == ["Kitchen", "Hall"], "\(service.log)")
        #expect(!rooms(witness).dropFirst().contains("none"))
    }

    @Test func `A standby takes over when the active service is gone, and reports only what is new`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker)
        let first = try RoomsProcess(port: broker.port, instance: "a")
        let second = try RoomsProcess(port: broker.port, instance: "b")
        try first.start()
        #expect(first.says("the active one"), "\(first.log)")
        try second.start()
        let house = try RoomsHouse(port: broker.port)
        #expect(try house.stay(in: 0) { reported(witness, "Kitchen") }, "\(first.log)")
        #expect(!second.log.contains("the active one"), "\(second.log)")
        first.kill()
        #expect(try house.stay(in: 1) { reported(witness, "Hall") }, "\(second.log)")
        #expect(second.log.contains("the active one"), "\(second.log)")
        // The other returns, and stays the standby although its name comes first.
        try first.start()
        #expect(first.says("connected to ", times: 2), "\(first.log)")
        #expect(try house.stay(in: 2) { reported(witness, "Bath") }, "\(second.log)")
        #expect(rooms(witness).filter { $0 != "none" } == ["Kitchen", "Hall", "Bath"], "\(first.log) \(second.log)")
        #expect(second.stop() == 0)
        #expect(first.says("the active one", times: 2), "\(first.log)")
    }

    @Test func `Tags come by setWaypoints too, and the gateways are told`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker, topic: "ibeacon-rooms/home/tags")
        let service = try RoomsProcess(port: broker.port, instance: "a")
        try service.start()
        #expect(service.says("the active one"), "\(service.log)")
        #expect(eventually { broker.log.contains("owntracks/jane/rooms-home/cmd (QoS") }, "\(service.log)")
        let waypoint = BeaconScript.waypoint("Keys", minor: 9)
        try run(
            "mosquitto_pub",
            [
                "-h", "127.0.0.1", "-p", "\(broker.port)", "-q", "1", "-t", "owntracks/jane/rooms-home/cmd", "-m",
                #"{"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[\#(waypoint)]}}"#,
            ])
        #expect(eventually { witness.lines.last?.text.contains(#""minor":9"#) == true }, "\(service.log)")
        service.kill()
        try service.start()
        #expect(service.says("2 tags"), "\(service.log)")
    }

    @Test func `A flood of readings from invented gateways delays neither a signal nor the real gateways`() throws {
        let broker = try MosquittoBroker(["allow_anonymous true", "max_queued_messages 0", "max_inflight_messages 0"])
        defer { broker.stop() }
        let witness = try Subscriber(
            to: broker, topic: "ibeacon-rooms/home/tag/+", options: ["-t", "ibeacon-rooms/home/room/+"])
        let service = try RoomsProcess(port: broker.port, instance: "a")
        try service.start()
        #expect(service.says("the active one"), "\(service.log)")
        let strangers = (0..<100).map {
            #"{"id":"\#(BeaconScript.uuid):9:\#($0)","n":3,"rssi":-50,"power":-59,"age":100}"#
        }
        let flood = (0..<1000).map { number in
            #"{"v":1,"boot":"x","seq":\#(number),"at":\#(number * 1000),"listening":1000,"reports":40,"#
                + #""beacons":[\#(strangers.joined(separator: ","))]}"#
        }
        let file = try service.directory.write(flood.joined(separator: "\n") + "\n", to: "flood")
        let publisher = try ChildProcess(
            "sh",
            [
                "-c",
                "for gateway in 1 2 3 4; do mosquitto_pub -h 127.0.0.1 -p \(broker.port) "
                    + "-t ibeacon-rooms/home/heard/x$gateway -l < '\(file)'; done",
            ], output: service.directory.file("publisher"))
        let house = try RoomsHouse(port: broker.port)
        #expect(try house.stay(in: 0) { reported(witness, "Kitchen") }, "\(service.log)")
        publisher.wait()
        // All of the flood is read when what comes behind it is: a gateway that counts is moved.
        try house.publish("gateway/g2", #"{"v":1,"room":"Attic"}"#, retained: true)
        #expect(
            try house.stay(in: 0) { witness.lines.contains { $0.topic == "ibeacon-rooms/home/room/attic" } },
            "\(service.log)")
        #expect(reported(witness, "Kitchen"), "\(service.log)")
        let used = service.processorTime
        #expect(service.stop() == 0)
        let turn = try #require(
            service.log.firstMatch(of: /longest turn of the loop: (\d+) ms; the most that a turn computed: (\d+) ms/),
            "\(service.log)")
        let (elapsed, computed) = try (#require(Int(turn.1)), #require(Int(turn.2)))
        print(
            "flood of 4,000 messages to the rooms service: longest turn \(elapsed) ms, it computed \(computed) ms at most, in all \(used)"
        )
        // How long a turn lasts depends on what else the machine does. What it computes does not: no turn has a large part of the work.
        #expect(.milliseconds(computed) < used / 4)
        if GatewayProcess.measured != nil { #expect(elapsed <= 100) }
    }
}
