import Base
import Beacon
import OwnTracks
import Rooms
import SiteCore
import SiteProtocol
import Testing

/// The core of the rooms service by itself.
@Suite struct SiteTests {
    private func instant(_ seconds: Int) -> MonotonicInstant { .zero.advanced(by: .seconds(1000 + seconds)) }

    private func site(instance: String? = nil) -> Site {
        var settings = SiteSettings()
        settings.instance = instance
        settings.gateways = ["h": "Hall", "k": "Kitchen"]
        var site = Site(settings, wallClock: WallClock(epochOffset: 0, isKnown: true))
        _ = site.handle(.start(StoredSite()), at: instant(0))
        return site
    }

    private func storesLearned(_ effects: [Site.Effect]) -> Bool {
        effects.contains { if case .store(.learned) = $0 { true } else { false } }
    }

    @Test func `One change of room is one decision: visits, messages, what is stored, and a line of the log`() throws {
        var site = site()
        let beacon = try #require(BeaconID("11112222-3333-4444-5555-666677778888:1:7"))
        let list = ReceivedTagList(TagList([beacon]).payload)
        _ = site.handle(.message(.tags(list), isRetained: true), at: instant(0))
        var decisions: [[String]] = []
        for second in 1..<60 {
            for gateway in ["k", "h"] {
                let isNear = (gateway == "k") == (second < 30)
                let reading = Reading(beacon: beacon, count: 3, level: isNear ? -50 : -80, power: -59, age: .zero)
                let heard = HeardSecond(
                    boot: "b", sequence: Int64(second), at: .seconds(second), listening: .seconds(1), reports: 4,
                    readings: [reading])
                let effects = site.handle(
                    .message(.heard(gateway: gateway, heard), isRetained: false), at: instant(second))
                if !effects.isEmpty { decisions.append(effects.map(Self.word)) }
            }
        }
        #expect(
            decisions.last == [
                "ends kitchen", "begins hall", "created", "leave", "enter", "location", "tag", "stored", "log",
                "room kitchen", "room hall",
            ], "\(decisions)")
    }

    private static func word(_ effect: Site.Effect) -> String {
        switch effect {
        case .record(let visit): "\(visit.event) \(visit.room.id)"
        case .publish(.transition(_, let transition)): transition.event.rawValue
        case .publish(.location): "location"
        case .publish(.tag): "tag"
        case .publish(.room(let id, _)): "room \(id)"
        case .store(.created): "created"
        case .store(.tag): "stored"
        case .log: "log"
        default: "\(effect)"
        }
    }

    @Test func `Everything is stored again after the store gave up a write, once and not at once`() {
        var site = site()
        #expect(site.handle(.checkpoint, at: instant(1)).isEmpty)
        #expect(site.handle(.writeLost, at: instant(2)).isEmpty)
        let effects = site.handle(.checkpoint, at: instant(60))
        #expect(effects.contains { if case .regions = $0 { true } else { false } })
        #expect(storesLearned(effects))
        #expect(site.handle(.checkpoint, at: instant(120)).isEmpty)
    }

    @Test func `A deletion of what was learned is stored at once, further ones five seconds later at the latest`() {
        var site = site(instance: "b")
        let forget = Site.Input.message(.learn(.forget(room: "Hall")), isRetained: false)
        #expect(storesLearned(site.handle(forget, at: instant(0))))
        for second in 1...4 { #expect(!storesLearned(site.handle(forget, at: instant(second)))) }
        #expect(site.nextDeadline == instant(5))
        #expect(storesLearned(site.handle(.tick, at: instant(5))))
        #expect(!storesLearned(site.handle(.tick, at: instant(800))))
        #expect(storesLearned(site.handle(.tick, at: instant(905))))
    }

    @Test func `Without another service it is active, beside others it waits for what is known of them`() {
        #expect(site().role == .active && site().isActive)
        #expect(site(instance: "b").role == .listening && !site(instance: "b").isActive)
    }
}
