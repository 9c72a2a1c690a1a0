import Base
import Configuration
import JSON
import Rooms
import SiteCore
import SiteProtocol
import Testing

@Suite struct RetainedTopicsTests {
    /// What there is to publish, as words; a state that is removed is `-`.
    private func texts(_ changes: [(id: String, value: ExactString?)]) -> [String] {
        changes.map { "\($0.id) \($0.value?.text ?? "-")" }
    }

    @Test func `What the broker has is not published, what it lacks is, and what is gone is emptied`() {
        var states = RetainedStates<ExactString>()
        states.record("same", .value("1"))
        states.record("other", .value("1"))
        states.record("gone", .value("1"))
        let changes = states.update(to: [("same", "1"), ("new", "1"), ("other", "2")])
        #expect(texts(changes) == ["gone -", "new 1", "other 2"])
        #expect(states.update(to: [("same", "1"), ("new", "1"), ("other", "2")]).isEmpty)
    }

    @Test func `However much is retained below a site, it is remembered within a bound, and what is new is published`()
    {
        var states = RetainedStates<ExactString>()
        for number in 0..<2000 {
            states.record("t\(number)", .value(ExactString(String(repeating: "1", count: 10_000))))
        }
        var count = states.update(to: [("own", "1")]).count
        while states.hasObsolete { count += states.removals().count }
        #expect((50...(8 << 20) / 10_000 + 1).contains(count))
        #expect(states.update(to: [("own", "1")]).isEmpty)
    }

    @Test func `Many obsolete states go fifty at a time, except those that are published meanwhile`() throws {
        var states = RetainedStates<ExactString>()
        for number in 0..<120 { states.record("\(number)", .value("1")) }
        var ids = states.update(to: [("119", "1"), ("own", "1")]).map(\.id)
        #expect(ids.count == 51 && ids.last == "own")
        let anew = try #require((0..<119).map { "\($0)" }.first { !ids.contains($0) })
        states.record(anew, .value("2"))
        ids += states.removals().map(\.id)
        #expect(ids.count == 101 && states.hasObsolete)
        ids += states.removals().map(\.id)
        #expect(Set(ids) == Set((0..<119).map { "\($0)" } + ["own"]).subtracting([anew]) && ids.count == 119)
        #expect(!states.hasObsolete && states.removals().isEmpty)
        #expect(states.value(of: anew) == "2" && states.value(of: "119") == "1")
    }

    @Test func `A topic whose payload is not known keeps what it has`() {
        var states = RetainedStates<ExactString>()
        states.record("tag", .value("1"))
        #expect(states.update(to: [("tag", nil), ("absent", nil)]).isEmpty)
        #expect(states.value(of: "tag") == "1")
    }

    @Test func `A message that cannot be read is replaced, or emptied where no other is known`() {
        var states = RetainedStates<ExactString>()
        for id in ["a", "b", "c"] { states.record(id, .unreadable) }
        #expect(texts(states.update(to: [("a", "1"), ("b", nil)])) == ["c -", "a 1", "b -"])
    }

    @Test func `A message that was emptied by another is published anew`() {
        var states = RetainedStates<ExactString>()
        _ = states.update(to: [("a", "1")])
        states.record("a", .absent)
        #expect(texts(states.update(to: [("a", "1")])) == ["a 1"])
    }

    @Test func `Everything is published once more where that is asked for`() {
        var states = RetainedStates<ExactString>()
        _ = states.update(to: [("a", "1"), ("b", "1")])
        let again = states.update(to: [("a", "1"), ("b", "1")], isAgain: true)
        #expect(texts(again) == ["a 1", "b 1"])
    }
}

/// What a site says beside its decisions.
@Suite struct SiteStateTests {
    private static let beacon = "11112222-3333-4444-5555-666677778888"

    private func instant(_ seconds: Int) -> MonotonicInstant { .zero.advanced(by: .seconds(1000 + seconds)) }

    private func site() throws -> SiteHarness {
        let configuration = #"{"rooms":{"site":"home","tags":["Jane:\#(Self.beacon):1:7","Keys:\#(Self.beacon):1:8"]}}"#
        var settings = SiteSettings(try Configuration(parsing: configuration.utf8, hostName: "pi"))
        // Lower than those of a site. What a full table does depends only on that it is full.
        settings.bounds.gateways = 100
        var site = SiteHarness(settings)
        site.start(at: instant(0))
        return site
    }

    /// Largest number of cards.
    private func mostCards(_ site: SiteHarness) -> Int { site.core.whereabouts.gateways.most }

    private func handle(_ site: inout SiteHarness, _ topic: String, _ payload: String, at second: Int = 0) {
        _ = site.handle(
            topic, Array(payload.utf8), isRetained: topic.contains("gateway"), at: instant(second), epoch: 7)
    }

    /// Jane beside gateway `k`, for 20 s.
    private func stay(_ site: inout SiteHarness) {
        for second in 1...20 {
            handle(
                &site, "ibeacon-rooms/home/heard/k",
                #"{"v":1,"boot":"b","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":4,"beacons":[{"id":"\#(Self.beacon):1:7","n":3,"rssi":-50,"power":-59,"age":12}]}"#,
                at: second)
        }
    }

    @Test func `The state of a tag is what was published last, and nothing is said of a tag that was never heard`()
        throws
    {
        var site = try site()
        handle(&site, "ibeacon-rooms/home/gateway/k", #"{"v":1,"room":"Kitchen"}"#)
        stay(&site)
        let states = site.core.whereabouts.states.retained
        #expect(states.map(\.id) == ["jane", "keys"])
        #expect(states[0].value?.room?.id == "kitchen")
        #expect(states[1].value == nil)
    }

    @Test func `A broker that lost its database gets the location of a tag again, with the time of its decision`()
        throws
    {
        let configuration =
            #"{"lat":50,"lon":8,"rooms":{"site":"home","tags":["Jane:\#(Self.beacon):1:7"]}}"#
        var site = SiteHarness(SiteSettings(try Configuration(parsing: configuration.utf8, hostName: "pi")))
        site.start(at: instant(0))
        handle(&site, "ibeacon-rooms/home/gateway/k", #"{"v":1,"room":"Kitchen"}"#)
        stay(&site)
        let since = try #require(site.core.whereabouts.states.retained[0].value?.since)
        func topics(after start: Int, retaining state: [UInt8]?) throws -> [String] {
            _ = site.handle(.brokerDisconnected, at: instant(start))
            _ = site.handle(.brokerConnected, at: instant(start))
            if let state {
                _ = site.handle("ibeacon-rooms/home/tag/jane", state, isRetained: true, at: instant(start), epoch: 7)
            }
            let messages = site.tick(at: instant(start + 10), epoch: 7)
            for message in messages where message.topic.hasSuffix("/jane") && message.topic.hasPrefix("owntracks/") {
                #expect(try JSONValue(parsing: message.payload)["tst"] == .integer(since))
            }
            return messages.map(\.topic).filter { $0.hasSuffix("/jane") }.sorted()
        }
        #expect(try topics(after: 30, retaining: nil) == ["ibeacon-rooms/home/tag/jane", "owntracks/rooms-home/jane"])
        let state = try #require(site.core.whereabouts.states.retained[0].value?.json.bytes)
        #expect(try topics(after: 60, retaining: state).isEmpty)
    }

    @Test func `A room is published when its gateway counts, with no tag in it`() throws {
        var site = try site()
        handle(&site, "ibeacon-rooms/home/gateway/k", #"{"v":1,"room":"Kitchen"}"#)
        #expect(site.core.whereabouts.states.retained(site.core.engine.trustedRooms).isEmpty)
        for second in 1...3 {
            handle(
                &site, "ibeacon-rooms/home/heard/k",
                #"{"v":1,"boot":"b","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":4,"beacons":[]}"#,
                at: second)
        }
        let rooms = site.core.whereabouts.states.retained(site.core.engine.trustedRooms)
        #expect(rooms.map(\.id) == ["kitchen"])
        #expect(rooms[0].value?.payload == Array(#"{"count":0,"name":"Kitchen","tags":[]}"#.utf8))
    }

    @Test func `A gateway with an emptied card is forgotten, and so is its room`() throws {
        var site = try site()
        handle(&site, "ibeacon-rooms/home/gateway/k", #"{"v":1,"room":"Kitchen"}"#)
        #expect(site.core.whereabouts.gateways.cards["k"] != nil)
        handle(&site, "ibeacon-rooms/home/gateway/k", "")
        #expect(
            site.core.whereabouts.gateways.cards["k"] == nil
                && site.core.whereabouts.states.retained(site.core.engine.trustedRooms).isEmpty)
        #expect(site.core.engine.plan.gatewayHealth(at: instant(0), connected: instant(0)).isEmpty)
    }

    @Test func `A gateway whose room the configuration says stays without a card`() throws {
        let configuration = #"{"rooms":{"site":"home","gateways":{"k":"Kitchen"}}}"#
        var site = SiteHarness(SiteSettings(try Configuration(parsing: configuration.utf8, hostName: "pi")))
        site.start(at: instant(0))
        handle(&site, "ibeacon-rooms/home/gateway/k", "")
        #expect(site.core.whereabouts.states.retained(site.core.engine.trustedRooms).map(\.id) == ["kitchen"])
    }

    @Test(arguments: [
        ("living_room", "living_room"), ("attic.2", "attic.2"), ("my pi", "my pi"), ("a/b%c+d", "a%2Fb%25c%2Bd"),
    ])
    func `The configuration and the availability of a gateway have its deviceId, its other topics the identifier`(
        device: String, level: String
    ) throws {
        let configuration = #"{"rooms":{"site":"home","gateways":{"\#(device)":"Attic"}}}"#
        var site = SiteHarness(SiteSettings(try Configuration(parsing: configuration.utf8, hostName: "pi")))
        site.start(at: instant(0))
        let gateway = TopicIdentifier.identifier(of: device)
        #expect(gateway != device)
        handle(&site, "ibeacon-rooms/home/gateway/\(gateway)", #"{"v":1,"room":"Kitchen"}"#)
        handle(&site, "ibeacon-gateway/\(level)/availability", "offline")
        let health = site.core.engine.plan.gatewayHealth(at: instant(0), connected: instant(0))
        let own = try #require(health.first { $0.name == gateway })
        #expect(own.room.name == "Attic" && own.trouble == .offline)
    }

    @Test
    func `A deviceId in the configuration makes no gateway besides the one that is heard, before or after a restart`()
        throws
    {
        let configuration = #"{"rooms":{"site":"home","gateways":{"living_room":"Lounge"}}}"#
        let settings = SiteSettings(try Configuration(parsing: configuration.utf8, hostName: "pi"))
        var site = SiteHarness(settings)
        site.start(at: instant(0))
        #expect(site.core.engine.plan.gatewayReports.isEmpty)
        for second in 1...5 {
            handle(&site, "ibeacon-rooms/home/gateway/living_5froom", #"{"v":1,"room":"Kitchen"}"#)
            let heard = HeardSecond(
                startID: "b", sequence: Int64(second), at: .seconds(second), listening: .seconds(1), reports: 4,
                readings: [])
            _ = site.handle(
                .message(.heard(gateway: "living_5froom", heard), isRetained: false), at: instant(second))
        }
        var next = SiteHarness(settings)
        next.start(learned: site.core.engine.plan.learned, at: instant(0))
        for core in [site.core, next.core] {
            #expect(core.engine.plan.gatewayReports.map(\.name) == ["living_5froom"])
            #expect(core.engine.plan.gatewayReports.map(\.room?.name) == ["Lounge"])
        }
    }

    @Test func `A gateway that the broker calls offline before its card comes is offline`() throws {
        var site = try site()
        handle(&site, "ibeacon-gateway/k/availability", "offline")
        handle(&site, "ibeacon-rooms/home/gateway/k", #"{"v":1,"room":"Kitchen"}"#)
        let report = try #require(site.core.engine.plan.gatewayHealth(at: instant(0), connected: instant(0)).first)
        #expect(report.trouble == .offline && !report.isListening)
    }

    @Test func `However many invented gateways have cards or are offline, those of a real one are known`() throws {
        var site = try site()
        for number in 0..<mostCards(site) + 100 {
            handle(&site, "ibeacon-gateway/junk\(number)/availability", "offline")
            handle(&site, "ibeacon-rooms/home/gateway/junk\(number)", #"{"v":1,"room":"Junk"}"#)
        }
        handle(&site, "ibeacon-gateway/k/availability", "offline")
        handle(&site, "ibeacon-rooms/home/gateway/k", #"{"v":1,"room":"Kitchen"}"#)
        #expect(
            site.core.whereabouts.gateways.cards["k"]?.room?.name == "Kitchen"
                && site.core.whereabouts.gateways.cards.count == mostCards(site))
        let health = site.core.engine.plan.gatewayHealth(at: instant(0), connected: instant(0))
        #expect(health.first { $0.name == "k" }?.trouble == .offline)
    }

    @Test func `A gateway whose place another took is in its room again with its next message`() throws {
        var site = try site()
        handle(&site, "ibeacon-rooms/home/gateway/k", #"{"v":1,"room":"Kitchen"}"#)
        for number in 0..<mostCards(site) / 2 + 50 {
            handle(&site, "ibeacon-rooms/home/gateway/junk\(number)", #"{"v":1,"room":"Kitchen"}"#)
        }
        #expect(!site.core.engine.plan.hasRoom(gateway: "k"))
        stay(&site)
        #expect(site.core.whereabouts.states.retained[0].value?.room?.id == "kitchen")
    }

    @Test func `Where invented cards left no place for that of a gateway, it is fetched again once the gateway counts`()
        throws
    {
        var site = try site()
        _ = site.handle(.brokerConnected, at: instant(0))
        for number in 0...mostCards(site) {
            handle(&site, "ibeacon-rooms/home/gateway/junk\(number)", #"{"v":1,"room":"Kitchen"}"#)
        }
        #expect(fetches(&site, seconds: 1...2) == 0, "it does not count yet")
        #expect(fetches(&site, seconds: 3...9) == 1)
        handle(&site, "ibeacon-rooms/home/gateway/k", #"{"v":1,"room":"Kitchen"}"#)
        #expect(site.core.engine.plan.hasRoom(gateway: "k"))
        #expect(fetches(&site, seconds: 10...12) == 0)
    }

    @Test func `A gateway that counts and has no card causes nothing if no card was dropped`() throws {
        var site = try site()
        _ = site.handle(.brokerConnected, at: instant(0))
        #expect(fetches(&site, seconds: 1...9) == 0)
    }

    /// How often the cards are asked for while gateway `k` sends.
    private func fetches(_ site: inout SiteHarness, seconds: ClosedRange<Int>) -> Int {
        var count = 0
        for second in seconds {
            let heard = HeardSecond(
                startID: "b", sequence: Int64(second), at: .seconds(second), listening: .seconds(1), reports: 4,
                readings: [])
            for effect in site.handle(.message(.heard(gateway: "k", heard), isRetained: false), at: instant(second)) {
                if case .cardMissing = effect { count += 1 }
            }
        }
        return count
    }
}
