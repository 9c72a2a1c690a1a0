import Base
import Configuration
import Glibc
import Health
import Messaging
import OwnTracks
import Runtime
import ServiceSupport
import Shell
import SiteCore
import TestSupport
import Testing

@testable import RoomsApp

/// What the rooms service takes over when its configuration file is read again.
@Suite struct RoomReloadTests {
    private static let tag = #""Jane:\#(RoomServiceFixture.uuid):1:7""#
    private static let command = "owntracks/jane/rooms-home/cmd"

    private let directory: TemporaryDirectory
    private let fixture: RoomServiceFixture

    init() throws {
        directory = try TemporaryDirectory()
        fixture = try RoomServiceFixture(in: directory)
        fixture.wait(.seconds(15))
    }

    /// - Parameters:
    ///   - rooms: Members of `rooms`, each with a comma behind it.
    ///   - more: Members of the configuration, each with a comma before it.
    private func reload(rooms: String = "", tags: String = RoomReloadTests.tag, _ more: String = "") throws {
        try directory.write(
            """
            {_type: "configuration", username: "jane",
             rooms: {\(rooms) site: "home", instance: "a", tags: [\(tags)]}\(more)}
            """, to: "config.json")
        fixture.service.app.reload()
        fixture.settle()
    }

    @Test func `Settings of the broker need a new connection, which is made at once`() throws {
        try reload(#", host: "other", port: 1884"#)
        #expect(fixture.broker.connections == 2)
        #expect(fixture.broker.settings?.hosts == ["other"])
        #expect(fixture.broker.settings?.port == 1884)
        #expect(fixture.service.site.role == .active)
        fixture.stay(in: 0, seconds: 20)
        #expect(fixture.reportedRooms.last == "Kitchen")
    }

    @Test func `The page names the broker of the connection that there is`() throws {
        try reload(#", host: "other""#)
        #expect(fixture.service.pageFrame.broker.name == "other:1883")
        #expect(fixture.broker.settings?.hosts == ["other"])
        fixture.broker.isReachable = false
        try reload(#", host: "third""#)
        #expect(fixture.service.pageFrame.broker.name == "third:1883")
        #expect(fixture.service.pageFrame.broker.phase == .disconnected)
        #expect(fixture.broker.settings?.hosts == ["third"])
    }

    @Test func `Without a change of the broker the connection stays`() throws {
        try reload(tags: Self.tag + #", "Keys:\#(RoomServiceFixture.uuid):1:8""#, ", days: 7")
        #expect(fixture.broker.connections == 1)
        #expect(fixture.service.site.tags.count == 2)
    }

    @Test func `Commands are not subscribed to any more when they are switched off`() throws {
        #expect(fixture.broker.filters.contains(Self.command))
        try reload(", cmd: false")
        #expect(!fixture.broker.filters.contains(Self.command))
        #expect(fixture.broker.connections == 1)
    }

    @Test func `What needs a restart keeps its running value`() throws {
        try reload(rooms: #"gateways: {g0: "Attic"}, encryptionKey: "new", http: null,"#, ", lat: 1, lon: 2")
        let configuration = fixture.service.app.settings.configuration
        #expect(configuration.rooms?.gateways == [])
        #expect(configuration.rooms?.encryptionKey == .absent)
        #expect(configuration.rooms?.statusPage == .rooms)
        #expect(!configuration.position.isKnown)
        fixture.stay(in: 0, seconds: 20)
        #expect(fixture.reportedRooms.last == "Kitchen")
    }

    @Test func `A login stays whole: the password of another user is not used with the running user`() throws {
        let text = #"rooms: {site: "home", instance: "a", tags: [\#(Self.tag)]}"#
        for login in [#"username: "jane", password: "first""#, #"username: "joe", password: "second""#] {
            try directory.write(#"{_type: "configuration", \#(login), \#(text)}"#, to: "config.json")
            fixture.service.app.reload()
            fixture.settle()
            #expect(fixture.broker.settings?.username == "jane")
            #expect(fixture.broker.settings?.password == Secret("first"))
        }
    }

    @Test func `A mistake in the tags leaves the old settings in force`() throws {
        try reload(tags: #"{desc: "x"}"#, #", host: "other""#)
        #expect(fixture.broker.connections == 1)
        #expect(fixture.service.site.tags.count == 1)
    }

    @Test func `A forged card of another service is a notice and is counted, and is no error`() throws {
        let file = open(directory.file("log"), O_CREAT | O_RDWR, 0o600)
        defer { close(file) }
        let other = try TemporaryDirectory()
        let service = try RoomServiceFixture(
            in: other, key: "the key of the site", log: Log(style: .prefixed, descriptor: file))
        service.wait(.seconds(15))
        service.receive("ibeacon-rooms/home/service/b", #"{"v":1,"active":true,"counter":1}"#)
        #expect(service.service.door.refused == 1)
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = pread(file, &bytes, bytes.count, 0)
        let lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("<5>a card of the service 'b' cannot be decrypted") })
        #expect(!lines.contains { $0.hasPrefix("<3>") })
    }
}
