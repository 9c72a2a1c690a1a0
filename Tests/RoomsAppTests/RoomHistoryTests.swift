import Base
import JSON
import Regions
import ServiceSupport
import Shell
import SiteCore
import SiteProtocol
import Storage
import TestSupport
import Testing

@testable import RoomsApp

/// Who was where, as it is kept.
@Suite struct RoomHistoryTests {
    private static let jane = "owntracks/jane/jane"
    private static let command = "owntracks/jane/rooms-home/cmd"

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func active(_ more: String = "") throws -> RoomServiceFixture {
        let fixture = try RoomServiceFixture(in: directory, more)
        fixture.wait(.seconds(15))
        return fixture
    }

    private func kept() throws -> [String] {
        var kept: [String] = []
        try StoreReader(directory: directory.path).forEachTransition(HistoryFilter()) { entry in
            kept.append("\(entry.tracker) \(entry.event) \(entry.name)")
            return true
        }
        return kept
    }

    @Test func `A visit begins and ends with the decisions that are published`() throws {
        let fixture = try active()
        fixture.stay(in: 0, seconds: 20)
        fixture.stay(in: 1, seconds: 20)
        #expect(
            try kept() == ["\(Self.jane) enter Kitchen", "\(Self.jane) leave Kitchen", "\(Self.jane) enter Hall"])
    }

    @Test(arguments: [nil, "the key of a site"])
    func `Nothing is stamped by a clock that is not set, and everything gets its time when it is`(key: String?) throws {
        let fixture = try RoomServiceFixture(in: directory, key: key, clock: WallClock(epochOffset: 0, isKnown: false))
        fixture.wait(.seconds(15))
        fixture.stay(in: 0, seconds: 20)
        #expect(fixture.reportedRooms.isEmpty)
        #expect(fixture.published(Self.jane + "/event").isEmpty)

        let start: Int64 = 1_700_000_000
        fixture.host.wallClock = WallClock(epochOffset: start * 1_000_000_000, isKnown: true)
        fixture.wait(.seconds(10))
        let decided = start + 1015...start + 1035
        let transition = try JSONValue(parsing: Array(fixture.published(Self.jane + "/event")[0].utf8))
        let created = try #require(transition["wtst"]?.asInteger)
        #expect(decided.contains(created))
        #expect(transition["tst"] == .integer(created))
        let state = try JSONValue(
            parsing: Array(try fixture.opened("ibeacon-rooms/home/tag/jane").last?.utf8 ?? "".utf8))
        #expect(state["since"] == .integer(created))
        #expect(fixture.service.site.roster.states[0].since == created)
        var stamps: [Int64] = []
        try StoreReader(directory: directory.path).forEachTransition(HistoryFilter()) { entry in
            stamps.append(entry.timestamp)
            return true
        }
        #expect(stamps == [created])

        fixture.stay(in: 1, seconds: 20)
        fixture.stay(in: 0, seconds: 20)
        let again = try JSONValue(parsing: Array(fixture.published(Self.jane + "/event").last?.utf8 ?? "".utf8))
        #expect(again["desc"] == "Kitchen" && again["wtst"] == .integer(created))
    }

    @Test func `A state of an earlier run that is published again before the clock is set keeps its time`() throws {
        let before = try active()
        before.stay(in: 0, seconds: 20)
        let since = before.service.site.roster.states[0].since
        before.service.app.stop()
        // The broker has lost what it retained.
        let after = try RoomServiceFixture(in: directory, clock: WallClock(epochOffset: 0, isKnown: false))
        after.wait(.seconds(15))
        after.host.wallClock = WallClock(epochOffset: (since + 3600) * 1_000_000_000, isKnown: true)
        after.wait(.seconds(15))
        let state = try JSONValue(parsing: Array(after.published("ibeacon-rooms/home/tag/jane").last?.utf8 ?? "".utf8))
        #expect(state["roomName"] == "Kitchen" && state["since"] == .integer(since))
        #expect(after.service.site.roster.states[0].since == since)
    }

    @Test func `A state whose time was not known at the end of its run gets that of the next start`() throws {
        let unset = WallClock(epochOffset: 0, isKnown: false)
        let before = try RoomServiceFixture(in: directory, clock: unset)
        before.wait(.seconds(15))
        before.stay(in: 0, seconds: 20)
        before.service.app.stop()
        let start: Int64 = 1_700_000_000
        let after = try RoomServiceFixture(
            in: directory, clock: WallClock(epochOffset: start * 1_000_000_000, isKnown: true))
        let state = after.service.site.roster.states[0]
        #expect(state.isHome && (start...start + 2000).contains(state.since))
    }

    @Test func `A visit is on the disk before its decision is published`() throws {
        let fixture = try active()
        fixture.broker.lose()
        fixture.settle()
        fixture.stay(in: 0, seconds: 20)
        #expect(fixture.reportedRooms.isEmpty)
        #expect(try kept() == ["\(Self.jane) enter Kitchen"])
    }

    @Test func `With 0 days nothing is kept, and what was kept is deleted`() throws {
        let before = try active()
        before.stay(in: 0, seconds: 20)
        before.service.app.stop()
        #expect(try kept().count == 1)
        let nextDay = WallClock(epochOffset: 1_700_090_000_000_000_000, isKnown: true)
        let after = try RoomServiceFixture(in: directory, clock: nextDay, ", days: 0")
        after.wait(.seconds(15))
        after.stay(in: 1, seconds: 20)
        #expect(after.reportedRooms.contains("Hall"))
        #expect(try kept().isEmpty)
    }

    @Test func `A visit ends when another service becomes active, and begins when this one takes over`() throws {
        func hear(_ fixture: RoomServiceFixture, counters: ClosedRange<Int>) {
            for counter in counters {
                fixture.receive("ibeacon-rooms/home/service/a", #"{"v":1,"active":true,"counter":\#(counter)}"#)
                fixture.wait(.seconds(2))
            }
        }
        let fixture = try RoomServiceFixture(in: directory, instance: "b")
        fixture.wait(.seconds(15))
        fixture.stay(in: 0, seconds: 20)
        hear(fixture, counters: 1...3)
        let ended = ["\(Self.jane) enter Kitchen", "\(Self.jane) leave Kitchen"]
        #expect(try kept() == ended)
        // The other one goes on, also while this one starts again.
        fixture.service.app.stop()
        let next = try RoomServiceFixture(in: directory, instance: "b")
        hear(next, counters: 4...6)
        next.receive(
            "ibeacon-rooms/home/tag/jane",
            #"{"name":"Jane","room":"kitchen","roomName":"Kitchen","since":1700000900,"confidence":1,"home":true}"#)
        #expect(try kept() == ended)
        next.wait(.seconds(15))
        #expect(next.service.site.role == .active)
        #expect(try kept() == ended + ["\(Self.jane) enter Kitchen"])
    }

    @Test func `A visit goes on over a restart`() throws {
        let fixture = try active()
        fixture.stay(in: 0, seconds: 20)
        fixture.service.app.stop()
        let next = try active()
        next.stay(in: 0, seconds: 20)
        #expect(try kept() == ["\(Self.jane) enter Kitchen"])
    }

    @Test func `A tag that is removed has left its room`() throws {
        // A tag of the configuration file would stay.
        let fixture = try RoomServiceFixture(in: directory, tags: "")
        fixture.wait(.seconds(15))
        fixture.receive(Self.command, RoomServiceFixture.command(adding: "Jane", minor: 7, rid: "jane"))
        fixture.stay(in: 0, seconds: 20)
        fixture.receive(Self.command, #"{"_type":"cmd","action":"clearWaypoints"}"#)
        #expect(try kept() == ["\(Self.jane) enter Kitchen", "\(Self.jane) leave Kitchen"])
    }

    @Test func `A tag's history is deleted while the service runs, and no end of a visit follows`() throws {
        // A tag of the configuration file would stay.
        let fixture = try RoomServiceFixture(in: directory, tags: "")
        fixture.wait(.seconds(15))
        fixture.receive(Self.command, RoomServiceFixture.command(adding: "Jane", minor: 7, rid: "jane"))
        fixture.stay(in: 0, seconds: 20)
        #expect(try kept() == ["\(Self.jane) enter Kitchen"])
        try StoreEditor(directory: directory.path).edit(
            "owntracks/jane/rooms-home", [.remove(rid: "jane")], erasingHistoryOf: Self.jane)
        #expect(try kept().isEmpty)
        fixture.wait(.seconds(10))
        #expect(fixture.service.site.tags.isEmpty)
        #expect(try kept().isEmpty)
        #expect(try StoreReader(directory: directory.path).summary().edits == 0)
    }

    @Test func `The history of another tag stays`() throws {
        let fixture = try active()
        fixture.stay(in: 0, seconds: 20)
        try StoreEditor(directory: directory.path).edit(
            "owntracks/jane/rooms-home", [], erasingHistoryOf: "owntracks/jane/keys")
        fixture.stay(in: 0, seconds: 10)
        #expect(try kept() == ["\(Self.jane) enter Kitchen"])
    }
}
