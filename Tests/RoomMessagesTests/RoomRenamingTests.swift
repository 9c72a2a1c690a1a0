import Base
import Rooms
import SiteCore
import SiteProtocol
import Testing

/// What a site publishes when a trained room gets another name.
@Suite struct RoomRenamingTests {
    private func instant(_ second: Int) -> MonotonicInstant { .zero.advanced(by: .seconds(second)) }

    /// For some seconds the gateway `h` hears the tag better than `k`.
    private func stay(_ site: inout SiteHarness, _ seconds: ClosedRange<Int>) -> [Publication] {
        seconds.flatMap { second in
            var messages: [Publication] = []
            for (gateway, level) in [("h", -50), ("k", -80)] {
                let payload =
                    #"{"v":1,"boot":"b","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":4,"beacons":[{"id":"\#(SiteFleet.uuid):1:7","n":3,"rssi":\#(level),"max":\#(level),"power":-59,"age":12}]}"#
                messages += site.handle(
                    "ibeacon-rooms/home/heard/\(gateway)", Array(payload.utf8), isRetained: false,
                    at: instant(second), epoch: 1_700_000_000 + Int64(second))
            }
            return messages + site.tick(at: instant(second), epoch: 1_700_000_000 + Int64(second))
        }
    }

    @Test
    func
        `The tag leaves the former name and enters the new one; the former is emptied at the broker, and the names are stored`()
        throws
    {
        var settings = SiteSettings()
        settings.site = "home"
        settings.tags = [SiteFleet.change("Jane:7")]
        var site = SiteHarness(settings)
        site.start(at: instant(0))
        _ = site.handle(.brokerConnected, at: instant(0))
        func place(_ gateway: String, _ room: String, at second: Int) -> [Publication] {
            site.handle(
                "ibeacon-rooms/home/gateway/\(gateway)", Array(#"{"v":1,"room":"\#(room)"}"#.utf8), isRetained: false,
                at: instant(second), epoch: 1_700_000_000 + Int64(second))
        }
        _ = place("h", "Hall", at: 0) + place("k", "Kitchen", at: 0)
        _ = stay(&site, 1...20)
        _ = site.handle(
            .message(.learn(.train(room: "Hall", tag: "jane", .seconds(30))), isRetained: false), at: instant(20))
        _ = stay(&site, 21...60)
        #expect(site.core.roster.states[0].room?.name == "Hall")
        let messages = place("h", "Lounge", at: 61)
        let texts = messages.map { "\($0.topic) \($0.text)" }
        let leave = try #require(
            texts.firstIndex { $0.contains("/event") && $0.contains("leave") && $0.contains("Hall") })
        let enter = try #require(
            texts.firstIndex { $0.contains("/event") && $0.contains("enter") && $0.contains("Lounge") })
        #expect(leave < enter)
        #expect(texts.contains("ibeacon-rooms/home/room/hall "))
        #expect(texts.contains { $0.hasPrefix("ibeacon-rooms/home/room/lounge ") && $0.contains("Jane") })
        #expect(site.core.roster.states[0].room?.id == "lounge")
        // It stays where it is.
        #expect(!stay(&site, 62...90).contains { $0.topic.hasSuffix("/event") })
    }

    @Test func `A service of several stores what it learned at once, with the new name`() {
        var settings = SiteSettings()
        (settings.site, settings.tags) = ("home", [SiteFleet.change("Jane:7")])
        var site = SiteHarness(settings, isStandby: true)
        site.start(at: instant(0))
        _ = site.handle(.brokerConnected, at: instant(0))
        for (gateway, room) in [("h", "Hall"), ("k", "Kitchen")] {
            _ = site.handle(
                .message(.card(gateway: gateway, GatewayCard(room: room)), isRetained: false), at: instant(0))
        }
        _ = stay(&site, 1...20)
        _ = site.handle(
            .message(.learn(.train(room: "Hall", tag: "jane", .seconds(30))), isRetained: false), at: instant(20))
        _ = stay(&site, 21...60)
        let effects = site.handle(
            .message(.card(gateway: "h", GatewayCard(room: "Lounge")), isRetained: false), at: instant(61))
        let names = effects.compactMap { effect -> [String]? in
            guard case .store(.learned(let source)) = effect else { return nil }
            return source.site.rooms.map(\.name.name).sorted()
        }
        #expect(names == [["Kitchen", "Lounge"]])
    }
}
