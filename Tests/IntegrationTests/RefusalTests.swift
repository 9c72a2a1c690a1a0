import Base
import JSON
import TestSupport
import Testing

/// The program with a broker that refuses things: what is refused is said wherever a person may look.
@Suite struct RefusalTests {
    private static let kitchen = #"""
        {_type: "waypoint", tst: 1600000000, rid: "k", desc: "Kitchen:CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7"}
        """#
    private static let sound =
        "scanner: {capture: \"\(GatewayProcess.fixtures)/demo.btsnoop\"}, waypoints: [\(kitchen)], lat: 50, lon: 8"

    /// One row of the table in the documents.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let policy: PolicyBroker.Policy
        /// As in the column "what is refused" of `Docs/troubleshooting.md`.
        let document: String
        /// The `kind` in `status --json` and in the metrics.
        let kind: String
        /// In the finding of `status`, which page, `doctor` and Home Assistant show, too.
        let words: [String]
        /// Whether the broker takes what Home Assistant's problem shows.
        var reachesHome = true
    }

    private static func policy(_ change: (inout PolicyBroker.Policy) -> Void) -> PolicyBroker.Policy {
        var policy = PolicyBroker.Policy()
        change(&policy)
        return policy
    }

    private static let discovery = "homeAssistant: {discovery: true}"

    static let rows = [
        Row(
            testDescription: "a topic of messages",
            policy: policy { $0.publish = { $0.topic.hasSuffix("/event") ? .refused(0x87) : .allowed } },
            document: "messages to a topic", kind: "message",
            words: ["messages to owntracks/jane/hall/event are refused: not authorised", "transitions do not arrive"]),
        Row(
            testDescription: "the topics of Home Assistant",
            policy: policy { $0.publish = { $0.topic.hasPrefix("homeassistant/") ? .refused(0x87) : .allowed } },
            document: "messages to a topic", kind: "message",
            words: [
                "messages to homeassistant/", "more are refused: not authorised",
                "entities are missing in Home Assistant",
            ]),
        Row(
            testDescription: "a subscription",
            policy: policy { $0.subscribe = { $0.hasSuffix("/cmd") ? .refused(0x87) : .allowed } },
            document: "a subscription", kind: "subscription",
            words: [
                "the broker refuses the subscription to owntracks/jane/hall/cmd: not authorised",
                "commands cannot arrive",
            ]),
        Row(
            testDescription: "a subscription, by the end of the connection",
            policy: policy { $0.subscribe = { $0.hasSuffix("/cmd") ? .ends : .allowed } },
            document: "a subscription", kind: "subscription",
            words: ["owntracks/jane/hall/cmd: the broker ended the connection when it was asked for"]),
        Row(
            testDescription: "the second connection",
            policy: policy { $0.connect = { $0.id.hasSuffix("-availability") ? .refused(0x85) : .allowed } },
            document: "a client id, or a second connection", kind: "client id",
            words: ["the client id 'janehall-availability' is refused", "nobody says 'offline'"]),
        Row(
            testDescription: "the quality of messages",
            policy: policy { $0.properties = [0x24, 0] }, document: "messages over a limit", kind: "size",
            words: ["over a limit: it does not support this QoS", "transitions do not arrive"], reachesHome: false),
        Row(
            testDescription: "the size of messages",
            policy: policy { $0.properties = [0x27, 0, 0, 0, 100] }, document: "messages over a limit", kind: "size",
            words: ["over a limit: larger than the broker accepts"], reachesHome: false),
        Row(
            testDescription: "retained messages",
            policy: policy { $0.properties = [0x25, 0] }, document: "that messages are retained", kind: "retain",
            words: ["the broker retains nothing"], reachesHome: false),
    ]

    /// What `status --json` says.
    private static func status(_ gateway: GatewayProcess) -> JSONValue? {
        let text = try? gateway.say("--state-dir", gateway.directory.file("state"), "status", "--json")
        return text.flatMap { try? JSONValue(parsing: Array($0.utf8)) }
    }

    @Test(arguments: rows)
    func `What is refused is in the log, in status, in doctor and in the documents`(row: Row) throws {
        let broker = try PolicyBroker(row.policy)
        defer { broker.close() }
        let page = try LoopbackPort.free()
        let gateway = try GatewayProcess(
            "\(Self.sound), \(Self.discovery)", port: broker.port, http: "{listen: \"127.0.0.1:\(page)\"}")
        try gateway.start()
        var shown = ""
        let isShown = eventually {
            let findings = (Self.status(gateway)?["findings"]?.array ?? []).compactMap { $0["text"]?.string }
            shown = findings.joined(separator: "\n")
            return row.words.allSatisfy { shown.contains($0) }
        }
        #expect(isShown, "\(shown)\n\(gateway.log)")
        let entries = Self.status(gateway)?["refusals"]?.array ?? []
        let entry = try #require(entries.first { $0["kind"]?.string == row.kind }, "\(entries)")
        #expect(entry["over"] == .bool(false) && entry["reason"]?.string?.isEmpty == false)
        #expect((entry["count"]?.asInteger ?? 0) > 0)
        let object = try #require(entry["object"]?.string)
        // That nothing is retained is about no topic.
        #expect(gateway.log.contains(object) || row.kind == "retain", "the log names it")
        let total =
            "ibeacon_gateway_refusals_total{connection=\"\(entry["connection"]?.string ?? "")\",kind=\"\(row.kind)\"}"
        #expect(try run("curl", ["-s", "http://127.0.0.1:\(page)/metrics"]).contains(total))
        #expect(try run("curl", ["-s", "http://127.0.0.1:\(page)/status.json"]).contains(row.words[0]))
        let isAtHome =
            !row.reachesHome
            || eventually {
                broker.messages.contains {
                    $0.topic == "ibeacon-gateway/hall/gateway" && $0.text.contains(row.words[0])
                }
            }
        #expect(
            isAtHome,
            "Home Assistant's problem: \(broker.messages.filter { $0.topic.hasSuffix("/gateway") }.map(\.text))")
        let doctor = try gateway.say("doctor", "--listen", "0")
        #expect(doctor.contains("BAD  service") && doctor.contains(row.words[0]), "\(doctor)")
        let parts = #filePath.split(separator: "/").dropLast(3)
        let file = "/" + parts.joined(separator: "/") + "/Docs/troubleshooting.md"
        let document = try run("cat", [file])
        #expect(document.contains("| \(row.document) |"))
        #expect(gateway.stop() == 0)
    }

    @Test func `What the rooms service is refused is in its log, on its page and in its metrics`() throws {
        let broker = try PolicyBroker(
            Self.policy { $0.publish = { $0.topic.hasPrefix("homeassistant/") ? .refused(0x87) : .allowed } })
        defer { broker.close() }
        let page = try LoopbackPort.free()
        let service = try RoomsProcess(port: broker.port, instance: "a", page: page, ", \(Self.discovery)")
        try service.start()
        let words = ["messages to homeassistant/", "refused: not authorised"]
        #expect(service.says(words[0]) && service.says(words[1]), "\(service.log)")
        let shown = try eventual({ try run("curl", ["-s", "http://127.0.0.1:\(page)/status.json"]) }) { shown in
            words.allSatisfy(shown.contains)
        }
        #expect(words.allSatisfy(shown.contains), "\(shown)")
        let metrics = try run("curl", ["-s", "http://127.0.0.1:\(page)/metrics"])
        #expect(metrics.contains("ibeacon_rooms_refusals_total{connection=\"main\",kind=\"message\"}"), "\(metrics)")
        #expect(service.stop() == 0)
    }

    @Test func `A topic that is refused again and again is named once`() throws {
        let broker = try PolicyBroker(Self.policy { $0.publish = { _ in .refused(0x87) } })
        defer { broker.close() }
        let gateway = try GatewayProcess(Self.sound, port: broker.port)
        try gateway.start()
        let name = "messages to ibeacon-gateway/hall/region/k are refused: not authorised"
        func count() -> Int64 {
            let entries = Self.status(gateway)?["refusals"]?.array ?? []
            return entries.first { $0["object"] == "ibeacon-gateway/hall/region/k" }?["count"]?.asInteger ?? 0
        }
        #expect(eventually { count() >= 2 }, "\(gateway.log)")
        #expect(gateway.stop() == 0)
        let lines = gateway.log.split(separator: "\n").filter { $0.contains(name) && !$0.contains(" times") }
        #expect(lines.count == 1, "\(gateway.log)")
        // One line a minute says how often, of whichever topic is refused again first.
        #expect(gateway.log.contains("are refused: not authorised; 2 times"), "\(gateway.log)")
    }

    @Test func `A broker that ends the connection at a forbidden filter costs three connections at most`() throws {
        let broker = try PolicyBroker(
            Self.policy { $0.subscribe = { $0.hasPrefix("owntracks/") ? .allowed : .ends } })
        defer { broker.close() }
        let gateway = try GatewayProcess(Self.sound, port: broker.port)
        let start = ContinuousClock.now
        try gateway.start()
        #expect(eventually { broker.messages.contains { $0.topic.hasSuffix("/event") } }, "\(gateway.log)")
        #expect(start.duration(to: .now) < .seconds(15))
        #expect(!eventually(within: .seconds(8)) { broker.connects.count > 3 }, "\(broker.connects)")
        #expect(gateway.stop() == 0)
    }

    @Test func `A broker that gives both connections one client id is recognised, and all goes over one`() throws {
        let broker = try PolicyBroker(Self.policy { $0.identity = { _ in "jane" } })
        defer { broker.close() }
        let gateway = try GatewayProcess("\(Self.sound), \(Self.discovery)", port: broker.port)
        try gateway.start()
        #expect(gateway.says("nobody says 'offline'"), "\(gateway.log)")
        let count = broker.connects.count
        #expect(eventually { broker.messages.contains { $0.topic.hasPrefix("homeassistant/") } })
        #expect(eventually { broker.messages.contains { $0.topic.hasSuffix("/event") } })
        #expect(eventually { Self.status(gateway)?["brokers"]?.array?.first?["state"]?.string == "connected" })
        #expect(!eventually(within: .seconds(5)) { broker.connects.count > count + 1 }, "\(broker.connects)")
        #expect(gateway.stop() == 0)
        #expect(broker.messages.contains { $0.topic.hasSuffix("/availability") && $0.text == "offline" })
    }

    @Test(arguments: [PolicyBroker.Verdict.refused(1), .ends, .silence])
    func `A broker of MQTT 3_1_1 alone is one that doctor takes, as the service does`(
        verdict: PolicyBroker.Verdict
    ) throws {
        let broker = try PolicyBroker(Self.policy { $0.connect = { $0.level == 5 ? verdict : .allowed } })
        defer { broker.close() }
        let gateway = try GatewayProcess(Self.sound, port: broker.port)
        let doctor = try gateway.say(
            "--config", gateway.directory.file("config.json"), "--state-dir", gateway.directory.file("state"), "doctor",
            "--listen", "0")
        #expect(doctor.contains("all is well"), "\(doctor)")
        #expect(doctor.contains("as far as a broker without MQTT 5 can tell"), "\(doctor)")
        try gateway.start()
        #expect(gateway.says("connected to", within: .seconds(40)), "\(gateway.log)")
        #expect(gateway.stop() == 0)
    }

    @Test func `What a limit had set aside is sent when the limit is gone`() throws {
        let broker = try PolicyBroker(Self.policy { $0.properties = [0x24, 0] })
        defer { broker.close() }
        let gateway = try GatewayProcess(Self.sound, port: broker.port)
        try gateway.start()
        #expect(gateway.says("a message is set aside"), "\(gateway.log)")
        #expect(!broker.messages.contains { $0.topic.hasSuffix("/event") })
        broker.change(PolicyBroker.Policy())
        broker.endAll()
        #expect(
            eventually { broker.messages.contains { $0.topic.hasSuffix("/event") && $0.text.contains("enter") } },
            "\(gateway.log)")
        #expect(
            eventually {
                (Self.status(gateway)?["findings"]?.array ?? []).allSatisfy { $0["subject"] != "limits" }
            })
        #expect(gateway.stop() == 0)
    }

    @Test func `Doctor prints the lines that an access list lacks`() throws {
        let broker = try PolicyBroker(
            Self.policy { $0.publish = { $0.topic.hasPrefix("owntracks/jane/") ? .allowed : .refused(0x87) } })
        defer { broker.close() }
        let gateway = try GatewayProcess("\(Self.sound), \(Self.discovery)", port: broker.port)
        let doctor = try gateway.say(
            "--config", gateway.directory.file("config.json"), "--state-dir", gateway.directory.file("state"), "doctor",
            "--listen", "0")
        for line in [
            "topic readwrite ibeacon-gateway/hall/#", "topic readwrite homeassistant/+/ibeacon-gateway-hall/+/config",
        ] { #expect(doctor.contains(line), "\(doctor)") }
        #expect(!doctor.contains("all is well"))
    }

    @Test(arguments: [
        (
            UInt8(0x87), "not authorised",
            "let 'jane' read it; in mosquitto's acl_file: topic readwrite owntracks/jane/hall/#"
        ),
        (0x97, "quota exceeded", "look at the broker's quotas"),
        (0xa2, "it does not support wildcards", "change the broker's own settings"),
    ])
    func `Doctor has lines of an access list only where a right is missing`(
        code: UInt8, reason: String, remedy: String
    ) throws {
        let broker = try PolicyBroker(
            Self.policy { $0.subscribe = { $0.hasSuffix("/cmd") ? .refused(code) : .allowed } })
        defer { broker.close() }
        let gateway = try GatewayProcess(Self.sound, port: broker.port)
        let doctor = try gateway.say("doctor", "--listen", "0")
        #expect(
            doctor.contains("commands on owntracks/jane/hall/cmd do not arrive: \(reason)")
                && doctor.contains("-> \(remedy)"), "\(doctor)")
        #expect(doctor.contains("acl_file") == (code == 0x87), "\(doctor)")
    }
}
