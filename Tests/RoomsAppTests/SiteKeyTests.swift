import Base
import Configuration
import JSON
import Messaging
import OwnTracks
import PageServer
import Rooms
import ServiceSupport
import Shell
import SiteCore
import SiteProtocol
import TestSupport
import Testing

@testable import RoomsApp

/// A site with a key: all that is published of it is encrypted, and what is not is refused and named.
@Suite struct SiteKeyTests {
    private static let key = "correct horse battery staple"
    private static let root = "ibeacon-rooms/home/"
    private static let heard = #"{"v":1,"boot":"b","seq":1,"at":1000,"listening":1000,"reports":4,"beacons":[]}"#

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func active(key: String? = key, rooms: String = "", _ more: String = "") throws -> RoomServiceFixture {
        let fixture = try RoomServiceFixture(in: directory, key: key, rooms: rooms, more)
        fixture.wait(.seconds(15))
        return fixture
    }

    private func sealed(_ payload: String, key: String, for topic: String) -> String {
        String(
            decoding: SiteSeal(key: Secret(key)).sealed(Array(payload.utf8), for: Self.root + topic), as: UTF8.self)
    }

    private func health(_ fixture: RoomServiceFixture, of gateway: String) throws -> JSONValue? {
        try fixture.opened(Self.root + "health/\(gateway)").last.map { try JSONValue(parsing: Array($0.utf8)) }
    }

    @Test func `Encrypted readings lead to encrypted states, and nothing below the site is plain`() throws {
        let fixture = try active()
        fixture.stay(in: 0, seconds: 20)
        let topics = Set(fixture.broker.messages.map(\.topic).filter { $0.hasPrefix(Self.root) })
        for name in ["tags", "tag/jane", "room/kitchen", "health/g0", "service/a"] {
            #expect(topics.contains(Self.root + name))
        }
        for topic in topics {
            #expect(fixture.published(topic).allSatisfy { $0.hasPrefix(#"{"_type":"encrypted","data":""#) }, "\(topic)")
            #expect(try fixture.opened(topic).allSatisfy { $0.hasPrefix("{") && !$0.contains("encrypted") }, "\(topic)")
        }
        #expect(try fixture.opened(Self.root + "tag/jane").last?.contains(#""room":"kitchen""#) == true)
        #expect(try fixture.opened(Self.root + "tags").last?.contains(#""minor":7"#) == true)
    }

    @Test func `The will, which tells a standby to take over, is encrypted`() throws {
        let fixture = try active()
        let will = try #require(fixture.broker.settings?.will)
        let topic = try #require(RoomTopic(will.topic))
        let card = try SiteSeal(key: Secret(Self.key)).opened(will.payload, of: topic)
        #expect(ServiceCard(card)?.isActive == false)
        #expect(ServiceCard(will.payload) == nil)
    }

    @Test func `A tag that is removed is deleted by an empty message`() throws {
        let fixture = try active()
        let command = "owntracks/jane/rooms-home/cmd"
        let seal = SiteSeal(key: Secret(Self.key))
        func send(_ text: String) {
            // Any topic of the site is encrypted alike.
            let payload = seal.sealed(Array(text.utf8), for: Self.root + "learn")
            fixture.receive(command, String(decoding: payload, as: UTF8.self))
        }
        send(RoomServiceFixture.command(adding: "Keys", minor: 9))
        #expect(fixture.service.site.tags.count == 2)
        send(#"{"_type":"cmd","action":"clearWaypoints"}"#)
        // That of the configuration file stays.
        #expect(fixture.service.site.tags.map(\.id) == ["jane"])
        #expect(fixture.published(Self.root + "tag/keys").last == "")
    }

    @Test func `An encrypted command that is repeated is refused, also after a restart`() throws {
        let command = "owntracks/jane/rooms-home/cmd"
        let clear = sealed(#"{"_type":"cmd","action":"clearWaypoints"}"#, key: Self.key, for: "learn")
        func tagsAfterRepeat(_ fixture: RoomServiceFixture) -> Int {
            let add = sealed(RoomServiceFixture.command(adding: "Bag", minor: 8), key: Self.key, for: "learn")
            fixture.receive(command, add)
            fixture.receive(command, clear)
            return fixture.service.site.tags.count
        }
        let first = try active()
        #expect(tagsAfterRepeat(first) == 1, "the one of the configuration file")
        #expect(tagsAfterRepeat(first) == 2)
        #expect(first.service.site.commandCounts[.repeated] == 1)
        first.service.app.stop()
        first.settle()
        #expect(tagsAfterRepeat(try active()) == 2)
    }

    @Test func `A plain command is refused`() throws {
        let fixture = try active()
        fixture.receive("owntracks/jane/rooms-home/cmd", RoomServiceFixture.command(adding: "Keys", minor: 9))
        #expect(fixture.service.site.tags.count == 1)
    }

    static let strangers: [(key: String?, sent: String?)] = [(key, nil), (key, "another key"), (nil, "another key")]

    @Test(arguments: strangers)
    func `A gateway whose messages cannot be decrypted is refused and named, until they can`(
        _ keys: (key: String?, sent: String?)
    ) throws {
        let fixture = try active(key: keys.key)
        let send = { (topic: String, payload: String) in
            let text = keys.sent.map { sealed(payload, key: $0, for: topic) } ?? payload
            fixture.receive(Self.root + topic, text)
        }
        send("gateway/attic", #"{"v":1,"room":"Attic"}"#)
        send("heard/attic", Self.heard)
        fixture.wait(.seconds(6))
        #expect(fixture.service.door.refused == 2)
        #expect(!fixture.service.site.engine.knownRooms.contains { $0.id == "attic" })
        // It was never believed.
        #expect(fixture.published(Self.root + "health/attic").isEmpty)
        let page = SitePage(fixture.service).pageState()
        let findings = page["findings"]?.array?.compactMap { $0["text"]?.string } ?? []
        #expect(findings.contains("sends what cannot be decrypted: attic"), "\(findings)")
        let metrics = SitePage(fixture.service).pageMetrics(ClientCounters())
        #expect(metrics.contains(#"ibeacon_rooms_messages_refused_total{reason="sealed"} 2"#))
        fixture.receive(sealed: Self.root + "gateway/attic", #"{"v":1,"room":"Attic"}"#)
        for second in 1...6 {
            fixture.receive(
                sealed: Self.root + "heard/attic",
                #"{"v":1,"boot":"b","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":4,"beacons":[]}"#
            )
            fixture.wait(.seconds(1))
        }
        #expect(try health(fixture, of: "attic")?["problem"] == .null)
        #expect(try health(fixture, of: "attic")?["room"] == "Attic")
    }

    @Test func `A gateway that cannot be understood any more is gone when its card is removed`() throws {
        let fixture = try active()
        fixture.stay(in: 0, seconds: 10)
        fixture.wait(.seconds(26))
        fixture.receive(Self.root + "gateway/g0", #"{"v":1}"#, isRetained: true)
        fixture.wait(.seconds(6))
        #expect(try health(fixture, of: "g0")?["problem"] == "wrongKey")
        fixture.receive(Self.root + "gateway/g0", "")
        fixture.wait(.seconds(6))
        #expect(fixture.published(Self.root + "health/g0").last == "")
    }

    @Test func `However many messages nobody can decrypt, the gateways that sent the last of them are named`() throws {
        let fixture = try active()
        for number in 0..<RoomEngine.mostGateways + 50 {
            fixture.receive(Self.root + "heard/ghost\(number)", Self.heard)
        }
        fixture.receive(Self.root + "heard/attic", Self.heard)
        #expect(fixture.service.site.whereabouts.gateways.strangers.count == RoomEngine.mostGateways)
        #expect(fixture.service.site.whereabouts.gateways.strangers.contains("attic"))
        fixture.wait(.seconds(30))
        #expect(!fixture.broker.messages.contains { $0.topic.contains("ghost") || $0.topic.contains("attic") })
    }

    @Test func `Another client that publishes in the name of a gateway does not make it a stranger`() throws {
        let fixture = try active()
        fixture.stay(in: 0, seconds: 10)
        fixture.receive(Self.root + "heard/g0", Self.heard)
        #expect(fixture.service.door.refused == 1)
        #expect(fixture.service.door.unreadable.isEmpty)
        fixture.stay(in: 0, seconds: 10)
        #expect(try health(fixture, of: "g0")?["problem"] == .null)
    }

    @Test func `A gateway that lost the key is named when nothing else of it arrives`() throws {
        let fixture = try active()
        fixture.stay(in: 0, seconds: 10)
        fixture.wait(.seconds(26))
        fixture.receive(Self.root + "heard/g0", Self.heard)
        fixture.wait(.seconds(6))
        #expect(try health(fixture, of: "g0")?["problem"] == "wrongKey")
        #expect(try health(fixture, of: "g0")?["room"] == "Kitchen")
    }

    @Test func `States that the broker retains from a time without the key are replaced or deleted`() throws {
        let fixture = try RoomServiceFixture(in: directory, isRunning: false, key: Self.key)
        fixture.settle()
        for (topic, payload) in [
            ("tag/jane", #"{"name":"Jane","room":null,"home":false}"#), ("tag/bob", #"{"name":"Bob","home":true}"#),
            ("room/hall", #"{"name":"Hall","count":1}"#), ("health/g9", #"{"v":1}"#),
        ] { fixture.receive(Self.root + topic, payload, isRetained: true) }
        fixture.wait(.seconds(15))
        for topic in ["tag/jane", "tag/bob", "room/hall", "health/g9"] {
            #expect(fixture.published(Self.root + topic).first == "", "\(topic)")
        }
    }

    @Test func `Lists of tags that cannot be decrypted are answered every five seconds at most`() throws {
        let fixture = try active()
        let before = fixture.published(Self.root + "tags").count
        for _ in 0..<40 {
            fixture.receive(Self.root + "tags", #"{"v":1,"tags":[]}"#)
            fixture.wait(.milliseconds(250))
        }
        #expect((2...3).contains(fixture.published(Self.root + "tags").count - before))
        #expect(fixture.service.site.tags.count == 1)
    }

    @Test func `The standby understands the active service, and is not woken by a card without the key`() throws {
        let fixture = try RoomServiceFixture(in: directory, instance: "b", key: Self.key)
        for counter in 1...10 {
            fixture.receive(
                sealed: Self.root + "service/a", #"{"v":1,"active":true,"counter":\#(counter)}"#)
            fixture.wait(.seconds(2))
        }
        #expect(fixture.service.site.role == .standby)
        for counter in 11...20 {
            fixture.receive(Self.root + "service/a", #"{"v":1,"active":true,"counter":\#(counter)}"#)
            fixture.wait(.seconds(2))
        }
        #expect(fixture.service.site.role == .active)
    }

    @Test func `ESPresense nodes, which cannot encrypt, are not heard`() throws {
        #expect(try !active().broker.filters.contains { $0.hasPrefix("espresense/") })
        #expect(try active(rooms: ", plainState: true").broker.filters.contains { $0.hasPrefix("espresense/") })
        #expect(try active(key: nil).broker.filters.contains { $0.hasPrefix("espresense/") })
    }

    @Test func `A message of an ESPresense node that arrives nevertheless is refused`() throws {
        let fixture = try active()
        let topic = "espresense/devices/iBeacon:\(RoomServiceFixture.uuid.lowercased())-1-7/attic"
        for _ in 0..<20 {
            fixture.receive(topic, #"{"id":"x","rssi":-40}"#)
            fixture.wait(.seconds(1))
        }
        #expect(fixture.service.door.refused == 20)
        #expect(fixture.reportedRooms.filter { $0 != "none" }.isEmpty)
    }

    @Test func `With plainState Home Assistant can read the states, and the list of tags is encrypted`() throws {
        let fixture = try active(rooms: ", plainState: true", #", homeAssistant: {discovery: true}"#)
        fixture.stay(in: 0, seconds: 20)
        #expect(fixture.reportedRooms.last == "Kitchen")
        #expect(fixture.published(Self.root + "room/kitchen").last?.contains(#""count":1"#) == true)
        #expect(fixture.published(Self.root + "health/g0").last?.contains(#""listening":true"#) == true)
        #expect(fixture.published(Self.root + "service/a").last?.contains(#""active":true"#) == true)
        #expect(fixture.published(Self.root + "tags").allSatisfy { $0.contains("encrypted") })
        // The version is on the gateway's card, which Home Assistant cannot read.
        let described = fixture.broker.messages.map(\.topic).filter { $0.hasPrefix("homeassistant/") }
        #expect(described.contains { $0.contains("gateway-g0_listening") })
        #expect(!described.contains { $0.contains("_version") })
    }

    @Test func `Encrypted states of a time without plainState are published plain`() throws {
        let before = try active()
        before.stay(in: 0, seconds: 20)
        let states = ["tag/jane", "room/kitchen", "health/g0"]
        let retained = states.map { (topic: Self.root + $0, payload: before.published(Self.root + $0).last ?? "") }
        #expect(retained.allSatisfy { $0.payload.contains("encrypted") })
        before.service.app.stop()
        let fixture = try RoomServiceFixture(
            in: directory, isRunning: false, key: Self.key, rooms: ", plainState: true")
        fixture.settle()
        for (topic, payload) in retained { fixture.receive(topic, payload, isRetained: true) }
        fixture.receive(sealed: Self.root + "gateway/g0", #"{"v":1,"room":"Kitchen"}"#, isRetained: true)
        fixture.receive(sealed: Self.root + "service/a", #"{"v":1,"active":false,"counter":0}"#)
        fixture.wait(.seconds(15))
        for (topic, member) in zip(retained.map(\.topic), ["home", "count", "listening"]) {
            #expect(fixture.published(topic).last?.contains("\"\(member)\":") == true, "\(topic)")
        }
    }
}
