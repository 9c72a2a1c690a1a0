import Base
import JSON
import PageServer
import ServiceSupport
import Shell
import SiteCore
import SiteProtocol
import TestSupport
import Testing

@testable import RoomsApp

/// A tag whose battery is low, as gateways read it. An empty one looks like a tag that left, so it has to be known before.
@Suite struct TagBatteryTests {
    private static let jane = "ibeacon-rooms/home/tag/jane"

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func active() throws -> RoomServiceFixture {
        let fixture = try RoomServiceFixture(in: directory)
        fixture.wait(.seconds(15))
        return fixture
    }

    /// The levels that were published of the tag, one for each state of it.
    private func published(_ fixture: RoomServiceFixture) throws -> [Int64?] {
        try fixture.published(Self.jane).map { try JSONValue(parsing: Array($0.utf8))["lowBattery"]?.asInteger }
    }

    private func findings(_ fixture: RoomServiceFixture) -> [String] {
        (fixture.status.page?.pageState()["findings"]?.array ?? []).compactMap { $0["text"]?.string }
    }

    /// Each level is said for as long as it takes to be believed after another change.
    private func hear(_ fixture: RoomServiceFixture, _ levels: Int?..., seconds: Int = 62) {
        for level in levels {
            fixture.battery = level
            fixture.stay(in: 0, seconds: seconds)
        }
        fixture.battery = nil
    }

    @Test func `It is published when it is low, when it becomes lower, and when it is no longer low`() throws {
        let fixture = try active()
        fixture.stay(in: 0, seconds: 20)
        #expect(try published(fixture).allSatisfy { $0 == nil })
        let before = fixture.published(Self.jane).count
        hear(fixture, 50, 11, 10, 11, 10, 19, 8, 9, nil, 19, 20, 10)
        #expect(try published(fixture).dropFirst(before) == [10, 8, nil, 10])
        let rooms = fixture.reportedRooms.dropFirst(before)
        #expect(rooms.allSatisfy { $0 == "Kitchen" } && fixture.published("ibeacon-rooms/home/room/kitchen").count == 1)
    }

    @Test func `A sender that imitates the tag causes at most one change a minute`() throws {
        let fixture = try active()
        fixture.stay(in: 0, seconds: 20)
        let before = fixture.published(Self.jane).count
        for second in 0..<120 {
            fixture.battery = second % 2 == 0 ? 5 : 90
            fixture.stay(in: 0, seconds: 1)
        }
        let levels = try published(fixture).dropFirst(before)
        #expect((1...2).contains(levels.count) && levels.first == 5, "\(levels)")
    }

    @Test func `The page names it, also while the broker is away`() throws {
        let fixture = try active()
        fixture.stay(in: 0, seconds: 20)
        #expect(!findings(fixture).contains { $0.contains("batter") })
        hear(fixture, 8)
        #expect(findings(fixture).contains("low batteries: Jane 8 %"))
        #expect(fixture.status.page?.pageState()["tags"]?["jane"]?["lowBattery"]?.asInteger == 8)
        let metrics = fixture.status.page?.pageMetrics(ClientCounters()) ?? ""
        #expect(metrics.contains("\nibeacon_rooms_low_batteries 1\n"))
        fixture.broker.lose()
        fixture.settle()
        #expect(findings(fixture).contains("low batteries: Jane 8 %"))
    }

    @Test func `It is known of a tag that left, and after a restart`() throws {
        let before = try active()
        before.stay(in: 0, seconds: 20)
        hear(before, 8)
        before.hearNothing(seconds: 200)
        #expect(before.reportedRooms.last == "none")
        #expect(try published(before).last == 8)
        before.service.app.stop()
        let after = try active()
        #expect(findings(after).contains("low batteries: Jane 8 %"))
        hear(after, 90)
        after.stay(in: 0, seconds: 20)
        #expect(!findings(after).contains { $0.contains("batter") })
        #expect(try published(after).last == .some(nil))
    }

    @Test func `It is known of a tag about which nothing was decided yet`() throws {
        let fixture = try active()
        fixture.battery = 8
        fixture.stay(in: 0, seconds: 20)
        #expect(try published(fixture).first == 8)
        #expect(Set(try published(fixture)) == [8])
    }

    @Test func `A standby takes it from the active service, and not from gateways`() throws {
        let fixture = try RoomServiceFixture(in: directory, instance: "b")
        func level() -> UInt8? { fixture.service.site.roster.states[0].lowBattery }
        for counter in 1...5 {
            fixture.receive("ibeacon-rooms/home/service/a", #"{"v":1,"active":true,"counter":\#(counter)}"#)
            hear(fixture, 3, seconds: 2)
            if counter == 3 {
                #expect(level() == nil)
                fixture.receive(
                    Self.jane,
                    #"{"name":"Jane","room":"kitchen","roomName":"Kitchen","since":1700000900,"confidence":1,"home":true,"#
                        + #""lowBattery":9}"#)
            }
        }
        #expect(level() == 9)
        #expect(fixture.published(Self.jane).isEmpty)
    }

    @Test func `Another beacon of the tag has another battery`() throws {
        let fixture = try RoomServiceFixture(in: directory, tags: "")
        fixture.wait(.seconds(15))
        fixture.receive(
            "owntracks/jane/rooms-home/cmd", RoomServiceFixture.command(adding: "Jane", minor: 7, rid: "jane"))
        fixture.stay(in: 0, seconds: 20)
        hear(fixture, 8)
        #expect(fixture.service.site.roster.states.map(\.lowBattery) == [8])
        fixture.receive(
            "owntracks/jane/rooms-home/cmd", RoomServiceFixture.command(adding: "Jane", minor: 8, rid: "jane"))
        #expect(fixture.service.site.roster.states.map(\.lowBattery) == [nil])
    }
}
