import Base
import Beacon
import Configuration
import JSON
import Messaging
import PageServer
import Scanning
import ServiceSupport
import Shell
import SiteProtocol
import TestSupport
import Testing

@testable import GatewayApp

/// The feed for the rooms service: the wiring from radio to broker, in virtual time.
struct ReadingFeedServiceTests {
    private static let tags = "ibeacon-rooms/home/tags"
    private static let card = "ibeacon-rooms/home/gateway/hall"
    private static let heard = "ibeacon-rooms/home/heard/hall"
    private static let list =
        #"{"v":1,"tags":[{"uuid":"\#(ServiceFixture.uuid)","major":1,"minor":7}]}"#
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func send(_ payload: String, to fixture: ServiceFixture, topic: String = tags, isRetained: Bool = true) {
        fixture.availability.send(
            .message(
                ReceivedMessage(
                    topic: topic, payload: Array(payload.utf8), qos: .atLeastOnce, retained: isRetained)))
        fixture.settle()
    }

    private func messages(_ fixture: ServiceFixture, _ topic: String) -> [Publication] {
        fixture.availability.messages.filter { $0.topic == topic }
    }

    @Test func `Without a list of tags nothing is published of what is heard`() throws {
        let fixture = try ServiceFixture(in: directory)
        try fixture.bringKeys()
        fixture.wait(.seconds(60))
        #expect(fixture.availability.filters == [Self.tags])
        #expect(fixture.availability.messages.allSatisfy { $0.topic.hasSuffix("/availability") })
    }

    private func regionFinding(_ fixture: ServiceFixture) -> JSONValue? {
        fixture.status.page?.pageState()["findings"]?.array?.first { $0["subject"] == "regions" }
    }

    /// The configuration of a gateway that has no regions of its own.
    private func removeRegion(of fixture: ServiceFixture) {
        fixture.command(#"{"_type":"cmd","action":"clearWaypoints"}"#)
    }

    @Test func `A gateway of a site needs no regions of its own, also while the broker is away`() throws {
        let fixture = try ServiceFixture(in: directory)
        removeRegion(of: fixture)
        // The list may still come.
        #expect(regionFinding(fixture)?["level"] == "ok")
        send(Self.list, to: fixture)
        fixture.wait(.seconds(60))
        #expect(regionFinding(fixture)?["level"] == "ok")
        fixture.availability.lose()
        fixture.settle()
        fixture.wait(.seconds(60))
        #expect(regionFinding(fixture)?["level"] == "ok")
        fixture.availability.restore()
        fixture.settle()
        // The site has no list any more.
        send("", to: fixture)
        fixture.wait(.seconds(60))
        #expect(regionFinding(fixture)?["level"] == "warning")
    }

    @Test(arguments: ["", "rooms: null, ", "mode: 3, url: \"http://recorder/pub\", "])
    func `A gateway without a site and without regions is warned of`(members: String) throws {
        let fixture = try ServiceFixture(members, in: directory)
        removeRegion(of: fixture)
        fixture.wait(.seconds(60))
        #expect(regionFinding(fixture)?["level"] == "warning")
    }

    @Test func `A list of tags brings the card, retained, and a message for each second in which a tag is heard`()
        throws
    {
        let fixture = try ServiceFixture("room: 'Hall', ", in: directory)
        send(Self.list, to: fixture)
        let card = try #require(messages(fixture, Self.card).first)
        #expect(card.isRetained && card.qos == .atLeastOnce)
        let json = try JSONValue(parsing: card.payload)
        #expect(json["v"]?.asInteger == 1)
        #expect(json["room"]?.string == "Hall")
        #expect(json["scanner"]?.string == "capture")
        #expect(json["since"]?.asInteger == 1_700_001_000)
        #expect(json["version"]?.string == Program.version)
        try fixture.bringKeys()
        let heard = messages(fixture, Self.heard)
        #expect(heard.count == 10)
        #expect(heard.allSatisfy { !$0.isRetained && $0.qos == .atMostOnce && $0.kind == .transient })
        let reading = try JSONValue(parsing: try #require(heard.last).payload)
        #expect(reading["beacons"]?.array?.first?["id"]?.string == "\(ServiceFixture.uuid):1:7")
        #expect(reading["beacons"]?.array?.first?["rssi"]?.asInteger == -60)
        #expect(reading["listening"]?.asInteger == 1000)
    }

    @Test func `The card names the adapters, also one that begins to listen later`() throws {
        let fixture = try ServiceFixture(in: directory)
        send(Self.list, to: fixture)
        var adapter = AdapterStatus(receiver: Receiver(index: 1), name: "hci1")
        adapter.address = DeviceAddress(value: 0xb827_eb00_2201, isRandom: false)
        fixture.radio.adapters.append(adapter)
        for _ in 0..<2 {
            fixture.radio.output?.listening(
                true, of: adapter.receiver, duty: nil, at: fixture.host.now, because: "the test says so")
            fixture.settle()
        }
        let cards = try messages(fixture, Self.card).map { try FeedDecoder.card($0.payload).adapters }
        #expect(cards == [[], [try #require(adapter.address)]])
    }

    @Test func `A tag without numbers is heard as a phone is, with 0 as its numbers`() throws {
        let fixture = try ServiceFixture(in: directory)
        let uuid = try #require(BeaconUUID("BF76C877-E0BE-5D31-9AE5-547EBF800856"))
        let list = TagList(.init(1, "a"), [.init(uuid: uuid, major: nil, minor: nil, id: "jane", name: "Jane")])
        send(String(decoding: list.payload, as: UTF8.self), to: fixture)
        fixture.radio.output?.heard(
            Sighting(
                beacon: BeaconID(uuid: uuid, major: 0, minor: 0), measuredPower: MeasuredPower(dBm: -59),
                rssi: RSSI(reported: -60), receiver: Receiver(index: 0)), at: fixture.host.now)
        fixture.wait(.seconds(2))
        let heard = try messages(fixture, Self.heard).flatMap { message in
            try JSONValue(parsing: message.payload)["beacons"]?.array?.compactMap { $0["id"]?.string } ?? []
        }
        #expect(heard == ["\(uuid):0:0"])
    }

    @Test func `listening is the share of the second in which the radio listened, and a duty that nobody knows is 1`()
        throws
    {
        let fixture = try ServiceFixture(in: directory)
        send(Self.list, to: fixture)
        func listening(withDuty duty: Double?) throws -> Int64? {
            fixture.radio.output?.listening(
                true, of: Receiver(index: 0), duty: duty, at: fixture.host.now, because: "the test says so")
            fixture.wait(.seconds(3))
            let beacon = BeaconID(uuid: try #require(BeaconUUID(ServiceFixture.uuid)), major: 1, minor: 7)
            fixture.radio.output?.heard(
                Sighting(
                    beacon: beacon, measuredPower: MeasuredPower(dBm: -59), rssi: RSSI(reported: -60),
                    receiver: Receiver(index: 0)), at: fixture.host.now)
            fixture.wait(.seconds(2))
            let last = try #require(messages(fixture, Self.heard).last)
            return try JSONValue(parsing: last.payload)["listening"]?.asInteger
        }
        #expect(try listening(withDuty: 1) == 1000)
        #expect(try listening(withDuty: 0.25) == 250)
        #expect(try listening(withDuty: 0.1) == 100)
        // Another scanner, which cannot set the duty, took over.
        #expect(try listening(withDuty: nil) == 1000)
    }

    @Test func `A gateway that hears no tag gives a sign of life every ten seconds, with its count of reports`() throws
    {
        let fixture = try ServiceFixture(in: directory)
        fixture.radio.adapters = [AdapterStatus(receiver: Receiver(index: 0), name: "hci0")]
        send(Self.list, to: fixture)
        fixture.wait(.seconds(10.5))
        fixture.radio.adapters[0].reports = 12
        fixture.wait(.seconds(10))
        let reports = try messages(fixture, Self.heard).map { try JSONValue(parsing: $0.payload)["reports"]?.asInteger }
        #expect(reports == [0, 12])
    }

    @Test func `A beacon that is heard before the tick does not take the reports from the sign of life`() throws {
        let fixture = try ServiceFixture(in: directory)
        fixture.radio.adapters = [AdapterStatus(receiver: Receiver(index: 0), name: "hci0")]
        send(Self.list, to: fixture)
        fixture.wait(.seconds(9.9))
        fixture.radio.adapters[0].reports = 12
        let stranger = BeaconID(uuid: try #require(BeaconUUID(ServiceFixture.uuid)), major: 1, minor: 8)
        // A tick waits until all reports of the radio are read.
        fixture.radio.output?.heard(
            Sighting(
                beacon: stranger, measuredPower: MeasuredPower(dBm: -59), rssi: RSSI(reported: -60),
                receiver: Receiver(index: 0)), at: fixture.host.now.advanced(by: .seconds(0.2)))
        fixture.wait(.seconds(5))
        let reports = try messages(fixture, Self.heard).map { try JSONValue(parsing: $0.payload)["reports"]?.asInteger }
        #expect(reports == [12])
    }

    @Test func `An empty message on the topic of the tags turns the feed off`() throws {
        let fixture = try ServiceFixture(in: directory)
        send(Self.list, to: fixture)
        send("", to: fixture, isRetained: false)
        try fixture.bringKeys()
        #expect(messages(fixture, Self.heard).isEmpty)
    }

    @Test func `A connection that brings no list any more leaves the feed off`() throws {
        let fixture = try ServiceFixture(in: directory)
        send(Self.list, to: fixture)
        fixture.availability.lose()
        fixture.settle()
        fixture.availability.restore()
        fixture.settle()
        try fixture.bringKeys()
        #expect(messages(fixture, Self.heard).isEmpty)
    }

    @Test func `What cannot be sent at once is dropped, and later seconds are sent again`() throws {
        let fixture = try ServiceFixture(in: directory)
        send(Self.list, to: fixture)
        // The connection transmits nothing, and this was not detected yet.
        fixture.availability.isReachable = false
        try fixture.bringKeys()
        #expect(messages(fixture, Self.heard).count == 1)
        fixture.availability.isReachable = true
        fixture.availability.acknowledgeAll()
        fixture.settle()
        try fixture.bringKeys()
        #expect(messages(fixture, Self.heard).count > 5)
    }

    @Test func `Quiet mode stops the feed, and another mode begins it again`() throws {
        let fixture = try ServiceFixture("monitoring: -1, ", in: directory)
        send(Self.list, to: fixture)
        try fixture.bringKeys()
        #expect(messages(fixture, Self.heard).isEmpty)
        try fixture.reload("monitoring: 1, ")
        try fixture.bringKeys()
        #expect(messages(fixture, Self.heard).count >= 9)
    }

    @Test func `A list that is none leaves the feed as it was`() throws {
        let fixture = try ServiceFixture(in: directory)
        send(Self.list, to: fixture)
        send(#"{"v":1,"tags":7}"#, to: fixture)
        try fixture.bringKeys()
        #expect(messages(fixture, Self.heard).count == 10)
    }

    @Test func `A broker that refuses the topic of the tags is no trouble`() throws {
        let fixture = try ServiceFixture(in: directory)
        fixture.availability.send(.subscriptionRefused(topicFilter: Self.tags))
        fixture.settle()
        try fixture.bringKeys()
        #expect(fixture.transitions == ["enter Keys"])
    }

    @Test func `A reload with another room publishes the card again and keeps the tags`() throws {
        let fixture = try ServiceFixture("room: 'Hall', ", in: directory)
        send(Self.list, to: fixture)
        try fixture.reload("room: 'Kitchen', ")
        let rooms = try messages(fixture, Self.card).map { try JSONValue(parsing: $0.payload)["room"]?.string }
        #expect(rooms == ["Hall", "Kitchen"])
        try fixture.bringKeys()
        #expect(messages(fixture, Self.heard).count >= 9)
    }

    @Test func `A reload with another site subscribes to the tags of that site`() throws {
        let fixture = try ServiceFixture(in: directory)
        send(Self.list, to: fixture)
        try fixture.reload("rooms: {site: 'cabin'}, ")
        #expect(fixture.availability.filters == ["ibeacon-rooms/cabin/tags"])
        try fixture.bringKeys()
        #expect(messages(fixture, Self.heard).isEmpty)
        try fixture.reload("rooms: null, ")
        #expect(fixture.availability.filters.isEmpty)
    }

    // MARK: A site with a key

    private static let key = "rooms: {encryptionKey: 'correct horse'}, "
    private static let seal = SiteSeal(key: Secret("correct horse"))
    private static let emptyCard = Array(#"{"v":1}"#.utf8)

    private func sealedList(_ seal: SiteSeal = seal) -> String {
        String(decoding: seal.sealed(Array(Self.list.utf8), for: Self.tags), as: UTF8.self)
    }

    @Test func `With the site's key the list is decrypted, and card and readings are encrypted`() throws {
        let fixture = try ServiceFixture("room: 'Hall', \(Self.key)", in: directory)
        send(sealedList(), to: fixture)
        try fixture.bringKeys()
        let card = try #require(messages(fixture, Self.card).first)
        let opened = try Self.seal.opened(card.payload, of: #require(RoomTopic(Self.card)))
        #expect(try JSONValue(parsing: opened)["room"] == "Hall")
        let heard = messages(fixture, Self.heard)
        #expect(heard.count == 10)
        for message in heard {
            let opened = try Self.seal.opened(message.payload, of: #require(RoomTopic(Self.heard)))
            #expect(try JSONValue(parsing: opened)["beacons"]?.array?.count == 1)
        }
    }

    static let lists: [(members: String, list: String?, isCardSealed: Bool)] = [
        (key, nil, true), (key, "another key", true), ("", "correct horse", false),
    ]

    @Test(arguments: lists)
    func `A list that cannot be decrypted starts no feed, and an empty card tells the service, once`(
        _ row: (members: String, list: String?, isCardSealed: Bool)
    ) throws {
        let fixture = try ServiceFixture(row.members, in: directory)
        let list = row.list.map { sealedList(SiteSeal(key: Secret($0))) } ?? Self.list
        for _ in 1...3 { send(list, to: fixture) }
        try fixture.bringKeys()
        #expect(messages(fixture, Self.heard).isEmpty)
        let cards = messages(fixture, Self.card)
        #expect(cards.count == 1 && cards.allSatisfy(\.isRetained))
        let payload = try #require(cards.first).payload
        if row.isCardSealed {
            #expect(try Self.seal.opened(payload, of: #require(RoomTopic(Self.card))) == Self.emptyCard)
        } else {
            #expect(payload == Self.emptyCard)
        }
    }

    @Test func `A list without the key does not stop a feed`() throws {
        let fixture = try ServiceFixture(Self.key, in: directory)
        send(sealedList(), to: fixture)
        send(#"{"v":1,"tags":[]}"#, to: fixture)
        try fixture.bringKeys()
        #expect(messages(fixture, Self.heard).count == 10)
        #expect(messages(fixture, Self.card).count == 1)
    }

    @Test func `A key that comes with a reload connects again, so that the list arrives again`() throws {
        let fixture = try ServiceFixture(in: directory)
        send(Self.list, to: fixture)
        let before = fixture.availability.connections
        try fixture.reload(Self.key)
        #expect(fixture.availability.connections == before + 1)
        send(sealedList(), to: fixture)
        try fixture.bringKeys()
        #expect(messages(fixture, Self.heard).last.map { SiteSeal.isSealed($0.payload) } == true)
    }

    // MARK: Beacons that are no tags

    private static let request = "ibeacon-rooms/home/nearby"
    private static let nearby = "ibeacon-rooms/home/nearby/hall"
    private static let listOfOther = #"{"v":1,"tags":[{"uuid":"\#(ServiceFixture.uuid)","major":1,"minor":8}]}"#

    @Test func `Where there is a list of tags, requests for other beacons are listened for`() throws {
        let fixture = try ServiceFixture(in: directory)
        #expect(fixture.availability.filters == [Self.tags])
        send(Self.listOfOther, to: fixture)
        #expect(fixture.availability.filters == [Self.tags, Self.request])
        send("", to: fixture)
        #expect(fixture.availability.filters == [Self.tags])
    }

    @Test func `A request brings the other beacons, with the name of the region that they belong to`() throws {
        let fixture = try ServiceFixture(in: directory)
        send(Self.listOfOther, to: fixture)
        try fixture.bringKeys()
        #expect(messages(fixture, Self.nearby).isEmpty)
        send(#"{"v":1,"seconds":60}"#, to: fixture, topic: Self.request, isRetained: false)
        try fixture.bringKeys()
        let answers = messages(fixture, Self.nearby)
        #expect(answers.count == 10)
        #expect(answers.allSatisfy { !$0.isRetained && $0.qos == .atMostOnce && $0.kind == .transient })
        #expect(
            try answers.last.map { try FeedDecoder.nearby($0.payload) } == [
                NearbyReading(
                    beacon: BeaconID(uuid: #require(BeaconUUID(ServiceFixture.uuid)), major: 1, minor: 7), level: -60,
                    region: "Keys")
            ])
    }

    @Test(arguments: [
        (#"{"v":1,"seconds":60}"#, true), (#"{"v":1,"seconds":301}"#, false), (#"{"v":2,"seconds":60}"#, false),
        ("", false), ("x", false),
    ])
    func `A request that is retained or malformed is not answered`(_ payload: String, _ isRetained: Bool) throws {
        let fixture = try ServiceFixture(in: directory)
        send(Self.listOfOther, to: fixture)
        send(payload, to: fixture, topic: Self.request, isRetained: isRetained)
        try fixture.bringKeys()
        #expect(messages(fixture, Self.nearby).isEmpty)
    }

    @Test func `With the site's key request and answer are encrypted, and a plain request is not answered`() throws {
        let fixture = try ServiceFixture(Self.key, in: directory)
        send(
            String(decoding: Self.seal.sealed(Array(Self.listOfOther.utf8), for: Self.tags), as: UTF8.self), to: fixture
        )
        let request = #"{"v":1,"seconds":60}"#
        send(request, to: fixture, topic: Self.request, isRetained: false)
        try fixture.bringKeys()
        #expect(messages(fixture, Self.nearby).isEmpty)
        let sealed = Self.seal.sealed(Array(request.utf8), for: Self.request)
        send(String(decoding: sealed, as: UTF8.self), to: fixture, topic: Self.request, isRetained: false)
        try fixture.bringKeys()
        let answers = messages(fixture, Self.nearby)
        #expect(answers.count == 10)
        #expect(answers.allSatisfy { SiteSeal.isSealed($0.payload) })
    }
}
