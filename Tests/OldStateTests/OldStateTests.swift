import Base
import Beacon
import Foundation
import JSON
import Regions
import Rooms
import SiteCore
import SiteProtocol
import Storage
import TestSupport
import Testing

@testable import Gateway

/// State directories that programs of earlier versions made (Fixtures/README.md). Everything in them is found.
@Suite struct OldStateTests {
    /// A state as a service of today opens it.
    private struct Opened {
        var snapshot: StoreSnapshot
        var waiting: [OutboxRow]
        var history: [PastTransition] = []
        var locations: [PastLocation] = []
    }

    private func open(_ fixture: String) throws -> Opened {
        let url = try #require(
            Bundle.module.url(forResource: "state", withExtension: "db", subdirectory: "Fixtures/\(fixture)"))
        let directory = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: url.path, toPath: directory.file(StoreSettings.fileName))
        let settings = StoreSettings(
            directory: directory.path, boot: "a later boot", now: { MonotonicInstant(nanoseconds: 1_000_000_000) },
            restamp: { _ in nil })
        let store = try Store(settings) {}
        store.submit(.window(1000))
        var (opened, notices, rows): (StoreSnapshot?, [String], [OutboxRow]) = (nil, [], [])
        #expect(
            eventually {
                for event in store.drain() {
                    switch event {
                    case .opened(let snapshot): opened = snapshot
                    case .deliver(let new, _): rows += new
                    case .notice(let notice): notices.append(notice.text)
                    default: break
                    }
                }
                return opened.map { rows.count >= $0.outboxCount } ?? false
            })
        #expect(notices.isEmpty, "nothing in it is damaged")
        #expect(store.stop(within: .seconds(60)))
        var result = Opened(snapshot: try #require(opened), waiting: rows)
        let reader = try StoreReader(directory: directory.path)
        try reader.forEachTransition(HistoryFilter()) {
            result.history.append($0)
            return true
        }
        try reader.forEachLocation(HistoryFilter()) {
            result.locations.append($0)
            return true
        }
        return result
    }

    private func transitions(_ state: Opened) -> [String] {
        state.history.map { "\($0.tracker) \($0.event) \($0.name)" }
    }

    /// Topic and event of each message that waits.
    private func waiting(_ state: Opened) throws -> [String] {
        try state.waiting.map { row in
            let json = try JSONValue(parsing: row.publication.payload)
            let words = [row.publication.topic, json["_type"]?.string, json["event"]?.string, json["desc"]?.string]
            return words.compactMap(\.self).joined(separator: " ")
        }
    }

    @Test(arguments: ["gateway-d0f5841", "gateway-82a7d5f"])
    func `regions, presence, history and waiting messages of a gateway are found`(_ fixture: String) throws {
        let state = try open(fixture)
        let all = state.snapshot.regions["owntracks/jane/hall"] ?? []
        #expect(all.map(\.rid) == ["hall-1", "office-1", "cellar-1"])
        #expect(all.map(\.description.name) == ["Hall", "Office", "-Cellar|1|2"])
        #expect(all.map(\.description.pattern?.major) == [1, 1, 2])
        #expect(all.map(\.description.pattern?.minor) == [nil, 7, 9])
        #expect(all.map(\.timestamp) == [1_708_625_501, 1_708_625_502, 1_708_625_503])
        #expect(all.map(\.leaveRule) == [nil, .after(.seconds(36_000)), nil])
        #expect(all.map(\.enterRSSI?.dBm) == [nil, nil, -70])
        #expect(all.map(\.leaveRSSI?.dBm) == [nil, nil, -80])
        #expect(all.last?.extensionMembers.contains(#""note":"kept""#) == true)
        #expect(state.snapshot.edits.map(\.tracker) == ["owntracks/jane/hall"])
        guard case .region(.set(let attic, _))? = state.snapshot.edits.first?.change else {
            Issue.record("the edit sets no region")
            return
        }
        #expect(attic.rid == "attic-1")
        #expect(transitions(state) == ["enter Hall", "enter Office", "leave Hall"].map { "owntracks/jane/hall \($0)" })
        let record = try #require(state.snapshot.presence)
        #expect(KeptPresence.readableVersions.contains(try #require(UInt8(exactly: record.version))))
        let presence = try #require(KeptPresence(bytes: record.state, changes: record.changes))
        #expect(presence.trackers == ["owntracks/jane/hall"])
        #expect(presence.occupancies.map(\.rid) == ["office-1"])
        #expect(try waiting(state).contains("owntracks/jane/hall/event transition leave Hall"))
    }

    @Test func `a location of a gateway is found, where its version kept locations`() throws {
        let locations = try open("gateway-82a7d5f").locations
        #expect(!locations.isEmpty)
        #expect(
            locations.allSatisfy {
                $0.coordinates == Coordinates(latitude: 48.2, longitude: 16.37) && $0.trigger == "b"
            })
    }

    @Test func `tags, learned rooms, history and waiting messages of a rooms service are found`() throws {
        let state = try open("rooms-82a7d5f")
        let tags = state.snapshot.regions["owntracks/jane/rooms-home"] ?? []
        #expect(tags.map(\.description.name) == ["Jane", "Keys"])
        #expect(tags.map(\.description.pattern?.minor) == [7, 8])
        let learned = try LearnedSite(JSONValue(parsing: try #require(state.snapshot.values["rooms.learned"])))
        #expect(learned.rooms.map(\.name.name).sorted() == ["Bath", "Hall", "Kitchen"])
        #expect(learned.gateways.map(\.name).sorted() == ["g0", "g1", "g2"])
        #expect(learned.rooms.first { $0.name.name == "Kitchen" }?.labelled.isEmpty == false)
        #expect(
            transitions(state) == ["enter Kitchen", "leave Kitchen", "enter Hall"].map { "owntracks/jane/jane \($0)" })
        #expect(try waiting(state).contains { $0.hasPrefix("ibeacon-rooms/home/tags") })
    }

    @Test(arguments: ["owntracks/jane/rooms-home", "owntracks/joe/rooms-home", "owntracks/joe/rooms-attic"])
    func `a rooms service goes on with the tags that were stored, and its list gets a version`(base: String) throws {
        let snapshot = try open("rooms-82a7d5f").snapshot
        var settings = SiteSettings()
        (settings.site, settings.instance) = ("home", "a")
        var site = Site(settings)
        let now = MonotonicInstant(nanoseconds: 1_000_000_000)
        let stored = StoredSite(
            snapshot.values, regions: snapshot.regions, ofService: base)
        for input in [.start(stored), .brokerConnected] as [Site.Input] { _ = site.handle(input, at: now) }
        let lists = site.handle(.tick, at: now.advanced(by: .seconds(1))).compactMap { effect in
            if case .send(.tags(let list)) = effect { list } else { nil }
        }
        #expect(site.role == .active && site.siteTags.list.question == nil)
        #expect(lists.last?.version == TagList.Version(1, "a"))
        #expect(lists.last?.beacons.map(\.minor) == [7, 8])
    }

    @Test func `of tags under several former topics none are taken, and no empty list replaces that of the site`()
        throws
    {
        let snapshot = try open("rooms-82a7d5f").snapshot
        var (regions, values) = (snapshot.regions, snapshot.values)
        regions["owntracks/ann/rooms-home"] = regions["owntracks/jane/rooms-home"]
        values["rooms.list"] = JSONValue.object(TagList.Version(7, "a").members).bytes
        var settings = SiteSettings()
        (settings.site, settings.instance) = ("home", "a")
        var site = Site(settings)
        let now = MonotonicInstant(nanoseconds: 1_000_000_000)
        let stored = StoredSite(values, regions: regions, ofService: "owntracks/joe/rooms-home")
        let effects = site.handle(.start(stored), at: now)
        #expect(site.tags.isEmpty && site.siteTags.list.isAwaited)
        // The next start must not take the empty list for the service's own.
        #expect(effects.allSatisfy { if case .store(.topic) = $0 { false } else { true } })
    }
}
