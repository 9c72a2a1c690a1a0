import Base
import Configuration
import JSON
import Rooms
import SiteCore
import SiteProtocol
import Testing

/// A service that goes on from what was kept.
@Suite struct RoomRestartTests {
    private static let beacon = "11112222-3333-4444-5555-666677778888"

    private func instant(_ seconds: Double) -> MonotonicInstant { .zero.advanced(by: .seconds(1000 + seconds)) }

    private func settings() throws -> SiteSettings {
        SiteSettings(
            try Configuration(
                parsing:
                    #"{"rooms":{"site":"home","tags":["Jane:\#(Self.beacon):1:7"],"gateways":{"k":"Kitchen","h":"Hall"}}}"#
                    .utf8, hostName: "pi"))
    }

    private func heard(_ site: inout SiteHarness, _ gateway: String, _ level: Int, second: Int) -> [Publication] {
        let payload =
            #"{"v":1,"boot":"b","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":4,"beacons":[{"id":"\#(Self.beacon):1:7","n":3,"rssi":\#(level),"power":-59,"age":12}]}"#
        return site.handle(
            "ibeacon-rooms/home/heard/\(gateway)", Array(payload.utf8), isRetained: false,
            at: instant(Double(second)), epoch: 1_700_000_000)
    }

    private func rooms(_ messages: [Publication]) -> [String] {
        messages.filter { $0.topic.contains("/tag/") }.map { message in
            (try? JSONValue(parsing: message.payload))?["roomName"]?.string ?? "none"
        }
    }

    /// The tag has been in the kitchen for a while.
    private func walked() throws -> (site: SiteHarness, messages: [Publication]) {
        var site = SiteHarness(try settings())
        site.start(at: instant(0))
        var messages: [Publication] = []
        for second in 1..<30 {
            messages += heard(&site, "k", -50, second: second)
            messages += heard(&site, "h", -80, second: second)
        }
        return (site, messages)
    }

    @Test func `A tag that stayed is not reported again`() throws {
        let before = try walked()
        #expect(rooms(before.messages) == ["none", "Kitchen"], "\(before.messages.map(\.topic))")
        let state = try #require(before.messages.last { $0.topic == "ibeacon-rooms/home/tag/jane" })
        var site = SiteHarness(try settings())
        site.start(learned: before.site.core.engine.plan.learned, reported: ["jane": state.payload], at: instant(0))
        var messages: [Publication] = []
        for second in 1..<30 {
            messages += heard(&site, "k", -50, second: second)
            messages += heard(&site, "h", -80, second: second)
        }
        #expect(messages.isEmpty)
    }

    /// A state of the tag as it is published.
    private func state(_ room: String, since: Int) -> [UInt8] {
        Array(
            #"{"name":"Jane","room":"\#(room.lowercased())","roomName":"\#(room)","since":\#(since),"confidence":1,"home":true}"#
                .utf8)
    }

    /// A standby that hears of the tag as the active service does, from this second on, and takes over at the last.
    private func standby(hearing seconds: Range<Int>) throws -> (site: SiteHarness, messages: [Publication]) {
        var site = SiteHarness(try settings(), isStandby: true)
        site.start(at: instant(0))
        site.hearActive(at: instant(0))
        _ = site.handle(
            "ibeacon-rooms/home/tag/jane", state("Kitchen", since: 1_700_000_000), isRetained: false, at: instant(0),
            epoch: 1_700_000_000)
        for second in seconds {
            _ = heard(&site, "k", -50, second: second)
            _ = heard(&site, "h", -80, second: second)
        }
        let begin = site.takeOver(at: instant(Double(seconds.upperBound)), epoch: 1_700_000_001)
        return (site, begin)
    }

    @Test(arguments: [1..<1, 1..<2, 1..<3, 1..<20])
    func `A standby that takes over before it has decided does not report the tag out of its room`(
        _ seconds: Range<Int>
    )
        throws
    {
        var (site, messages) = try standby(hearing: seconds)
        for second in seconds.upperBound..<seconds.upperBound + 30 {
            messages += heard(&site, "k", -50, second: second)
            messages += heard(&site, "h", -80, second: second)
        }
        #expect(rooms(messages).isEmpty, "\(rooms(messages))")
    }

    @Test func `A tag that left before a standby heard anything of it is away after it has taken over`() throws {
        var (site, messages) = try standby(hearing: 1..<1)
        for second in 1..<300 {
            for gateway in ["k", "h"] {
                let payload =
                    #"{"v":1,"boot":"b","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":4,"beacons":[]}"#
                messages +=
                    site.handle(
                        "ibeacon-rooms/home/heard/\(gateway)", Array(payload.utf8), isRetained: false,
                        at: instant(Double(second)), epoch: 1_700_000_000)
            }
            messages += site.tick(at: instant(Double(second)), epoch: 1_700_000_000)
        }
        #expect(rooms(messages) == ["none"], "\(rooms(messages))")
    }

    @Test func `A decision whose messages have not left the outbox is not made again`() throws {
        var site = SiteHarness(try settings(), isStandby: true)
        site.start(reported: ["jane": state("Hall", since: 1_700_000_010)], at: instant(0))
        // The broker has the state of before.
        _ = site.handle(
            "ibeacon-rooms/home/tag/jane", state("Kitchen", since: 1_700_000_000), isRetained: true, at: instant(1),
            epoch: 1_700_000_012)
        #expect(site.takeOver(at: instant(2), epoch: 1_700_000_013).isEmpty)
    }

    @Test(arguments: [
        (isRetained: false, hasActive: true, room: "Kitchen"), (true, true, "Hall"), (false, false, "Hall"),
    ])
    func `A state of another service counts only if it arrives live while that service is active`(
        _ case: (isRetained: Bool, hasActive: Bool, room: String)
    ) throws {
        var site = SiteHarness(try settings(), isStandby: true)
        site.start(reported: ["jane": state("Hall", since: 1_700_000_010)], at: instant(0))
        if `case`.hasActive { site.hearActive(at: instant(0)) }
        _ = site.handle(
            "ibeacon-rooms/home/tag/jane", state("Kitchen", since: 1_700_000_020), isRetained: `case`.isRetained,
            at: instant(1), epoch: 1_700_000_031)
        #expect(site.core.roster.states[0].room?.name == `case`.room)
    }

    @Test(arguments: [false, true])
    func `A standby stores what the active service decided, if it has a list of tags of its own`(hasList: Bool) throws {
        var site = SiteHarness(try settings(), isStandby: true)
        site.start(
            reported: hasList ? ["jane": state("Hall", since: 1_700_000_010)] : [:], at: instant(0))
        site.hearActive(at: instant(0))
        let other = try #require(PublishedTag(state("Kitchen", since: 1_700_000_020)))
        let effects = site.handle(.message(.tag(id: "jane", .value(other)), isRetained: false), at: instant(1))
        let stored = effects.compactMap { effect in
            if case .store(.tag(_, let state)) = effect { state?.room?.name } else { nil }
        }
        #expect(stored == (hasList ? ["Kitchen"] : []))
    }

    /// The rooms that transitions name, with their events.
    private func events(_ messages: [Publication]) -> [String] {
        messages.filter { $0.topic.hasSuffix("/event") }.compactMap { message in
            guard let json = try? JSONValue(parsing: message.payload) else { return nil }
            return "\(json["event"]?.string ?? "") \(json["desc"]?.string ?? "")"
        }
    }

    @Test(arguments: [true, false])
    func `A forged state leads to no event of its room, at a restart and at a takeover`(isRestart: Bool) throws {
        var site = SiteHarness(try settings(), isStandby: true)
        site.start(
            reported: isRestart ? ["jane": state("Kitchen", since: 1_700_000_000)] : [:], at: instant(0))
        if !isRestart { site.hearActive(at: instant(0)) }
        _ = site.handle(
            "ibeacon-rooms/home/tag/jane", state("Vault", since: 1 << 62), isRetained: true, at: instant(0),
            epoch: 1_700_000_010)
        for second in 1..<20 {
            _ = heard(&site, "k", -50, second: second)
            _ = heard(&site, "h", -80, second: second)
        }
        var messages = site.takeOver(at: instant(20), epoch: 1_700_000_030)
        for second in 20..<40 {
            messages += heard(&site, "k", -80, second: second)
            messages += heard(&site, "h", -50, second: second)
        }
        let first = isRestart ? [] : ["enter Kitchen"]
        #expect(events(messages) == first + ["leave Kitchen", "enter Hall"])
    }

    @Test func `Whatever times a forged state has, it keeps them when the time of day is set`() throws {
        var site = SiteHarness(try settings(), isStandby: true)
        // Its time is not known yet.
        site.start(reported: ["jane": state("Hall", since: 0)], at: instant(0))
        site.hearActive(at: instant(0))
        var forged = PublishedTag(name: "Jane", since: .min)
        forged.lastHeard = .max
        _ = site.handle(.message(.tag(id: "jane", .value(forged)), isRetained: false), at: instant(1))
        _ = site.handle(.wallClock(WallClock(epochOffset: 1 << 60, isKnown: true)), at: instant(2))
        #expect(site.core.roster.states == [forged])
    }

    @Test func `A tag that went meanwhile is reported away`() throws {
        let state = try #require(try walked().messages.last { $0.topic == "ibeacon-rooms/home/tag/jane" })
        var site = SiteHarness(try settings())
        site.start(reported: ["jane": state.payload], at: instant(0))
        var messages: [Publication] = []
        for second in 1..<200 {
            for gateway in ["k", "h"] {
                let payload =
                    #"{"v":1,"boot":"b","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":4,"beacons":[]}"#
                messages +=
                    site.handle(
                        "ibeacon-rooms/home/heard/\(gateway)", Array(payload.utf8), isRetained: false,
                        at: instant(Double(second)), epoch: 0)
            }
            messages += site.tick(at: instant(Double(second) + 0.5), epoch: 0)
        }
        let states = messages.filter { $0.topic.contains("/tag/") }.map { String(decoding: $0.payload, as: UTF8.self) }
        #expect(states.count == 1)
        #expect(states.first?.contains(#""home":false"#) == true)
    }

    @Test func `What was learned comes back as it was, by way of JSON`() throws {
        let source = try walked().site.core.engine.plan.learnedSource
        let learned = source.site
        #expect(source.bytes == learned.json.bytes)
        #expect(learned.rooms.contains { $0.own.seconds > 0 && !$0.own.cells.isEmpty })
        let read = try LearnedSite(try JSONValue(parsing: learned.json.bytes))
        #expect(read == learned)
        var site = SiteHarness(try settings())
        site.start(learned: read, at: instant(0))
        #expect(site.core.engine.plan.learned.rooms.map(\.own) == learned.rooms.map(\.own))
    }

    @Test(
        arguments: [
            "{}", "[]", #"{"v":2,"gateways":[],"rooms":[]}"#, #"{"v":1,"gateways":[1],"rooms":[]}"#,
            #"{"v":1,"gateways":[],"rooms":[{"id":"a/b","name":"A","labelled":[],"own":{"seconds":0,"gateways":[]}}]}"#,
            #"{"v":1,"gateways":[],"rooms":[{"id":"a","name":"A","labelled":[[1,2]],"own":{"seconds":0,"gateways":[]}}]}"#,
            #"{"v":1,"gateways":[],"rooms":[{"id":"a","name":"A","labelled":[],"own":[]}]}"#,
            #"{"v":1,"gateways":[],"rooms":[{"id":"a","name":"A","labelled":[],"own":{"seconds":1,"gateways":[[0,1]]}}]}"#,
            #"{"v":1,"gateways":[],"rooms":[{"id":"a","name":"A","labelled":[],"own":{"seconds":0,"gateways":[]},"exits":[[1]]}]}"#,
        ])
    func `What is damaged is refused with a reason`(_ text: String) throws {
        let json = try JSONValue(parsing: Array(text.utf8))
        #expect(throws: FeedError.self) { try LearnedSite(json) }
    }

    @Test func `A standby publishes nothing, and when it takes over only what differs from what the other published`()
        throws
    {
        var site = SiteHarness(try settings(), isStandby: true)
        site.start(at: instant(0))
        for second in 1..<30 {
            #expect(heard(&site, "k", -50, second: second).isEmpty)
            #expect(heard(&site, "h", -80, second: second).isEmpty)
        }
        let other = try #require(try walked().messages.last { $0.topic == "ibeacon-rooms/home/tag/jane" })
        var agreeing = site
        _ = agreeing.handle(other.topic, other.payload, isRetained: true, at: instant(30), epoch: 0)
        #expect(agreeing.takeOver(at: instant(31), epoch: 0).isEmpty)
        #expect(rooms(site.takeOver(at: instant(31), epoch: 0)) == ["Kitchen"])
    }
}
