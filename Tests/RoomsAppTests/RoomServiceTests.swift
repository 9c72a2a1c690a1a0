import Base
import JSON
import PageServer
import Regions
import ServiceSupport
import Shell
import SiteCore
import SiteProtocol
import Storage
import TestSupport
import Testing

@testable import RoomsApp

/// The wiring of the rooms service: engine, store, broker, and the election of the active service.
@Suite struct RoomServiceTests {
    private static let command = "owntracks/jane/rooms-home/cmd"
    private static let tags = "ibeacon-rooms/home/tags"

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test func `Alone at its site it becomes the active service, and tells gateways the tags`() throws {
        let fixture = try RoomServiceFixture(in: directory)
        fixture.wait(.seconds(15))
        #expect(fixture.service.site.role == .active)
        #expect(fixture.published(Self.tags).last?.contains(#""minor":7"#) == true)
    }

    @Test func `A tag that changes its room is reported in the rooms of its path`() throws {
        let fixture = try RoomServiceFixture(in: directory)
        fixture.wait(.seconds(15))
        fixture.stay(in: 0, seconds: 20)
        fixture.stay(in: 1, seconds: 20)
        #expect(fixture.reportedRooms.filter { $0 != "none" } == ["Kitchen", "Hall"])
    }

    @Test func `Gateways hear of a new tag when it is on the disk, and not before`() throws {
        let fixture = try RoomServiceFixture(in: directory)
        fixture.wait(.seconds(15))
        fixture.send(Self.command, RoomServiceFixture.command(adding: "Keys", minor: 9))
        #expect(fixture.service.site.tags.count == 2)
        #expect(!fixture.published(Self.tags).contains { $0.contains(#""minor":9"#) })
        fixture.settle()
        #expect(fixture.published(Self.tags).last?.contains(#""minor":9"#) == true)
    }

    @Test func `While the machine was suspended no message could arrive, so no tag goes away`() throws {
        let fixture = try RoomServiceFixture(in: directory)
        fixture.wait(.seconds(15))
        fixture.stay(in: 0, seconds: 20)
        fixture.host.suspended = .seconds(3600)
        fixture.host.now = fixture.host.now.advanced(by: .seconds(3600))
        fixture.settle()
        fixture.stay(in: 0, seconds: 5)
        #expect(fixture.reportedRooms.last == "Kitchen")
        #expect(!fixture.reportedRooms.dropFirst().contains("none"))
    }

    /// Seconds until a tag is away that its ESPresense node no longer reports. The machine is suspended first.
    private func departure(after suspended: Duration) throws -> Int? {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let fixture = try RoomServiceFixture(in: directory)
        func hear(_ topic: String) {
            fixture.receive(topic, #"{"rssi":-60}"#)
            fixture.wait(.seconds(5))
        }
        for _ in 0..<12 { hear("espresense/devices/iBeacon:\(RoomServiceFixture.uuid.lowercased())-1-7/attic") }
        #expect(fixture.reportedRooms.last == "attic")
        fixture.host.suspended = suspended
        fixture.host.now = fixture.host.now.advanced(by: suspended)
        fixture.settle()
        return (1...18).map { $0 * 5 }.first { _ in
            hear("espresense/rooms/attic/telemetry")
            return fixture.reportedRooms.last == "none"
        }
    }

    @Test(arguments: [20, 3600])
    func `While the machine was suspended an ESPresense node was not silent about a tag`(seconds: Int) throws {
        let usual = try #require(try departure(after: .zero))
        #expect(try #require(try departure(after: .seconds(seconds))) >= usual)
    }

    @Test func `A tag that ESPresense's settings give another id is heard under it; other ids are counted and named`()
        throws
    {
        let fixture = try RoomServiceFixture(in: directory)
        #expect(fixture.broker.filters.contains("espresense/settings/+/config"))
        fixture.receive(
            "espresense/settings/iBeacon:\(RoomServiceFixture.uuid.lowercased())-1-7/config", #"{"id":"keys:jane"}"#,
            isRetained: true)
        for _ in 0..<12 {
            for id in ["keys:jane", "phone:joe"] {
                fixture.receive("espresense/devices/\(id)/attic", #"{"rssi":-60}"#)
            }
            fixture.wait(.seconds(5))
        }
        #expect(fixture.reportedRooms.last == "attic")
        let page = SitePage(fixture.service)
        #expect(
            page.pageMetrics(ClientCounters()).contains(
                #"ibeacon_rooms_messages_refused_total{reason="unknown id"} 12"#))
        #expect(page.pageState()["unknownIds"] == ["phone:joe"])
    }

    @Test(arguments: [("joe", "home"), ("jane", "attic")])
    func `With another user name or site it keeps its tags and where they are`(user: String, site: String) throws {
        let before = try RoomServiceFixture(in: directory, tags: "")
        before.wait(.seconds(15))
        for (name, minor) in [("Jane", 7), ("Keys", 9)] {
            before.receive(Self.command, RoomServiceFixture.command(adding: name, minor: minor, rid: name))
        }
        before.stay(in: 0, seconds: 20)
        let list = try #require(before.published(Self.tags).last)
        before.service.app.stop()
        // The second start finds them under the new topic.
        for _ in 1...2 {
            let after = try RoomServiceFixture(in: directory, user: user, site: site, tags: "")
            #expect(after.service.site.tags.map(\.name).sorted() == ["Jane", "Keys"])
            #expect(after.service.site.roster.states.compactMap(\.room?.name) == ["Kitchen"])
            after.wait(.seconds(15))
            #expect(after.service.site.role == .active)
            let lists = after.published("ibeacon-rooms/\(site)/tags")
            #expect(!lists.isEmpty && lists.allSatisfy { $0.contains(#""minor":7"#) && $0.contains(#""minor":9"#) })
            if site == "home" { #expect(Set(lists) == [list]) }
            after.service.app.stop()
        }
        let stored = try StoreReader(directory: directory.path).regions()
        #expect(stored["owntracks/jane/rooms-home"]?.regions.isEmpty != false)
        #expect(stored[ExactString("owntracks/\(user)/rooms-\(site)")]?.regions.count == 2)
    }

    @Test func `A tag outlives the service`() throws {
        let before = try RoomServiceFixture(in: directory)
        before.wait(.seconds(15))
        before.receive(Self.command, RoomServiceFixture.command(adding: "Keys", minor: 9))
        before.service.app.stop()
        let after = try RoomServiceFixture(in: directory)
        #expect(after.service.site.tags.count == 2)
    }

    @Test func `A broker that lost the list of tags gets it again`() throws {
        let fixture = try RoomServiceFixture(in: directory)
        fixture.wait(.seconds(15))
        let count = fixture.published(Self.tags).count
        fixture.receive(Self.tags, "")
        #expect(fixture.published(Self.tags).count == count + 1)
        #expect(fixture.published(Self.tags).last?.contains(#""minor":7"#) == true)
    }

    @Test func `Beside an active service it is the standby, and publishes no room`() throws {
        let fixture = try RoomServiceFixture(in: directory, instance: "b")
        for counter in 1...20 {
            fixture.receive("ibeacon-rooms/home/service/a", #"{"v":1,"active":true,"counter":\#(counter)}"#)
            fixture.stay(in: 0, seconds: 2)
        }
        #expect(fixture.service.site.role != .active)
        #expect(fixture.reportedRooms.isEmpty)
        #expect(fixture.published(Self.tags).isEmpty)
    }

    @Test func `The standby takes over when the active service falls silent`() throws {
        let fixture = try RoomServiceFixture(in: directory, instance: "b")
        for counter in 1...10 {
            fixture.receive("ibeacon-rooms/home/service/a", #"{"v":1,"active":true,"counter":\#(counter)}"#)
            fixture.stay(in: 0, seconds: 2)
        }
        fixture.stay(in: 0, seconds: 15)
        #expect(fixture.service.site.role == .active)
        #expect(fixture.reportedRooms.last == "Kitchen")
        #expect(fixture.published("owntracks/jane/jane/event").count == 1)
    }

    @Test func `A standby that never had tags does not take over, until it has those of the site`() throws {
        let fixture = try RoomServiceFixture(in: directory, instance: "b", tags: "")
        fixture.receive(Self.tags, #"{"v":1,"tags":[{"uuid":"\#(RoomServiceFixture.uuid)","major":1,"minor":7}]}"#)
        fixture.wait(.seconds(60))
        #expect(fixture.service.site.role != .active)
        #expect(fixture.published(Self.tags).isEmpty)
        fixture.receive(Self.command, RoomServiceFixture.command(adding: "Keys", minor: 7))
        fixture.wait(.seconds(15))
        #expect(fixture.service.site.role == .active)
        #expect(fixture.published(Self.tags).last?.contains(#""minor":7"#) == true)
    }

    @Test func `A service whose last tag was removed says so to the gateways after a restart, too`() throws {
        let before = try RoomServiceFixture(in: directory)
        before.stay(in: 0, seconds: 20)
        before.service.app.stop()
        let after = try RoomServiceFixture(in: directory, tags: "")
        after.receive(Self.tags, try #require(before.published(Self.tags).last), isRetained: true)
        after.receive(Self.command, #"{"_type":"cmd","action":"clearWaypoints"}"#)
        after.wait(.seconds(15))
        #expect(after.service.site.role == .active)
        #expect(after.published(Self.tags).last?.contains("minor") == false)
    }

    @Test func `A message that the broker did not take arrives when the broker is back`() throws {
        let fixture = try RoomServiceFixture(in: directory)
        fixture.wait(.seconds(15))
        fixture.broker.lose()
        fixture.settle()
        fixture.receive(Self.command, RoomServiceFixture.command(adding: "Keys", minor: 9))
        #expect(!fixture.published(Self.tags).contains { $0.contains(#""minor":9"#) })
        fixture.broker.restore()
        fixture.wait(.seconds(15))
        #expect(fixture.published(Self.tags).last?.contains(#""minor":9"#) == true)
    }

    @Test(arguments: [8, 60])
    func `What was decided during an outage is delivered after it, however long it was`(seconds: Int) throws {
        let fixture = try RoomServiceFixture(in: directory)
        fixture.wait(.seconds(15))
        fixture.stay(in: 0, seconds: 20)
        fixture.broker.lose()
        fixture.settle()
        fixture.stay(in: 1, seconds: seconds)
        #expect(fixture.published("owntracks/jane/jane/event").count == 1)
        fixture.broker.restore()
        fixture.wait(.seconds(15))
        #expect(fixture.published("owntracks/jane/jane/event").count == 3)
    }

    @Test func `A tag whose beacon is exchanged leaves its room, and is away until the new beacon is heard`() throws {
        let fixture = try RoomServiceFixture(in: directory, tags: "")
        fixture.wait(.seconds(15))
        fixture.receive(Self.command, RoomServiceFixture.command(adding: "Pet", minor: 7, rid: "pet"))
        fixture.stay(in: 0, seconds: 20)
        #expect(fixture.published("ibeacon-rooms/home/tag/pet").last?.contains(#""room":"kitchen""#) == true)
        fixture.receive(Self.command, RoomServiceFixture.command(adding: "Pet", minor: 8, rid: "pet"))
        #expect(fixture.published("ibeacon-rooms/home/tag/pet").last?.contains(#""home":false"#) == true)
        let events = fixture.published("owntracks/jane/pet/event").compactMap { text in
            (try? JSONValue(parsing: Array(text.utf8)))?["event"]?.string
        }
        #expect(events == ["enter", "leave"])
        #expect(fixture.published("ibeacon-rooms/home/room/kitchen").last?.contains(#""count":0"#) == true)
    }

    @Test func `A room was created, for OwnTracks, when a tag first entered it, and that outlives the service`() throws
    {
        func stamps(_ fixture: RoomServiceFixture) throws -> [(room: String?, wtst: Int64?, tst: Int64?)] {
            try fixture.published("owntracks/jane/jane/event").map {
                let json = try JSONValue(parsing: Array($0.utf8))
                return (json["desc"]?.string, json["wtst"]?.asInteger, json["tst"]?.asInteger)
            }
        }
        let fixture = try RoomServiceFixture(in: directory)
        fixture.wait(.seconds(15))
        for room in [0, 1, 0] { fixture.stay(in: room, seconds: 20) }
        let first = try stamps(fixture)
        #expect(first.map(\.room) == ["Kitchen", "Kitchen", "Hall", "Hall", "Kitchen"])
        #expect(first[0].wtst == first[0].tst && first[2].wtst == first[2].tst)
        #expect(first[1].wtst == first[0].wtst && first[4].wtst == first[0].wtst && first[3].wtst == first[2].wtst)
        fixture.service.app.stop()
        let next = try RoomServiceFixture(in: directory)
        next.wait(.seconds(15))
        next.stay(in: 1, seconds: 20)
        let later = try stamps(next)
        #expect(later.last?.room == "Hall" && later.last?.wtst == first[2].wtst)
    }
}
