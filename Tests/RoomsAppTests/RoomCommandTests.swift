import JSON
import PageServer
import Regions
import ServiceSupport
import Shell
import SiteCore
import TestSupport
import Testing

@testable import RoomsApp

/// Commands on the `/cmd` of the rooms service: what may be retained, and what is counted.
@Suite struct RoomCommandTests {
    private static let topic = "owntracks/jane/rooms-home/cmd"
    private static let clear = #"{"_type":"cmd","action":"clearWaypoints"}"#
    private static let keys = RoomServiceFixture.command(adding: "Keys", minor: 9, rid: "keys")

    private let directory: TemporaryDirectory
    private let fixture: RoomServiceFixture

    init() throws {
        directory = try TemporaryDirectory()
        fixture = try RoomServiceFixture(in: directory)
        fixture.wait(.seconds(15))
    }

    private func tags(_ fixture: RoomServiceFixture) -> [String] { fixture.service.site.tags.map(\.id).sorted() }

    private func counters(_ fixture: RoomServiceFixture) -> [Int64?] {
        let counters = fixture.status.page?.pageState()["counters"]
        return [counters?["commands"]?.asInteger, counters?["commandsRefused"]?.asInteger]
    }

    @Test func `A retained clearWaypoints is refused and counted, a live one is obeyed`() {
        fixture.receive(Self.topic, Self.keys)
        fixture.receive(Self.topic, Self.clear, isRetained: true)
        #expect(tags(fixture) == ["jane", "keys"])
        #expect(counters(fixture) == [1, 1])
        fixture.receive(Self.topic, Self.clear)
        // Jane's tag is in the configuration file.
        #expect(tags(fixture) == ["jane"])
        #expect(counters(fixture) == [2, 1])
    }

    @Test func `An empty message removes a retained command, and is none itself`() {
        fixture.receive(Self.topic, "")
        #expect(counters(fixture) == [0, 0])
    }

    @Test func `No command changes a tag of the configuration file, and what it says of others is done`() throws {
        let both =
            #"{"_type":"cmd","action":"setWaypoints","waypoints":["#
            + #"{"_type":"waypoint","rid":"jane","desc":"Joe:\#(RoomServiceFixture.uuid):1:8","tst":1600000000},"#
            + #"{"_type":"waypoint","rid":"bag","desc":"Bag:\#(RoomServiceFixture.uuid):1:12","tst":1600000000}]}"#
        fixture.receive(Self.topic, both)
        #expect(fixture.service.site.tags.map(\.name).sorted() == ["Bag", "Jane"])
        #expect(fixture.service.site.tags.first { $0.id == "jane" }?.pattern.minor == 7)
        #expect(counters(fixture) == [1, 0])
        // After a restart it is as it was.
        let tags = fixture.service.site.tags
        fixture.service.app.stop()
        #expect(try RoomServiceFixture(in: directory).service.site.tags == tags)
    }

    @Test(arguments: [
        ("no JSON", "malformed"), (#"{"_type":"cmd","action":"dump"}"#, "unsupported"),
        (#"{"_type":"cmd","action":"fly"}"#, "unsupported"),
    ])
    func `What the service does not know is refused and counted`(command: String, reason: String) {
        fixture.receive(Self.topic, command)
        #expect(counters(fixture) == [0, 1])
        #expect(
            fixture.status.page?.pageMetrics(ClientCounters()).contains(
                #"ibeacon_rooms_commands_refused_total{reason="\#(reason)"} 1"#) == true)
    }

    @Test func `An unencrypted command is refused and counted where the site has a key`() throws {
        let directory = try TemporaryDirectory()
        let fixture = try RoomServiceFixture(in: directory, key: "s3cr1t")
        fixture.receive(Self.topic, Self.keys)
        #expect(tags(fixture) == ["jane"])
        #expect(counters(fixture) == [0, 1])
    }

    @Test func `A retained setWaypoints is obeyed, and does not bring a removed tag back at the next connection`() {
        fixture.receive(Self.topic, Self.keys, isRetained: true)
        #expect(tags(fixture) == ["jane", "keys"])
        fixture.service.handle(.request(.removeTag(id: "keys")))
        fixture.receive(Self.topic, Self.keys, isRetained: true)
        #expect(tags(fixture) == ["jane"])
        #expect(counters(fixture) == [1, 0])
        fixture.receive(Self.topic, Self.keys)
        #expect(tags(fixture) == ["jane", "keys"])
    }

    @Test func `Nor after a restart, and a service without its state applies it once more`() throws {
        fixture.receive(Self.topic, Self.keys)
        fixture.service.handle(.request(.removeTag(id: "keys")))
        fixture.service.app.stop()
        let after = try RoomServiceFixture(in: directory)
        after.wait(.seconds(15))
        after.receive(Self.topic, Self.keys, isRetained: true)
        #expect(tags(after) == ["jane"])
        after.service.app.stop()
        let anew = try RoomServiceFixture(in: try TemporaryDirectory())
        anew.receive(Self.topic, Self.keys, isRetained: true)
        #expect(tags(anew) == ["jane"], "another service may be active")
        anew.wait(.seconds(15))
        #expect(tags(anew) == ["jane", "keys"])
    }

    @Test func `Another retained setWaypoints is obeyed`() {
        fixture.receive(Self.topic, Self.keys, isRetained: true)
        fixture.receive(
            Self.topic, RoomServiceFixture.command(adding: "Bag", minor: 8, rid: "bag"), isRetained: true)
        #expect(tags(fixture) == ["bag", "jane", "keys"])
    }
}
