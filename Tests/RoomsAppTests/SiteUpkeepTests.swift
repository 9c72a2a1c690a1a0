import Base
import JSON
import Messaging
import Rooms
import ServiceSupport
import Shell
import SiteCore
import SiteProtocol
import Storage
import TestSupport
import Testing

@testable import RoomsApp

/// What the broker retains about a site beyond the decisions, and what Home Assistant is told.
@Suite struct SiteUpkeepTests {
    private static let discovery = #", homeAssistant: {discovery: true}"#
    private static let root = "ibeacon-rooms/home/"
    private static let roomOfJane = "homeassistant/sensor/ibeacon-rooms-home/tag-jane_room/config"

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func active(_ more: String = "") throws -> RoomServiceFixture {
        let fixture = try RoomServiceFixture(in: directory, more)
        fixture.wait(.seconds(15))
        return fixture
    }

    @Test func `Gateways and their rooms are told once they count, and those that then fall silent after 25 s`() throws
    {
        let fixture = try active()
        #expect(fixture.published(Self.root + "room/hall").isEmpty)
        #expect(fixture.published(Self.root + "health/g1").isEmpty)
        fixture.stay(in: 0, seconds: 10)
        #expect(fixture.published(Self.root + "room/hall") == [#"{"count":0,"name":"Hall","tags":[]}"#])
        #expect(
            fixture.published(Self.root + "health/g1").last
                == #"{"listening":true,"problem":null,"room":"Hall","v":1}"#)
        fixture.wait(.seconds(31))
        #expect(
            fixture.published(Self.root + "health/g1").last
                == #"{"listening":false,"problem":"silent","room":"Hall","v":1}"#)
    }

    @Test func `A gateway that counted and says nothing after a start is told to have no readings`() throws {
        let before = try active()
        before.stay(in: 0, seconds: 10)
        before.service.app.stop()
        let fixture = try active()
        #expect(
            fixture.published(Self.root + "health/g1").last
                == #"{"listening":false,"problem":null,"room":"Hall","v":1}"#)
        fixture.wait(.seconds(20))
        #expect(
            fixture.published(Self.root + "health/g1").last
                == #"{"listening":false,"problem":"noReadings","room":"Hall","v":1}"#)
    }

    @Test func `A room that is written in another way has its new name in the states of its tags, too`() throws {
        let fixture = try active()
        fixture.stay(in: 0, seconds: 20)
        #expect(fixture.reportedRooms.last == "Kitchen")
        let before = fixture.reportedRooms.count
        fixture.receive(Self.root + "gateway/g0", #"{"v":1,"room":"KITCHEN"}"#, isRetained: true)
        fixture.stay(in: 0, seconds: 10)
        #expect(fixture.reportedRooms.suffix(from: before) == ["KITCHEN"])
        #expect(fixture.published(Self.root + "room/kitchen").last?.contains("KITCHEN") == true)
    }

    @Test func `A name that two gateways share is told with the gateway's health`() throws {
        let fixture = try active()
        fixture.stay(in: 0, seconds: 3)
        for second in 0..<12 {
            fixture.receive(
                Self.root + "heard/g1",
                #"{"v":1,"boot":"\#(second % 2)","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":4,"beacons":[]}"#
            )
            fixture.wait(.seconds(1))
        }
        #expect(fixture.published(Self.root + "health/g1").last?.contains(#""problem":"sharedName""#) == true)
    }

    @Test func `Without discovery Home Assistant is told nothing`() throws {
        let fixture = try active()
        #expect(!fixture.broker.messages.contains { $0.topic.hasPrefix("homeassistant/") })
    }

    @Test func `What the broker has already is not described again`() throws {
        let before = try active(Self.discovery)
        let description = try #require(before.published(Self.roomOfJane).last)
        before.service.app.stop()
        let after = try RoomServiceFixture(in: directory, Self.discovery)
        after.receive(Self.roomOfJane, description, isRetained: true)
        after.wait(.seconds(15))
        #expect(after.published(Self.roomOfJane).isEmpty)
        #expect(after.published(Self.roomOfJane.replacing("_room", with: "_confidence")).count == 1)
    }

    @Test func `Home Assistant is told of a tag when the tag is on the disk, and not before`() throws {
        let fixture = try active(Self.discovery)
        let keys = Self.roomOfJane.replacing("jane", with: "keys")
        fixture.send("owntracks/jane/rooms-home/cmd", RoomServiceFixture.command(adding: "Keys", minor: 9))
        #expect(fixture.published(keys).isEmpty)
        fixture.settle()
        #expect(fixture.published(keys).count == 1)
    }

    @Test func `What an earlier run left of a tag that is no more is emptied`() throws {
        let fixture = try RoomServiceFixture(in: directory, Self.discovery)
        let left = [Self.root + "tag/bob", Self.roomOfJane.replacing("jane", with: "bob"), Self.root + "room/cellar"]
        for topic in left { fixture.receive(topic, "{}", isRetained: true) }
        fixture.wait(.seconds(15))
        for topic in left { #expect(fixture.published(topic) == [""], "\(topic)") }
    }

    @Test(arguments: [0, 3])
    func `When junk of the broker was dropped on the way, a new connection brings the rest`(dropped: Int) throws {
        let fixture = try RoomServiceFixture(in: directory)
        for number in 0..<200 { fixture.send(Self.root + "tag/junk\(number)", "{}", isRetained: true) }
        fixture.broker.droppedMessages = dropped
        fixture.wait(.seconds(15))
        #expect(fixture.published(Self.root + "tag/junk199") == [""])
        #expect(fixture.broker.connections == (dropped == 0 ? 1 : 2))
    }

    @Test func `A card that is missing because of invented cards is read over a new connection`() throws {
        // Lower than that of a site, because it is only to be full.
        var bounds = RoomEngine.Bounds()
        bounds.gateways = 100
        let fixture = try RoomServiceFixture(in: directory, bounds: bounds)
        for number in 0...fixture.service.site.whereabouts.gateways.most {
            fixture.receive(Self.root + "gateway/junk\(number)", #"{"v":1,"room":"Junk"}"#, isRetained: true)
        }
        for second in 1...4 {
            fixture.wait(.seconds(1))
            fixture.receive(
                Self.root + "heard/new",
                #"{"v":1,"boot":"n","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":4,"beacons":[]}"#
            )
        }
        #expect(fixture.broker.connections == 2)
    }

    @Test func `However much is dropped, a new connection is made for it once a minute at most`() throws {
        let fixture = try RoomServiceFixture(in: directory)
        func junk(dropped: Int) {
            for number in 0..<200 { fixture.send(Self.root + "tag/junk\(number)", "{}", isRetained: true) }
            fixture.broker.droppedMessages = dropped
            fixture.wait(.seconds(15))
        }
        junk(dropped: 3)
        #expect(fixture.broker.connections == 2)
        junk(dropped: 6)
        #expect(fixture.broker.connections == 2)
        fixture.wait(.seconds(60))
        #expect(fixture.broker.connections == 3)
    }

    @Test(arguments: [(Self.discovery, "homeassistant"), (#", homeAssistant: {discovery: true, prefix: "ha"}"#, "ha")])
    func `A birth of Home Assistant brings everything again, a retained one does not`(
        discovery: String, prefix: String
    ) throws {
        let fixture = try active(discovery)
        let topic = Self.roomOfJane.replacing("homeassistant", with: prefix)
        for birth in ["homeassistant/status", prefix + "/status"] {
            #expect(fixture.broker.filters.contains(birth))
            // Everything is announced at most once in 30 s.
            fixture.wait(.seconds(31))
            let before = fixture.published(topic).count
            fixture.receive(birth, "online", isRetained: true)
            #expect(fixture.published(topic).count == before)
            fixture.receive(birth, "online")
            #expect(fixture.published(topic).count == before + 1)
        }
    }

    @Test func `A standby describes nothing`() throws {
        let fixture = try RoomServiceFixture(in: directory, instance: "b", Self.discovery)
        for counter in 1...10 {
            fixture.receive(Self.root + "service/a", #"{"v":1,"active":true,"counter":\#(counter)}"#)
            fixture.wait(.seconds(2))
        }
        #expect(!fixture.broker.messages.contains { $0.topic.hasPrefix("homeassistant/") })
    }

    @Test func `A gateway whose card is emptied is gone, also after the next start`() throws {
        let fixture = try active(Self.discovery)
        fixture.stay(in: 0, seconds: 10)
        fixture.receive(Self.root + "gateway/g1", "")
        #expect(fixture.published(Self.root + "health/g1").last == "")
        #expect(fixture.published(Self.root + "room/hall").last == "")
        let listening = "homeassistant/binary_sensor/ibeacon-rooms-home/gateway-g1_listening/config"
        #expect(fixture.published(listening).last == "")
    }

    @Test func `A room that was forgotten goes when the tag has left it, and stays forgotten after a start`() throws {
        let fixture = try active()
        let attic = Self.root + "room/attic"
        fixture.receive(Self.root + "learn", #"{"room":"Attic","tag":"Jane","seconds":20}"#)
        fixture.stay(in: 0, seconds: 25)
        #expect(fixture.published(attic).last == #"{"count":1,"name":"Attic","tags":["Jane"]}"#)
        fixture.receive(Self.root + "learn", #"{"room":"attic","forget":true}"#)
        fixture.stay(in: 0, seconds: 60)
        #expect(fixture.published(attic).last == "")
        fixture.service.app.stop()
        let next = try RoomServiceFixture(in: directory)
        #expect(next.service.site.engine.knownRooms.map(\.id) == ["bath", "hall", "kitchen"])
    }

    @Test func `However often a room is forgotten, what was learned is written once in five seconds`() throws {
        let fixture = try active()
        func commits() -> UInt64 { fixture.store.counters?.commits ?? 0 }
        let before = commits()
        for _ in 1...50 { fixture.receive(Self.root + "learn", #"{"room":"kitchen","forget":true}"#) }
        #expect(commits() - before == 1)
        fixture.wait(.seconds(6))
        #expect(commits() - before == 2)
    }

    @Test func `What was learned is deleted on the disk in the same turn in which a person says so`() throws {
        let fixture = try active()
        fixture.receive(Self.root + "learn", #"{"room":"Attic","tag":"Jane","seconds":20}"#)
        fixture.stay(in: 0, seconds: 25)
        fixture.service.app.stop()
        let second = try active()
        second.receive(Self.root + "learn", #"{"room":"attic","forget":true}"#)
        let learned = try #require(try StoreReader(directory: directory.path).value(of: "rooms.learned"))
        let site = try LearnedSite(try JSONValue(parsing: learned))
        #expect(site.rooms.allSatisfy { $0.labelled.isEmpty })
    }
}
