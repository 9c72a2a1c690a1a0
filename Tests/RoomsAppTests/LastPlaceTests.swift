import Base
import JSON
import PageServer
import Rooms
import ServiceSupport
import Shell
import SiteCore
import SiteProtocol
import TestSupport
import Testing

@testable import RoomsApp

/// Where a tag was last, for somebody who looks for it. It has to survive whatever a home survives.
@Suite struct LastPlaceTests {
    private static let jane = "ibeacon-rooms/home/tag/jane"

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// A state of a tag that is away, as another service publishes it.
    private static let away =
        #"{"name":"Jane","room":null,"roomName":null,"since":1700000900,"confidence":1,"home":false,"#
        + #""lastRoom":"hall","lastRoomName":"Hall","lastHeard":1700000800}"#

    private func active() throws -> RoomServiceFixture {
        let fixture = try RoomServiceFixture(in: directory)
        fixture.wait(.seconds(15))
        return fixture
    }

    private func state(_ fixture: RoomServiceFixture) throws -> JSONValue {
        try JSONValue(parsing: Array((fixture.published(Self.jane).last ?? "null").utf8))
    }

    private func epoch(_ fixture: RoomServiceFixture) -> Int64 {
        fixture.host.wallClock.epochSeconds(at: fixture.host.now)
    }

    /// A service whose tag was in the hall and went away, with the second in which it was last heard.
    private func left() throws -> (fixture: RoomServiceFixture, heard: Int64) {
        let fixture = try active()
        fixture.stay(in: 0, seconds: 20)
        fixture.stay(in: 1, seconds: 30)
        let heard = epoch(fixture)
        fixture.hearNothing(seconds: 200)
        return (fixture, heard)
    }

    private func isHall(_ state: JSONValue, heard: Int64) -> Bool {
        state["home"] == false && state["lastRoom"] == "hall" && state["lastRoomName"] == "Hall"
            && state["lastHeard"]?.asInteger.map { (heard - 3...heard).contains($0) } == true
    }

    @Test func `The state of a tag that is away has its last room, and when it was last heard`() throws {
        let (fixture, heard) = try left()
        let state = try state(fixture)
        #expect(isHall(state, heard: heard), "\(state)")
    }

    @Test func `The state of a tag that is in a room has neither`() throws {
        let (fixture, _) = try left()
        fixture.stay(in: 0, seconds: 30)
        let state = try state(fixture)
        #expect(state["room"] == "kitchen" && state["lastRoom"] == nil && state["lastHeard"] == nil, "\(state)")
    }

    @Test func `A tag that comes home and goes before its room is known keeps its last room`() throws {
        let (fixture, heard) = try left()
        fixture.stayBetweenRooms(seconds: 1)
        let between = try state(fixture)
        #expect(between["home"] == true && between["lastRoom"] == "hall", "\(between)")
        fixture.hearNothing(seconds: 200)
        let last = try state(fixture)
        #expect(last["home"] == false && last["lastRoom"] == "hall", "\(last)")
        #expect(last["lastHeard"]?.asInteger.map { $0 > heard + 100 } == true, "\(last)")
    }

    @Test func `The page shows it`() throws {
        let (fixture, heard) = try left()
        let page = try #require(fixture.status.page)
        #expect(isHall(page.pageState()["tags"]?["jane"] ?? .null, heard: heard))
    }

    @Test func `It survives a restart of the service`() throws {
        let (before, heard) = try left()
        let retained = try #require(before.published(Self.jane).last)
        before.service.app.stop()
        let after = try RoomServiceFixture(in: directory)
        after.receive(Self.jane, retained, isRetained: true)
        after.wait(.seconds(15))
        #expect(after.published(Self.jane).isEmpty, "the broker has it already")
        #expect(isHall(after.service.site.roster.states[0].json, heard: heard))
    }

    @Test func `It survives a restart beside a broker that has lost everything`() throws {
        let (before, heard) = try left()
        before.service.app.stop()
        let after = try active()
        #expect(isHall(try state(after), heard: heard), "\(after.published(Self.jane))")
    }

    @Test func `A broker that is emptied while the service runs gets it again`() throws {
        let (fixture, heard) = try left()
        fixture.broker.lose()
        fixture.settle()
        let count = fixture.published(Self.jane).count
        fixture.broker.restore()
        fixture.wait(.seconds(15))
        #expect(fixture.published(Self.jane).count == count + 1)
        #expect(isHall(try state(fixture), heard: heard))
    }

    /// A standby beside the service `a`, to which the broker gave these messages.
    private func standby(
        _ messages: (topic: String, payload: String, isRetained: Bool)...
    ) throws -> RoomServiceFixture {
        let fixture = try RoomServiceFixture(in: directory, instance: "b")
        for counter in 1...5 {
            fixture.receive("ibeacon-rooms/home/service/a", #"{"v":1,"active":true,"counter":\#(counter)}"#)
            for message in messages where counter == 2 {
                fixture.receive(message.topic, message.payload, isRetained: message.isRetained)
            }
            fixture.hearNothing(seconds: 2)
        }
        return fixture
    }

    @Test func `It survives a takeover, also at a broker that was emptied`() throws {
        let fixture = try standby((Self.jane, Self.away, false), (Self.jane, "", false))
        fixture.hearNothing(seconds: 15)
        #expect(fixture.service.site.role == .active)
        #expect(isHall(try state(fixture), heard: 1_700_000_800), "\(fixture.published(Self.jane))")
    }

    @Test func `A standby that began when the tag was away takes it from the retained state`() throws {
        let fixture = try standby((Self.jane, Self.away, true))
        #expect(fixture.service.site.roster.states[0].lastRoom == nil, "only the active service is believed")
        fixture.hearNothing(seconds: 15)
        #expect(fixture.service.site.role == .active)
        #expect(isHall(fixture.service.site.roster.states[0].json, heard: 1_700_000_800))
        #expect(fixture.published(Self.jane).isEmpty)
    }

    @Test(arguments: [false, true])
    func `A tag that goes away while the service is down was last heard before it`(isSuddenEnd: Bool) throws {
        let before = try active()
        before.stay(in: 1, seconds: 1000)
        let heard = epoch(before)
        if !isSuddenEnd { before.service.app.stop() }
        // What is on the disk at this moment.
        let copy = try TemporaryDirectory()
        let program = try ChildProcess("cp", ["-a", directory.path + "/.", copy.path], output: copy.file("output"))
        #expect(program.wait() == 0)
        let after = try RoomServiceFixture(in: copy)
        after.wait(.seconds(15))
        after.hearNothing(seconds: 300)
        let state = try state(after)
        #expect(state["home"] == false && state["lastRoom"] == "hall", "\(state)")
        let last = try #require(state["lastHeard"]?.asInteger)
        // What is learned is stored every fifteen minutes, and so is this.
        #expect(isSuddenEnd ? (heard - 900...heard).contains(last) : (heard - 3...heard).contains(last), "\(state)")
    }

    @Test func `Without a wall clock its time is corrected with the others`() throws {
        let fixture = try RoomServiceFixture(in: directory, clock: WallClock(epochOffset: 0, isKnown: false))
        fixture.wait(.seconds(15))
        fixture.stay(in: 1, seconds: 30)
        let heard = fixture.host.now
        fixture.hearNothing(seconds: 200)
        fixture.host.wallClock = WallClock(epochOffset: 1_700_000_000_000_000_000, isKnown: true)
        fixture.wait(.seconds(10))
        let right = fixture.host.wallClock.epochSeconds(at: heard)
        let state = try state(fixture)
        #expect(isHall(state, heard: right), "\(state)")
        #expect(isHall(fixture.service.site.roster.states[0].json, heard: right))
    }
}
