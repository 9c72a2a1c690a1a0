import Glibc
import JSON
import TestSupport
import Testing

/// The service against a real broker, seen by a witness beside it.
@Suite struct GatewayRunTests {
    private static let kitchen = #"""
        {"_type":"waypoint","tst":1600000000,"rid":"k","desc":"Kitchen:CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7"}
        """#
    private static let demo = "scanner: {capture: \"\(GatewayProcess.fixtures)/demo.btsnoop\", speed: 4}, leaveAfter: 3"
    private static let long = "scanner: {capture: \"\(GatewayProcess.fixtures)/stay-and-walk.btsnoop\"}, leaveAfter: 30"

    @Test func `What run tells a real broker is what replay prints, but for the times`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker, topic: "owntracks/#")
        let gateway = try GatewayProcess(
            "lat: 48.2, lon: 16.37, waypoints: [\(Self.kitchen)], \(Self.demo)", port: broker.port)
        try gateway.start()
        #expect(eventually { witness.lines.count >= 4 }, "\(gateway.log)")
        #expect(gateway.stop() == 0)
        let printed = try gateway.ask("--quiet", "replay", "\(GatewayProcess.fixtures)/demo.btsnoop", "--tail", "60")
        let expected = printed.split(separator: "\n").filter { $0.contains("\"owntracks/") }.map { line in
            // {"topic":"…","qos":1,"retain":false,"payload":{…}}
            let topic = line.split(separator: "\"")[3]
            let payload = line.split(separator: "\"payload\":", maxSplits: 1)[1].dropLast()
            return "\(topic) \(withoutTimes(String(payload)))"
        }
        #expect(expected.count == 4)
        #expect(witness.timeless == expected)
    }

    @Test func `setWaypoints sent as the seed document shows takes effect within a second`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let gateway = try GatewayProcess(Self.long, port: broker.port)
        try gateway.start()
        #expect(gateway.hearsCommands(of: broker), "\(gateway.log)")
        let file = try gateway.directory.write(
            #"{"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[\#(Self.kitchen)]}}"#,
            to: "wp.json")
        try run(
            "sh",
            [
                "-c",
                "jq -c . '\(file)' | mosquitto_pub -h 127.0.0.1 -p \(broker.port) -t owntracks/jane/hall/cmd -q 1 -l",
            ])
        #expect(gateway.says("regions: 1 new"), "\(gateway.log)")
        #expect(gateway.says("entered Kitchen"))
        #expect(gateway.stop() == 0)
    }

    @Test func `A malformed command changes nothing and is logged with topic and reason`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let gateway = try GatewayProcess("waypoints: [\(Self.kitchen)], \(Self.long)", port: broker.port)
        try gateway.start()
        #expect(gateway.hearsCommands(of: broker), "\(gateway.log)")
        // The regions of the configuration are on the disk a moment later.
        #expect(eventually { (try? gateway.ask("regions", "export").contains("Kitchen:CA271EAE")) == true })
        let before = try gateway.ask("regions", "export")
        try run(
            "mosquitto_pub",
            [
                "-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "owntracks/jane/hall/cmd", "-m",
                #"{"_type":"cmd","tst":010}"#,
            ])
        #expect(gateway.says("command on owntracks/jane/hall/cmd refused: not JSON"), "\(gateway.log)")
        #expect(gateway.stop() == 0)
        #expect(try gateway.ask("regions", "export") == before)
        #expect(before.contains("Kitchen:CA271EAE"))
    }

    @Test func `Regions and history survive kill -9`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let gateway = try GatewayProcess("waypoints: [\(Self.kitchen)], \(Self.demo)", port: broker.port)
        try gateway.start()
        #expect(gateway.says("entered Kitchen"), "\(gateway.log)")
        #expect(eventually { (try? gateway.ask("history", "--json").contains("\"event\":\"enter\"")) == true })
        gateway.kill()
        #expect(try gateway.ask("regions", "list").contains("Kitchen"))
        #expect(try gateway.ask("history").contains("Kitchen"))
    }

    @Test func `regions add reaches the running service`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let gateway = try GatewayProcess(Self.long, port: broker.port)
        try gateway.start()
        #expect(gateway.says("listening"), "\(gateway.log)")
        _ = try gateway.ask("regions", "add", "Cellar:CA271EAE-5FA8-4E80-8F08-2A302A95A959:1")
        #expect(gateway.says("entered Cellar"), "\(gateway.log)")
        #expect(gateway.stop() == 0)
    }

    @Test func `A transition that happened while there was no broker is told when there is one`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker, topic: "owntracks/+/+/event")
        let proxy = try FaultyProxy(to: broker.port)
        let gateway = try GatewayProcess("waypoints: [\(Self.kitchen)], \(Self.demo)", port: proxy.port)
        proxy.behave(.isSilent)
        try gateway.start()
        #expect(gateway.says("left Kitchen"), "\(gateway.log)")
        #expect(witness.lines.isEmpty)
        proxy.behave(.passes)
        proxy.cut()
        #expect(eventually { witness.lines.count >= 2 }, "\(gateway.log)")
        #expect(witness.lines.map { $0.text.contains("\"event\":\"enter\"") } == [true, false])
        #expect(gateway.stop() == 0)
    }

    @Test func `The will says when its connection began, after a lost one, too`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker, topic: "owntracks/jane/hall")
        let proxy = try FaultyProxy(to: broker.port)
        let gateway = try GatewayProcess(Self.long, port: proxy.port)
        try gateway.start()
        func begins() -> [Int64] {
            witness.lines.compactMap { line in
                let json = try? JSONValue(parsing: line.text)
                return json?["_type"] == "lwt" ? json?["tst"]?.asInteger : nil
            }
        }
        for count in 1...2 {
            #expect(eventually { gateway.log.matches(of: /connected to/).count == count }, "\(gateway.log)")
            // The time has whole seconds.
            let connected = ContinuousClock.now
            #expect(eventually { ContinuousClock.now - connected > .seconds(1) })
            if count == 1 { proxy.cut() } else { gateway.kill() }
            #expect(eventually { begins().count == count }, "\(begins())")
        }
        #expect(begins().count == 2 && begins()[1] > begins()[0], "\(begins())")
    }

    @Test func `The broker says offline and the will when the gateway is killed, and only offline when it is stopped`()
        throws
    {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker)
        let gateway = try GatewayProcess(Self.long, port: broker.port)
        let availability = "ibeacon-gateway/hall/availability"
        func published(_ topic: String) -> [String] { witness.lines.filter { $0.topic == topic }.map(\.text) }
        try gateway.start()
        #expect(eventually { published(availability) == ["online"] }, "\(gateway.log)")
        // The availability has a connection of its own. The other one has a will only once it exists.
        #expect(eventually { gateway.log.matches(of: /connected to/).count == 1 }, "\(gateway.log)")
        gateway.kill()
        #expect(eventually { published(availability) == ["online", "offline"] })
        #expect(eventually { published("owntracks/jane/hall").contains { $0.contains("\"_type\":\"lwt\"") } })
        let wills = published("owntracks/jane/hall").count
        try gateway.start()
        #expect(eventually { published(availability).count == 3 }, "\(gateway.log)")
        // One that is cut before it exists has a will, too.
        #expect(eventually { gateway.log.matches(of: /connected to/).count == 2 }, "\(gateway.log)")
        #expect(gateway.stop() == 0)
        #expect(eventually { published(availability) == ["online", "offline", "online", "offline"] })
        #expect(published("owntracks/jane/hall").count == wills)
    }

    @Test(
        arguments: [
            (["replya"], 64, "did you mean 'replay'"), (["replay", "nothing.btsnoop"], 66, "nothing.btsnoop"),
            (["replay", "\(GatewayProcess.fixtures)/README.md"], 65, "not a capture"),
            (["config", "chek"], 64, "check"),
            (["--config", "missing.json", "config", "check"], 66, "missing.json"),
            (["regions", "show", "x"], 65, "'x'"),
        ] as [([String], Int32, String)])
    func `What is wrong is named, with an exit code of sysexits`(words: [String], code: Int32, text: String) throws {
        let directory = try TemporaryDirectory()
        let process = try ChildProcess(
            try GatewayProcess.program, ["--state-dir", directory.file("state")] + words, output: directory.file("log"))
        #expect(process.wait() == code)
        #expect(String(decoding: try directory.read("log"), as: UTF8.self).contains(text))
    }
}
