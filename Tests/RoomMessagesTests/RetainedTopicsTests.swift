import Base
import JSON
import RoomMessages
import Rooms
import SiteProtocol
import Testing

@Suite struct RetainedTopicsTests {
    private func payload(_ text: String) -> [UInt8] { Array(text.utf8) }

    private func texts(_ messages: [RoomMessage]) -> [String] {
        messages.map { "\($0.topic) \(String(decoding: $0.payload, as: UTF8.self))" }
    }

    @Test func `What the broker has is not published, what it lacks is, and what is gone is emptied`() {
        var topics = RetainedTopics()
        topics.record("same", payload("1"))
        topics.record("other", payload("1"))
        topics.record("gone", payload("1"))
        let messages = topics.update(to: [("same", payload("1")), ("new", payload("1")), ("other", payload("2"))])
        #expect(texts(messages) == ["gone ", "new 1", "other 2"])
        #expect(messages.allSatisfy { $0.isRetained && $0.qos == 1 })
        #expect(topics.update(to: [("same", payload("1")), ("new", payload("1")), ("other", payload("2"))]).isEmpty)
    }

    @Test func `However much is retained below a site, it is remembered within a bound, and what is new is published`()
    {
        var topics = RetainedTopics()
        for number in 0..<2000 { topics.record("t\(number)", [UInt8](repeating: 1, count: 10_000)) }
        #expect(topics.update(to: [("own", payload("1"))]).count <= (8 << 20) / 10_000 + 1)
        #expect(topics.update(to: [("own", payload("1"))]).isEmpty)
    }

    @Test func `A topic whose payload is not known keeps what it has`() {
        var topics = RetainedTopics()
        topics.record("tag", payload("1"))
        #expect(topics.update(to: [("tag", nil), ("absent", nil)]).isEmpty)
        #expect(topics.payload(of: "tag") == payload("1"))
    }

    @Test func `A message that was emptied by another is published anew`() {
        var topics = RetainedTopics()
        _ = topics.update(to: [("a", payload("1"))])
        topics.record("a", [])
        #expect(texts(topics.update(to: [("a", payload("1"))])) == ["a 1"])
    }

    @Test func `Everything is published once more where that is asked for`() {
        var topics = RetainedTopics()
        _ = topics.update(to: [("a", payload("1")), ("b", payload("1"))])
        let again = topics.update(to: [("a", payload("1")), ("b", payload("1"))], isAgain: true)
        #expect(texts(again) == ["a 1", "b 1"])
    }
}

/// What a site says beside its decisions.
@Suite struct SiteStateTests {
    private static let beacon = "11112222-3333-4444-5555-666677778888"

    private func instant(_ seconds: Int) -> MonotonicInstant { .zero.advanced(by: .seconds(1000 + seconds)) }

    private func site() throws -> RoomSite {
        let configuration = #"{"rooms":{"site":"home","tags":["Jane:\#(Self.beacon):1:7","Keys:\#(Self.beacon):1:8"]}}"#
        var site = RoomSite(try RoomSettings(configuration: try JSONValue(parsing: Array(configuration.utf8))))
        site.start(at: instant(0))
        return site
    }

    private func handle(_ site: inout RoomSite, _ topic: String, _ payload: String, at second: Int = 0) {
        _ = site.handle(
            topic, Array(payload.utf8), isRetained: topic.contains("gateway"), at: instant(second), epoch: 7)
    }

    /// Jane beside gateway `k`, for 20 s.
    private func stay(_ site: inout RoomSite) {
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
        let states = site.retainedTags
        #expect(states.map(\.topic) == ["ibeacon-rooms/home/tag/jane", "ibeacon-rooms/home/tag/keys"])
        #expect(states[0].payload.map { String(decoding: $0, as: UTF8.self).contains(#""room":"kitchen""#) } == true)
        #expect(states[1].payload == nil)
    }

    @Test func `A room is known by its gateway from the start, with no tag in it`() throws {
        var site = try site()
        handle(&site, "ibeacon-rooms/home/gateway/k", #"{"v":1,"room":"Kitchen"}"#)
        let rooms = site.retainedRooms
        #expect(rooms.map(\.topic) == ["ibeacon-rooms/home/room/kitchen"])
        #expect(rooms[0].payload == Array(#"{"count":0,"name":"Kitchen","tags":[]}"#.utf8))
    }

    @Test func `A gateway with an emptied card is forgotten, and so is its room`() throws {
        var site = try site()
        handle(&site, "ibeacon-rooms/home/gateway/k", #"{"v":1,"room":"Kitchen"}"#)
        #expect(site.hasCard("k"))
        handle(&site, "ibeacon-rooms/home/gateway/k", "")
        #expect(!site.hasCard("k") && site.retainedRooms.isEmpty)
        #expect(site.engine.gatewayHealth(at: instant(0), connected: instant(0)).isEmpty)
    }

    @Test func `A gateway whose room the configuration says stays without a card`() throws {
        let configuration = #"{"rooms":{"site":"home","gateways":{"k":"Kitchen"}}}"#
        var site = RoomSite(try RoomSettings(configuration: try JSONValue(parsing: Array(configuration.utf8))))
        site.start(at: instant(0))
        handle(&site, "ibeacon-rooms/home/gateway/k", "")
        #expect(site.retainedRooms.map(\.topic) == ["ibeacon-rooms/home/room/kitchen"])
    }

    @Test func `A gateway that the broker calls offline before its card comes is offline`() throws {
        var site = try site()
        handle(&site, "ibeacon-gateway/k/availability", "offline")
        handle(&site, "ibeacon-rooms/home/gateway/k", #"{"v":1,"room":"Kitchen"}"#)
        let report = try #require(site.engine.gatewayHealth(at: instant(0), connected: instant(0)).first)
        #expect(report.trouble == .offline && !report.isListening)
    }
}
