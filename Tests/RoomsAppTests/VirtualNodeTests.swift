import Base
import Beacon
import JSON
import Messaging
import PageServer
import Rooms
import ServiceSupport
import Shell
import SiteCore
import SiteProtocol
import TestSupport
import Testing

@testable import RoomsApp

/// The decisions in ESPresense's form, for programs that read its nodes.
@Suite struct VirtualNodeTests {
    private static let id = "iBeacon:\(RoomServiceFixture.uuid.lowercased())-1-7"
    private static let device = "espresense/devices/\(id)/"

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func active(
        _ rooms: String = ", publishAsEspresense: true", key: String? = nil
    ) throws -> RoomServiceFixture {
        let fixture = try RoomServiceFixture(in: directory, key: key, rooms: rooms)
        fixture.wait(.seconds(15))
        return fixture
    }

    private func nodes(_ fixture: RoomServiceFixture) -> [Publication] {
        fixture.broker.messages.filter { $0.topic.hasPrefix("espresense/") }
    }

    /// The nodes as words, such as `Kitchen 0.5`.
    private func words(_ messages: some Sequence<Publication>) throws -> [String] {
        try messages.map {
            let distance = try #require(try JSONValue(parsing: $0.payload)["distance"]?.asNumber)
            return "\($0.topic.split(separator: "/").last ?? "") \(distance)"
        }
    }

    /// Home Assistant's `mqtt_room`, by what its source of 2026 and of 2024.3 says (homeassistant/components/mqtt_room/sensor.py): a
    /// payload is an object with a text `id` and a number `distance`; whatever else it has is not looked at. Its topic is the
    /// configured one and one level more, the room. A message of the shown room is taken, one of a nearer room, and any when the
    /// last one taken is `timeout` old.
    private struct MQTTRoom {
        var room = "not_home"
        private var distance: Double?
        private var updated = MonotonicInstant.zero
        let timeout: Duration

        init(timeout: Duration) { self.timeout = timeout }

        mutating func receive(_ message: Publication, at now: MonotonicInstant) throws {
            let levels = message.topic.split(separator: "/").map(String.init)
            guard levels.count == 4, levels[0...2].joined(separator: "/") + "/" == VirtualNodeTests.device else {
                return
            }
            let json = try JSONValue(parsing: message.payload)
            #expect(json["id"]?.string == VirtualNodeTests.id)
            let new = try #require(json["distance"]?.asNumber)
            if let distance, levels[3] != room, new >= distance, updated.duration(to: now) < timeout { return }
            (room, distance, updated) = (levels[3], new, now)
        }
    }

    /// ESPresense-companion's reading of a device's message, by its source of 2026 (src/Models/DeviceMessage.cs and
    /// DeviceToNode.cs): the topic is `espresense/devices/DEVICE/NODE`; `distance`, `rssi` and `rssi@1m` are numbers, `name` is a
    /// text. A node counts until the device's timeout, 30 s, and its locator of the nearest node shows the room of the least distance.
    private struct Companion {
        private var nodes: [String: (distance: Double, hit: MonotonicInstant)] = [:]
        private(set) var name = ""

        mutating func receive(_ message: Publication, at now: MonotonicInstant) throws {
            let json = try JSONValue(parsing: message.payload)
            let distance = try #require(json["distance"]?.asNumber)
            let (level, reference) = (try #require(json["rssi"]?.asNumber), try #require(json["rssi@1m"]?.asNumber))
            // The farther, the weaker, also for a program that makes the distance of the level.
            #expect((level > reference) == (distance < 1))
            name = json["name"]?.string ?? name
            nodes[String(message.topic.split(separator: "/")[3])] = (distance, now)
        }

        func nearest(at now: MonotonicInstant) -> String? {
            nodes.filter { $0.value.hit.duration(to: now) < .seconds(30) }.min {
                $0.value.distance < $1.value.distance
            }?.key
        }
    }

    @Test func `Without the setting nothing is published in this form`() throws {
        let fixture = try active("")
        fixture.stay(in: 0, seconds: 20)
        #expect(nodes(fixture).isEmpty)
    }

    @Test func `A tag in a room is near its node, every five seconds and without being retained`() throws {
        let fixture = try active()
        fixture.stay(in: 0, seconds: 30)
        let messages = nodes(fixture)
        #expect(try Set(words(messages)) == ["Kitchen 0.5"])
        #expect((4...8).contains(messages.count), "\(messages.count)")
        #expect(messages.allSatisfy { !$0.isRetained && $0.qos == .atMostOnce && $0.kind == .transient })
        let payload = try JSONValue(parsing: try #require(messages.first).payload)
        let expected: JSONValue = [
            "id": .string(Self.id), "name": "Jane", "rssi@1m": -59, "rssi": -51, "distance": .number(0.5),
            "virtual": true,
        ]
        #expect(payload == expected)
    }

    @Test func `A tag that goes to another room is far from the old one, and then near the new one`() throws {
        let fixture = try active()
        fixture.stay(in: 0, seconds: 20)
        let count = nodes(fixture).count
        fixture.stay(in: 1, seconds: 20)
        let words = try words(nodes(fixture).dropFirst(count)).drop { $0 == "Kitchen 0.5" }
        #expect(words.first == "Kitchen 100.0")
        #expect(Set(words.dropFirst()) == ["Hall 0.5"], "\(words)")
    }

    @Test func `A tag that goes away is far from its room once, and then there is silence`() throws {
        let fixture = try active()
        fixture.stay(in: 0, seconds: 20)
        fixture.hearNothing(seconds: 200)
        let count = nodes(fixture).count
        #expect(try words(nodes(fixture)).last == "Kitchen 100.0")
        fixture.hearNothing(seconds: 30)
        #expect(nodes(fixture).count == count)
    }

    @Test func `mqtt_room and ESPresense-companion show the decided room, in the second of the decision`() throws {
        let fixture = try active()
        var (sensor, companion, count) = (MQTTRoom(timeout: .seconds(5)), Companion(), 0)
        for room in [0, 1, 2, 0, 2] {
            for _ in 0..<25 {
                fixture.stay(in: room, seconds: 1)
                let messages = nodes(fixture)
                for message in messages.dropFirst(count) {
                    try sensor.receive(message, at: fixture.host.now)
                    try companion.receive(message, at: fixture.host.now)
                }
                count = messages.count
                guard let decided = fixture.service.site.roster.states[0].room?.name else { continue }
                #expect(sensor.room == decided)
                #expect(companion.nearest(at: fixture.host.now) == decided)
            }
            #expect(sensor.room == RoomServiceFixture.rooms[room])
        }
        #expect(companion.name == "Jane")
    }

    @Test func `A standby publishes none, and begins when it takes over`() throws {
        let fixture = try RoomServiceFixture(in: directory, instance: "b", rooms: ", publishAsEspresense: true")
        for counter in 1...10 {
            fixture.receive("ibeacon-rooms/home/service/a", #"{"v":1,"active":true,"counter":\#(counter)}"#)
            fixture.stay(in: 0, seconds: 2)
        }
        #expect(nodes(fixture).isEmpty)
        fixture.stay(in: 0, seconds: 20)
        #expect(fixture.service.site.role == .active)
        #expect(try words(nodes(fixture)).last == "Kitchen 0.5")
    }

    @Test func `After a connection was lost it goes on`() throws {
        let fixture = try active()
        fixture.stay(in: 0, seconds: 20)
        fixture.broker.lose()
        fixture.settle()
        fixture.broker.restore()
        let count = nodes(fixture).count
        fixture.stay(in: 0, seconds: 20)
        #expect(nodes(fixture).count > count)
    }

    // MARK: Its own nodes, and those of others

    /// Fifteen seconds of a node in a room of which no gateway sends readings.
    private func hear(_ payload: String, from node: String, _ fixture: RoomServiceFixture) {
        for _ in 0..<15 {
            fixture.receive(Self.device + node, payload)
            fixture.wait(.seconds(1))
        }
    }

    @Test func `A service takes no virtual node for a receiver, neither its own nor that of another service`() throws {
        let fixture = try active("")
        let node = VirtualNode(
            try #require(BeaconID("\(RoomServiceFixture.uuid):1:7")), tag: "Jane", room: "Attic", isNear: true)
        hear(String(decoding: node.payload, as: UTF8.self), from: "Attic", fixture)
        #expect(!fixture.service.site.engine.plan.gatewayReports.contains { $0.name == "Attic" })
        #expect(fixture.reportedRooms.isEmpty)
        hear(#"{"id":"\#(Self.id)","rssi@1m":-59,"rssi":-51,"distance":0.5}"#, from: "Attic", fixture)
        #expect(fixture.service.site.engine.plan.gatewayReports.contains { $0.name == "Attic" }, "a node is one")
    }

    @Test(arguments: [true, false])
    func `A gateway that publishes what it hears in the same form is an error that the page names`(isOn: Bool) throws {
        let fixture = try active(isOn ? ", publishAsEspresense: true" : "")
        fixture.stay(in: 0, seconds: 5)
        hear(#"{"id":"\#(Self.id)","rssi@1m":-59,"rssi":-51,"distance":0.4}"#, from: "Kitchen", fixture)
        let page = try #require(fixture.status.page)
        func finding() -> JSONValue? {
            page.pageState()["findings"]?.array?.first { $0["text"]?.string?.contains("publishAsEspresense") == true }
        }
        guard isOn else {
            #expect(finding() == nil)
            return
        }
        #expect(finding()?["level"] == "error" && finding()?["text"]?.string?.contains("'Kitchen'") == true)
        fixture.wait(.seconds(61))
        #expect(finding() == nil, "it has stopped")
    }

    @Test func `A node in a room of its own, as an ESP32 is, is no error`() throws {
        let fixture = try active()
        fixture.stay(in: 0, seconds: 5)
        hear(#"{"id":"\#(Self.id)","rssi@1m":-59,"rssi":-71,"distance":2.8}"#, from: "attic", fixture)
        let page = try #require(fixture.status.page)
        let texts = (page.pageState()["findings"]?.array ?? []).compactMap { $0["text"]?.string }
        #expect(!texts.contains { $0.contains("publishAsEspresense") })
    }

    @Test func `A gateway in a room with a space in its name is no second receiver where it publishes as a node`()
        throws
    {
        let fixture = try active("")
        fixture.receive("ibeacon-rooms/home/gateway/g0", #"{"v":1,"room":"Living room"}"#, isRetained: true)
        fixture.stay(in: 0, seconds: 5)
        hear(#"{"id":"\#(Self.id)","rssi@1m":-59,"rssi":-51,"distance":0.4}"#, from: "Living_20room", fixture)
        #expect(!fixture.service.site.engine.plan.gatewayReports.contains { $0.name == "Living_20room" })
    }

    @Test func `Beside a key with plainState the nodes are not encrypted`() throws {
        let fixture = try active(", publishAsEspresense: true, plainState: true", key: "secret")
        fixture.stay(in: 0, seconds: 20)
        #expect(try words(nodes(fixture)).last == "Kitchen 0.5")
    }
}
