import Base
import JSON
import PageServer
import ServiceSupport
import Shell
import SiteCore
import Storage
import TestSupport
import Testing

@testable import RoomsApp

/// The time line of the day on the page, and the search among very many tags.
@Suite struct SiteDayTests {
    private static let jane = "owntracks/jane/jane"

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func active(_ more: String = "", clock: WallClock? = nil) throws -> RoomServiceFixture {
        let fixture = try RoomServiceFixture(in: directory, clock: clock, more)
        fixture.wait(.seconds(15))
        return fixture
    }

    /// `TAG ROOM`, with `…` while the visit goes on.
    private func day(_ fixture: RoomServiceFixture) throws -> [String] {
        let page = try #require(fixture.status.page)
        guard case .json(let json)? = page.read(PageRequest(path: "/day.json") { _ in nil }) else { return [] }
        return (json["visits"]?.array ?? []).map {
            "\($0["tag"]?.string ?? "") \($0["roomName"]?.string ?? "")\($0["to"] == .null ? " …" : "")"
        }
    }

    private func carry(_ fixture: RoomServiceFixture) {
        fixture.stay(in: 0, seconds: 20)
        fixture.stay(in: 1, seconds: 20)
    }

    @Test func `The visits of the day are those of the history, and the last goes on`() throws {
        let fixture = try active()
        carry(fixture)
        #expect(try day(fixture) == ["jane Kitchen", "jane Hall …"])
    }

    @Test func `Those from before a restart are among them, each once`() throws {
        let before = try active()
        carry(before)
        before.service.app.stop()
        let after = try active()
        after.stay(in: 2, seconds: 20)
        #expect(try day(after) == ["jane Kitchen", "jane Hall", "jane Bath …"])
        after.stay(in: 0, seconds: 20)
        #expect(try day(after) == ["jane Kitchen", "jane Hall", "jane Bath", "jane Kitchen …"])
    }

    @Test func `What is older than a day is not among them, and what goes on is`() throws {
        let before = try active()
        carry(before)
        before.service.app.stop()
        let later = WallClock(epochOffset: 1_700_090_000_000_000_000, isKnown: true)
        #expect(try day(active(clock: later)) == ["jane Hall …"])
    }

    @Test func `A history that cannot be read once is read again`() throws {
        let before = try active()
        carry(before)
        before.service.app.stop()
        let after = try active()
        let database = try Database(path: directory.path + "/state.db")
        try database.run("ALTER TABLE history RENAME TO elsewhere")
        #expect(try day(after).isEmpty)
        try database.run("ALTER TABLE elsewhere RENAME TO history")
        #expect(try day(after) == ["jane Kitchen", "jane Hall …"])
    }

    @Test func `Without a history there is no time line`() throws {
        let fixture = try active(", days: 0")
        carry(fixture)
        #expect(try day(fixture).isEmpty)
    }

    @Test func `A tag whose history is deleted is gone from it`() throws {
        let fixture = try active()
        carry(fixture)
        #expect(try day(fixture).count == 2)
        try StoreEditor(directory: directory.path).edit(
            "owntracks/jane/rooms-home", [], erasingHistoryOf: Self.jane)
        fixture.wait(.seconds(10))
        #expect(try day(fixture).isEmpty)
    }

    @Test func `Among very many tags those that are not listed are found by their name`() throws {
        let tags = (1...SiteSnapshot.listedTags + 70).map { #""Tag \#($0):\#(RoomServiceFixture.uuid):1:\#($0)""# }
        let fixture = try RoomServiceFixture(in: directory, tags: tags.joined(separator: ","))
        let page = try #require(fixture.status.page)
        func found(_ text: String) -> [String] {
            guard case .json(let json)? = page.read(PageRequest(path: "/tags.json") { _ in text }) else { return [] }
            return (json["tags"]?.object ?? [:]).values.compactMap { $0["name"]?.string }.sorted()
        }
        let listed = page.pageState()["tags"]?.object ?? [:]
        #expect(listed.count == SiteSnapshot.listedTags)
        #expect(
            found("TAG 30") == [
                "Tag 300", "Tag 301", "Tag 302", "Tag 303", "Tag 304", "Tag 305", "Tag 306",
                "Tag 307", "Tag 308", "Tag 309",
            ])
        #expect(found("tag").count == 50)
        #expect(found("no such").isEmpty)
        #expect(
            page.read(PageRequest(path: "/tags.json") { _ in nil })
                == .refused(status: 400, "say what to search: /tags.json?search=TEXT"))
    }

    @Test func `The page of this machine's gateway is named while that listens`() throws {
        let fixture = try active(#", deviceId: "g1", http: {listen: "0.0.0.0:8090"}"#)
        let page = try #require(fixture.status.page)
        #expect(page.pageState()["gatewayPage"] == .null)
        fixture.stay(in: 0, seconds: 3)
        #expect(page.pageState()["gatewayPage"] == ["name": "g1", "host": "0.0.0.0", "port": 8090])
    }
}
