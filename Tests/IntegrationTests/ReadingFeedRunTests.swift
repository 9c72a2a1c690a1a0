import Glibc
import TestSupport
import Testing

/// The feed for the rooms service: the program with a recording as its radio, and a real broker.
@Suite struct ReadingFeedRunTests {
    private static let tags =
        #"{"v":1,"tags":[{"uuid":"\#(BeaconScript.uuid)","major":1,"minor":7}]}"#

    @Test func `With a list of tags at the broker readings arrive, and rooms replay decides from a recording of them`()
        throws
    {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        try run(
            "mosquitto_pub",
            ["-h", "127.0.0.1", "-p", "\(broker.port)", "-r", "-t", "ibeacon-rooms/home/tags", "-m", Self.tags])
        let directory = try TemporaryDirectory()
        let recorder = try ChildProcess(
            "mosquitto_sub",
            [
                "-h", "127.0.0.1", "-p", "\(broker.port)", "-i", "recorder", "-t", "ibeacon-rooms/#", "-t",
                "ibeacon-gateway/+/availability", "-F", "%j",
            ], output: directory.file("recording"))
        #expect(eventually { broker.log.contains("Sending SUBACK to recorder") })
        var air = BeaconScript()
        air.advertise(7, from: 0, to: 600, every: 0.2)
        air.advertise(8, from: 0, to: 600, every: 0.2)
        try air.write(to: directory.file("air.btsnoop"))
        let gateway = try GatewayProcess(
            "room: \"Kitchen\", scanner: {capture: \"\(directory.file("air.btsnoop"))\"}", port: broker.port)
        try gateway.start()
        var lines: [Substring] {
            String(decoding: (try? directory.read("recording")) ?? [], as: UTF8.self).split(separator: "\n")
        }
        #expect(eventually { lines.count { $0.contains("/heard/hall") } >= 5 }, "\(gateway.log)")
        let replay = { try gateway.ask("--quiet", "rooms", "replay", directory.file("recording")) }
        #expect(eventually { (try? replay().contains(#""roomName":"Kitchen""#)) == true }, "\(lines)")
        #expect(gateway.stop() == 0)
        recorder.send(SIGTERM)
        recorder.wait()
        #expect(lines.contains { $0.contains("/gateway/hall") && $0.contains("Kitchen") })
        // The other beacon is no tag.
        #expect(!lines.contains { $0.contains(":1:8") })
        let printed = try replay()
        #expect(printed.contains(#""roomName":"Kitchen""#), "\(printed)")
    }

    @Test func `Beacons that are no tags are published on request, and not before`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker, topic: "ibeacon-rooms/#")
        func publish(_ topic: String, _ payload: String, _ options: String...) throws {
            try run(
                "mosquitto_pub",
                ["-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "ibeacon-rooms/home/\(topic)", "-m", payload]
                    + options)
        }
        try publish("tags", Self.tags, "-r")
        let directory = try TemporaryDirectory()
        var air = BeaconScript()
        air.advertise(7, from: 0, to: 600, every: 0.2)
        air.advertise(8, from: 0, to: 600, every: 0.2)
        try air.write(to: directory.file("air.btsnoop"))
        let gateway = try GatewayProcess(
            "scanner: {capture: \"\(directory.file("air.btsnoop"))\"}, waypoints: [\(BeaconScript.waypoint("Bike", minor: 8))]",
            port: broker.port)
        try gateway.start()
        let count = { (topic: String) in witness.lines.count { $0.topic == "ibeacon-rooms/home/\(topic)" } }
        #expect(eventually { count("heard/hall") >= 3 }, "\(gateway.log)")
        #expect(count("nearby/hall") == 0)
        // A busy gateway may not come to it within the three seconds.
        #expect(
            try eventually {
                try publish("nearby", #"{"v":1,"seconds":3}"#)
                return eventually(within: .seconds(3)) { count("nearby/hall") >= 2 }
            }, "\(gateway.log)")
        // It ends by itself: at some time six messages about tags follow each other with none about other beacons.
        #expect(
            eventually {
                let (nearby, heard) = (count("nearby/hall"), count("heard/hall"))
                return eventually { count("heard/hall") >= heard + 6 } && count("nearby/hall") == nearby
            }, "\(gateway.log)")
        #expect(gateway.stop() == 0)
        for line in witness.lines where line.topic.hasSuffix("/nearby/hall") {
            #expect(line.text.contains(":1:8") && line.text.contains(#""region":"Bike""#), "\(line.text)")
            #expect(!line.text.contains(":1:7") && !line.retained)
        }
    }

    @Test func `Without a list of tags the broker gets nothing about rooms`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker, topic: "ibeacon-rooms/#")
        let gateway = try GatewayProcess(
            "scanner: {capture: \"\(GatewayProcess.fixtures)/demo.btsnoop\", speed: 4}, leaveAfter: 3, "
                + "waypoints: [\(BeaconScript.waypoint("Keys", minor: 7))]", port: broker.port)
        try gateway.start()
        #expect(gateway.says("left Keys"), "\(gateway.log)")
        #expect(gateway.stop() == 0)
        #expect(witness.lines.isEmpty)
    }
}
