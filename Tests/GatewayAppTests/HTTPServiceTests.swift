import Base
import Configuration
import Encryption
import JSON
import Messaging
import OwnTracks
import PageServer
import ServiceSupport
import Storage
import TestSupport
import Testing

@testable import GatewayApp

/// What the service sends over HTTP, in virtual time, and how it reads answers.
struct HTTPServiceTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private static let http = "mode: 3, url: \"http://recorder/pub\", lat: 52, lon: 6,"

    private func payloads(_ fixture: ServiceFixture) throws -> [JSONValue] {
        try fixture.broker.messages.map { try JSONValue(parsing: $0.payload) }
    }

    @Test func `Only one link is opened, and it is told where to post and in whose name`() throws {
        let fixture = try ServiceFixture(
            "\(Self.http) password: \"s3cr1t\", trackers: [{deviceId: \"keys\", username: \"ann\"}],", in: directory)
        let settings = try #require(fixture.broker.settings)
        let endpoint = try #require(settings.endpoint)
        #expect(endpoint.url == "http://recorder/pub")
        #expect(endpoint.senders.map(\.user) == ["jane", "ann"])
        #expect(endpoint.senders.map(\.device) == ["hall", "keys"])
        #expect((settings.username, settings.password?.revealed) == ("jane", "s3cr1t"))
        #expect(settings.tls == nil)
        #expect(fixture.availability.settings == nil)
    }

    @Test(arguments: [
        ("owntracks/jane/hall", "hall"), ("owntracks/jane/hall/attic", "attic"),
        ("owntracks/jane/hallway", "own"), ("owntracks/jane", "own"),
    ])
    func `A message is posted in the name of the tracker that it belongs to, else in the gateway's own`(
        owner: String, device: String
    ) {
        let posting = BrokerSettings.Posting(
            url: "http://recorder/pub",
            senders: [
                .init(base: "owntracks/jane/pi", user: "jane", device: "own"),
                .init(base: "owntracks/jane/hall", user: "jane", device: "hall"),
                .init(base: "owntracks/jane/hall/attic", user: "jane", device: "attic"),
            ])
        let publication = Publication(.transition, of: owner, topic: "owntracks/jane/hall/event", payload: [])
        #expect(posting.sender(of: publication)?.device == device)
    }

    @Test func `TLS goes by the address, with the files of the settings`() throws {
        let files = "caFile: \"ca.pem\", tls: false,"
        let fixture = try ServiceFixture("mode: 3, url: \"https://recorder/pub\", \(files)", in: directory)
        #expect(fixture.broker.settings?.tls?.caFile == directory.file("ca.pem"))
        try fixture.reload("mode: 3, url: \"http://recorder/pub\", caFile: \"ca.pem\", tls: true,")
        #expect(fixture.broker.settings?.tls == nil)
    }

    @Test func `Every message has its topic in it, and nothing outside OwnTracks' tree is sent`() throws {
        let fixture = try ServiceFixture("\(Self.http) homeAssistant: {discovery: true},", in: directory)
        try fixture.bringKeys()
        fixture.wait(.seconds(120))
        let types = try payloads(fixture).map { $0["_type"]?.string }
        #expect(types == ["transition", "location", "transition", "location"])
        #expect(try payloads(fixture).map { $0["topic"]?.string } == fixture.broker.messages.map(\.topic))
        #expect(fixture.availability.messages.isEmpty)
        #expect(fixture.store.counters?.outboxRows == 0)
    }

    @Test func `With a key the topic is inside the envelope`() throws {
        let cipher = try #require(PayloadCipher(key: Secret("s3cr1t")))
        let fixture = try ServiceFixture("\(Self.http) encryptionKey: \"s3cr1t\",", in: directory)
        try fixture.bringKeys()
        let message = try #require(try payloads(fixture).first)
        #expect(message["topic"] == nil)
        let plaintext = try JSONValue(parsing: cipher.decrypt(try #require(EncryptedMessage(message))))
        #expect((plaintext["_type"], plaintext["topic"]) == ("transition", "owntracks/jane/hall/event"))
    }

    @Test func `What waited for an MQTT broker is posted after a change to HTTP, but for what means nothing there`()
        throws
    {
        let fixture = try ServiceFixture("lat: 52, lon: 6,", in: directory)
        fixture.broker.lose()
        fixture.settle()
        try fixture.bringKeys()
        // Transition, location and retained state.
        #expect(fixture.store.counters?.outboxRows == 3)
        let before = fixture.broker.messages.count
        fixture.broker.isReachable = true
        try fixture.reload(Self.http)
        fixture.wait(.seconds(10))
        #expect(
            fixture.broker.messages.dropFirst(before).map(\.topic) == [
                "owntracks/jane/hall/event", "owntracks/jane/hall",
            ])
        #expect(fixture.store.counters?.outboxRows == 0)
    }

    @Test func `Another device of another tracker makes a new connection`() throws {
        let fixture = try ServiceFixture(
            "\(Self.http) trackers: [{deviceId: \"keys\", pubTopicBase: \"a/b/c\"}],", in: directory)
        try fixture.reload("\(Self.http) trackers: [{deviceId: \"bag\", pubTopicBase: \"a/b/c\"}],")
        #expect(fixture.broker.connections == 2)
        #expect(fixture.broker.settings?.endpoint?.senders.last?.device == "bag")
    }

    @Test func `A server of which only a message shows whether it takes them is handed one, and then the others`()
        throws
    {
        let fixture = try ServiceFixture(Self.http, in: directory)
        fixture.broker.lose()
        fixture.broker.send(.wantsMessage)
        fixture.settle()
        try fixture.bringKeys()
        fixture.wait(.seconds(60))
        #expect(fixture.broker.messages.count == 1)
        #expect(fixture.status.page?.pageState()["brokers"]?.array?.first?["state"] == "disconnected")
        fixture.broker.restore()
        fixture.settle()
        fixture.wait(.seconds(10))
        #expect(fixture.broker.messages.count == 4)
        #expect(fixture.store.counters?.outboxRows == 0)
    }

    @Test func `A message that stepped aside is kept and named in the status, and others go on`() throws {
        let fixture = try ServiceFixture(Self.http, in: directory)
        fixture.broker.isReachable = false
        try fixture.bringKeys()
        fixture.broker.send(
            .steppedAside(
                MessageToken(rawValue: 1), topic: "owntracks/jane/hall/event", reason: "the server answers 500"))
        fixture.broker.send(.acknowledged(MessageToken(rawValue: 2)))
        fixture.settle()
        fixture.wait(.seconds(10))
        #expect(fixture.store.counters?.outboxRows == 1)
        let server = fixture.status.page?.pageState()["brokers"]?.array?.first
        #expect(server?["kind"] == "server")
        let reason = server?["reason"]?.string ?? ""
        #expect(reason == "it does not accept the message on owntracks/jane/hall/event: the server answers 500")
        // By this subject doctor takes it over.
        let findings = fixture.status.page?.pageState()["findings"]?.array ?? []
        #expect(findings.contains { $0["subject"] == "server" && $0["level"] != "ok" }, "\(findings)")
        fixture.broker.send(
            .steppedAside(MessageToken(rawValue: 9), topic: "owntracks/jane/hall", reason: "the server answers 500"))
        fixture.settle()
        let two = fixture.status.page?.pageState()["brokers"]?.array?.first?["reason"]?.string ?? ""
        #expect(two.contains("/event and 1 other: "), "\(two)")
        // The server has them later.
        fixture.broker.send(.acknowledged(MessageToken(rawValue: 9)))
        fixture.broker.send(.acknowledged(MessageToken(rawValue: 1)))
        fixture.settle()
        fixture.wait(.seconds(10))
        #expect(fixture.status.page?.pageState()["brokers"]?.array?.first?["reason"] == "")
        #expect(fixture.store.counters?.outboxRows == 0)
    }

    @Test func `What the server refuses is in the record of refusals with its topic until it accepts the like`() throws
    {
        let fixture = try ServiceFixture(Self.http, in: directory)
        fixture.broker.isReachable = false
        try fixture.bringKeys()
        fixture.broker.send(.refused(MessageToken(rawValue: 1), .byEndpoint(status: 400)))
        fixture.broker.send(
            .steppedAside(MessageToken(rawValue: 2), topic: "owntracks/jane/hall", reason: "the server answers 500"))
        fixture.settle()
        let page = try #require(fixture.status.page?.pageState())
        let refusals = try #require(page["refusals"]?.array)
        #expect(refusals.map { $0["kind"] } == ["post", "post"])
        #expect(refusals.map { $0["object"] } == ["owntracks/jane/hall/event", "owntracks/jane/hall"])
        #expect(refusals.map { $0["reason"] } == ["the server answers 400", "the server answers 500"])
        // The state of the connection names what stepped aside.
        let findings = try #require(page["findings"]).text
        #expect(findings.contains("messages on owntracks/jane/hall/event are not accepted: the server answers 400"))
        #expect(!findings.contains("messages on owntracks/jane/hall are not accepted"), "\(findings)")
        fixture.broker.send(.acknowledged(MessageToken(rawValue: 2)))
        fixture.settle()
        let later = try #require(fixture.status.page?.pageState()["refusals"]?.array)
        #expect(later.map { $0["over"] } == [false, true])
    }

    @Test func `In this mode no finding speaks of a broker`() throws {
        let fixture = try ServiceFixture(Self.http, in: directory)
        for event: BrokerEvent in [
            .disconnected(.endpoint(reason: "no", remedy: "look"), retryIn: .seconds(1)),
            .dropped(.tooLarge(topic: "owntracks/jane/hall/cmd", size: 300_000)),
            .refused(MessageToken(rawValue: 1), .byEndpoint(status: 400)),
        ] {
            fixture.broker.send(event)
            fixture.settle()
            let findings = try #require(fixture.status.page?.pageState()["findings"]).text
            #expect(!findings.lowercased().contains("broker"), "\(findings)")
            fixture.broker.send(.connected(sessionPresent: true))
            fixture.settle()
            let later = try #require(fixture.status.page?.pageState()["findings"]).text
            #expect(!later.lowercased().contains("broker"), "\(later)")
        }
    }

    // MARK: - Answers

    /// The commands in an answer to a message of the tracker; nil: there are none.
    private func commands(in answer: String, key: String? = nil) throws -> ReceivedCommands? {
        var members: [String: JSONValue] = [
            "mode": 3, "url": "http://recorder/pub", "username": "jane", "deviceId": "hall",
        ]
        if let key { members["encryptionKey"] = .string(key) }
        let configuration = try Configuration(.object(members), hostName: "pi")
        let decoder = CommandDecoder(configuration, ciphers: Ciphers(configuration))
        return decoder.read(
            ReceivedMessage(
                topic: "owntracks/jane/hall/cmd", payload: Array(answer.utf8), qos: .atLeastOnce, retained: false,
                isAnswer: true))
    }

    private static let report = #"{"_type":"cmd","action":"reportLocation"}"#
    private static let friend = #"{"_type":"location","lat":1,"lon":2,"tid":"xx","tst":1}"#

    @Test func `Commands are read from the array of an answer, and what friends sent is left alone`() throws {
        let answer = "[\(Self.friend),\(Self.report),{\"_type\":\"card\"},{\"_type\":\"cmd\",\"action\":\"jump\"},5]"
        let received = try #require(try commands(in: answer))
        #expect(received.commands.count == 2)
        #expect(try received.commands[0].get() == .reportLocation)
        #expect(throws: CommandError.self) { try received.commands[1].get() }
        #expect(!received.wasEncrypted)
    }

    @Test func `A single object is read like an array of one`() throws {
        #expect(try commands(in: Self.report)?.commands.first?.get() == .reportLocation)
    }

    @Test(arguments: ["[]", "{}", "", "OK", "<html></html>", "[[1]]", "{\"_type\":\"encrypted\",\"data\":\"AAAA\"}"])
    func `An answer without commands is none, whatever it is`(answer: String) throws {
        #expect(try commands(in: answer)?.commands.isEmpty ?? true)
    }

    @Test func `An encrypted answer is opened with the tracker's key`() throws {
        let cipher = try #require(PayloadCipher(key: Secret("s3cr1t")))
        let sealed = cipher.encrypt(Array("[\(Self.friend),\(Self.report)]".utf8)).payload
        let received = try #require(try commands(in: sealed.text, key: "s3cr1t"))
        #expect(received.wasEncrypted)
        #expect(try received.commands.map { try $0.get() } == [.reportLocation])
        #expect(received.remark == "1 of the type 'location'")
        // A list of friends alone is no command that went wrong.
        let friends = cipher.encrypt(Array("[\(Self.friend)]".utf8)).payload.text
        #expect(try commands(in: friends, key: "s3cr1t")?.commands.isEmpty == true)
        // What was sealed with another key is told.
        #expect(try commands(in: sealed.text, key: "other")?.commands.count == 1)
    }

    @Test(
        arguments: [
            ("[]", nil), ("{}", nil), ("", nil), (" \n", nil), ("[\(report)]", nil),
            ("[\(friend),\(report),\(friend),{\"_type\":\"card\"}]", "1 of the type 'card', 2 of the type 'location'"),
            ("{\"error\":\"unknown device\"}", "what is no message of OwnTracks: '{\"error\":\"unknown device\"}'"),
            ("[\(report),5]", "what is no message of OwnTracks: '5'"),
            ("null", "what is no message of OwnTracks: 'null'"),
            (" User not found", "what is no JSON: 'User not found'"),
            ("{\"_type\":\"encrypted\",\"data\":\"AAAA\"}", "1 of the type 'encrypted'"),
        ] as [(String, String?)])
    func `What an answer contains beside commands is put into words`(answer: String, words: String?) throws {
        #expect(try commands(in: answer)?.remark == words)
    }

    @Test func `Words for an answer are bounded, whatever it contains`() throws {
        let types = (0..<1000).map {
            "{\"_type\":\"\(String(repeating: "x", count: 100))\($0)\"},{\"_type\":\"t\($0)\"}"
        }
        let remark = try #require(try commands(in: "[\(types.joined(separator: ","))]")?.remark)
        #expect(remark.count < 400)
        let text = try #require(try commands(in: String(repeating: "no ", count: 10_000))?.remark)
        #expect(text.count < 120)
    }

    @Test func `A plain command beside a key is marked as plain, so that it is refused`() throws {
        #expect(try commands(in: "[\(Self.report)]", key: "s3cr1t")?.wasEncrypted == false)
    }
}
