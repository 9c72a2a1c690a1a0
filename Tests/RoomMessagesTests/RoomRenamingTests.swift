import Base
import JSON
import Rooms
import RoomsSupport
import SiteCore
import SiteProtocol
import Testing

/// What a site publishes when a trained room gets another name.
@Suite struct RoomRenamingTests {
    private func instant(_ second: Int) -> MonotonicInstant { .zero.advanced(by: .seconds(second)) }

    /// For some seconds the gateway `h` hears the tag better than `k`.
    private func stay(
        _ site: inout SiteHarness, _ seconds: ClosedRange<Int>,
        heardBy levels: [(String, Int)] = [("h", -50), ("k", -80)]
    ) -> [Publication] {
        seconds.flatMap { second in
            var messages: [Publication] = []
            for (gateway, level) in levels {
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
            .message(.learn(.train(room: .named("Hall"), tag: "jane", .seconds(30))), isRetained: false),
            at: instant(20))
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

    /// Its card says so when it is back: a minute later, after a night, after two days.
    @Test(arguments: [60, 30_000, 180_000])
    func `A room that gets another name while its gateway is offline keeps its training and its tag`(away: Int) throws {
        var settings = SiteSettings()
        (settings.site, settings.tags) = ("home", [SiteFleet.change("Jane:7")])
        var site = SiteHarness(settings)
        site.start(at: instant(0))
        _ = site.handle(.brokerConnected, at: instant(0))
        _ = say(&site, "h", "Hall", at: 0) + say(&site, "k", "Kitchen", at: 0)
        _ = stay(&site, 1...20)
        _ = site.handle(
            .message(.learn(.train(room: .named("Hall"), tag: "jane", .seconds(30))), isRetained: false),
            at: instant(20))
        _ = stay(&site, 21...60)
        func availability(_ text: String, at second: Int) {
            _ = site.handle(
                "ibeacon-gateway/h/availability", Array(text.utf8), isRetained: false, at: instant(second),
                epoch: 1_700_000_000 + Int64(second))
        }
        availability("offline", at: 61)
        // The other gateway hears the tag on, but for most of a long time, which would only be the same again.
        _ = stay(&site, 61...(61 + min(away, 600)), heardBy: [("k", -80)])
        let back = 61 + away
        _ = site.tick(at: instant(back), epoch: 1_700_000_000 + Int64(back))
        availability("online", at: back)
        let renamed = say(&site, "h", "Lounge", at: back)
        let rooms = site.core.engine.plan.learned.rooms
        #expect(rooms.map(\.name.name).sorted() == ["Kitchen", "Lounge"])
        #expect(rooms.first { $0.name.name == "Lounge" }?.labelled.isEmpty == false)
        #expect(renamed.contains("ibeacon-rooms/home/room/hall "))
        _ = stay(&site, back...(back + 60))
        #expect(site.core.roster.states[0].room?.id == "lounge")
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
            .message(.learn(.train(room: .named("Hall"), tag: "jane", .seconds(30))), isRetained: false),
            at: instant(20))
        _ = stay(&site, 21...60)
        let effects = site.handle(
            .message(.card(gateway: "h", GatewayCard(room: "Lounge")), isRetained: false), at: instant(61))
        let names = effects.compactMap { effect -> [String]? in
            guard case .store(.learned(let source)) = effect else { return nil }
            return source.site.rooms.map(\.name.name).sorted()
        }
        #expect(names == [["Kitchen", "Lounge"]])
    }

    // MARK: Where a person must say what happened

    /// A site whose hall has two gateways, with a training of it. The tag is in the hall.
    private func trainedSite() -> SiteHarness {
        var settings = SiteSettings()
        (settings.site, settings.tags) = ("home", [SiteFleet.change("Jane:7")])
        var site = SiteHarness(settings)
        site.start(at: instant(0))
        _ = site.handle(.brokerConnected, at: instant(0))
        for (gateway, room) in [("h", "Hall"), ("k", "Hall")] { _ = say(&site, gateway, room, at: 0) }
        _ = stay(&site, 1...20)
        _ = site.handle(
            .message(.learn(.train(room: .named("Hall"), tag: "jane", .seconds(30))), isRetained: false),
            at: instant(20))
        _ = stay(&site, 21...60)
        return site
    }

    private func say(_ site: inout SiteHarness, _ gateway: String, _ room: String, at second: Int) -> [String] {
        site.handle(
            "ibeacon-rooms/home/gateway/\(gateway)", Array(#"{"v":1,"room":"\#(room)"}"#.utf8), isRetained: false,
            at: instant(second), epoch: 1_700_000_000 + Int64(second)
        ).map { "\($0.topic) \($0.text)" }
    }

    private func request(_ site: inout SiteHarness, _ text: String, at second: Int) -> [String] {
        site.handle(
            "ibeacon-rooms/home/learn", Array(text.utf8), isRetained: false, at: instant(second),
            epoch: 1_700_000_000 + Int64(second)
        ).map { "\($0.topic) \($0.text)" }
    }

    @Test func `The broker retains the question with the health of the gateway, until it is answered`() {
        var site = trainedSite()
        let asked = say(&site, "h", "Lounge", at: 61)
        #expect(asked.contains { $0.hasPrefix("ibeacon-rooms/home/health/h ") && $0.contains(#""formerRoom":"Hall""#) })
        let answered = request(&site, #"{"room":"Hall","rename":"Lounge"}"#, at: 62)
        #expect(answered.contains { $0.hasPrefix("ibeacon-rooms/home/health/h ") && !$0.contains("formerRoom") })
        #expect(answered.contains { $0.contains("/event") && $0.contains("enter") && $0.contains("Lounge") })
        #expect(site.core.roster.states[0].room?.name == "Lounge")
    }

    @Test func `That a gateway was carried ends the question`() {
        var site = trainedSite()
        _ = say(&site, "h", "Lounge", at: 61)
        let answered = request(&site, #"{"gateway":"h","moved":true}"#, at: 62)
        #expect(answered.contains { $0.hasPrefix("ibeacon-rooms/home/health/h ") && !$0.contains("formerRoom") })
        #expect(site.core.roster.states[0].room?.name == "Hall")
    }

    // MARK: What is not carried out

    /// What the service answers at once to a request.
    private func answer(_ site: inout SiteHarness, _ request: FeedDecoder.LearnRequest, at second: Int)
        -> [LearnRefusal]
    {
        site.handle(.message(.learn(request), isRetained: false), at: instant(second)).compactMap { effect in
            if case .send(.refused(let refusal)) = effect { refusal } else { nil }
        }
    }

    @Test(
        arguments: [
            (.rename(room: .named("Attic"), to: .named("Loft")), "there is no such room"),
            (
                .rename(room: .named("Hall"), to: .named("Loft")),
                "h, k still call it that; write the new name as 'room' in the configuration of each, and what was trained follows"
            ),
            (.rename(room: .named("Hall"), to: .named("hall")), "both names are forms of one name"),
            (.moved(gateway: "k"), "there is no question whether k was carried"),
            (.train(room: .named("Hall"), tag: "Joe", .seconds(5)), "there is no tag 'joe'"),
        ] as [(FeedDecoder.LearnRequest, String)])
    func `A request that is not carried out is answered with the reason at once`(
        request: FeedDecoder.LearnRequest, reason: String
    ) throws {
        var site = trainedSite()
        let answers = answer(&site, request, at: 61)
        #expect(answers.map(\.request) == [request])
        #expect(answers.first?.reason.lowercased() == reason)
        let message = try #require(answers.first).reportMessage
        #expect(message.topic == "ibeacon-rooms/home/refused" && !message.isRetained)
        #expect(try LearnRefusal(message.payload) == answers.first)
    }

    @Test func `A request that is carried out has no such answer, and a standby never gives one`() {
        var site = trainedSite()
        _ = say(&site, "h", "Lounge", at: 61)
        #expect(answer(&site, .rename(room: .named("Hall"), to: .named("Lounge")), at: 62) == [])
        var standby = standby()
        #expect(answer(&standby, .rename(room: .named("Attic"), to: .named("Loft")), at: 61) == [])
    }

    // MARK: A standby

    /// The same house, at a service that waits beside the active one.
    private func standby() -> SiteHarness {
        var settings = SiteSettings()
        (settings.site, settings.tags) = ("home", [SiteFleet.change("Jane:7")])
        var site = SiteHarness(settings, isStandby: true)
        site.start(at: instant(0))
        _ = site.handle(.brokerConnected, at: instant(0))
        site.hearActive(at: instant(0))
        for (gateway, room) in [("h", "Hall"), ("k", "Hall")] { _ = say(&site, gateway, room, at: 0) }
        _ = stay(&site, 1...20)
        _ = site.handle(
            .message(.learn(.train(room: .named("Hall"), tag: "jane", .seconds(30))), isRetained: false),
            at: instant(20))
        _ = stay(&site, 21...60)
        site.hearActive(at: instant(60))
        return site
    }

    @Test func `A standby that takes over while a question is open asks it still, and takes the answer`() {
        var site = standby()
        #expect(site.core.role == .standby)
        let silent = say(&site, "h", "Lounge", at: 61)
        #expect(silent == [])
        let taken = site.takeOver(at: instant(62), epoch: 1_700_000_062)
        #expect(site.core.role == .active)
        let asked = RoomQuestion(from: .named("Hall"), to: .named("Lounge"), gateways: ["h"])
        #expect(site.core.engine.plan.questions(at: instant(62)) == [asked])
        let shown = taken.map { "\($0.topic) \($0.text)" } + stay(&site, 63...80).map { "\($0.topic) \($0.text)" }
        #expect(shown.contains { $0.hasPrefix("ibeacon-rooms/home/health/h ") && $0.contains(#""formerRoom":"Hall""#) })
        let answered = request(&site, #"{"room":"Hall","rename":"Lounge"}"#, at: 81)
        #expect(answered.contains { $0.hasPrefix("ibeacon-rooms/home/health/h ") && !$0.contains("formerRoom") })
        #expect(
            site.core.engine.plan.isLearned(room: .named("Lounge"))
                && !site.core.engine.plan.isLearned(room: .named("Hall")))
    }

    @Test func `What is set aside, and what is asked, is stored and read again`() throws {
        var site = trainedSite()
        _ = say(&site, "h", "Lounge", at: 61)
        let learned = site.core.engine.plan.learned
        #expect(learned.gateways.contains { $0.formerRoom != nil })
        #expect(learned.rooms.contains { room in room.aside != nil && room.labelled.contains { !$0.aside.isEmpty } })
        #expect(try LearnedSite(learned.json) == learned)
        #expect(site.core.engine.plan.learnedSource.bytes == learned.json.bytes)
        var settings = SiteSettings()
        (settings.site, settings.tags) = ("home", [SiteFleet.change("Jane:7")])
        var next = SiteHarness(settings)
        next.start(learned: learned, at: instant(70))
        #expect(next.core.engine.plan.questions(at: instant(70)) == site.core.engine.plan.questions(at: instant(70)))
        _ = request(&next, #"{"room":"Hall","rename":"Lounge"}"#, at: 71)
        let lounge = next.core.engine.plan.learned.rooms.first { $0.name.name == "Lounge" }
        #expect(lounge?.labelled.allSatisfy { $0.aside.isEmpty && $0.levels.allSatisfy { $0.eighths != nil } } == true)
    }

    @Test(arguments: [
        #"{"labelled":[[0,0]]}"#, #"{"labelled":[[7,0,-400]]}"#, #"{"labelled":[["a",0,-400]]}"#,
        #"{"placed":0.5,"exits":[[1]]}"#,
    ])
    func `What is set aside in another form is refused`(aside: String) throws {
        let text =
            #"{"v":1,"gateways":[["h",0]],"rooms":[{"id":"hall","name":"Hall","labelled":[[1,0,null]],"own":{"seconds":0,"gateways":[]},"aside":\#(aside)}]}"#
        #expect(throws: FeedError.self) { try LearnedSite(JSONValue(parsing: Array(text.utf8))) }
    }

    // MARK: Two machines with one name

    @Test func `Gateways that share a name from the start are published as such, although their messages never count`()
    {
        var settings = SiteSettings()
        settings.site = "home"
        var site = SiteHarness(settings)
        site.start(at: instant(0))
        _ = site.handle(.brokerConnected, at: instant(0))
        _ = say(&site, "h", "Hall", at: 0)
        var published: [String] = []
        for second in 1...20 {
            let startID = second % 2 == 0 ? "a" : "b"
            let text =
                #"{"v":1,"boot":"\#(startID)","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":4,"beacons":[]}"#
            for message in site.handle(
                "ibeacon-rooms/home/heard/h", Array(text.utf8), isRetained: false, at: instant(second),
                epoch: 1_700_000_000 + Int64(second))
                + site.tick(at: instant(second), epoch: 1_700_000_000 + Int64(second))
            { published.append("\(message.topic) \(message.text)") }
        }
        #expect(!site.core.engine.plan.isTrusted(gateway: "h"))
        #expect(published.contains { $0.hasPrefix("ibeacon-rooms/home/health/h ") && $0.contains("sharedName") })
    }

    @Test func `An ESPresense node and a gateway whose names are forms of one name are in one room`() {
        var settings = SiteSettings()
        settings.site = "home"
        var site = SiteHarness(settings)
        site.start(at: instant(0))
        _ = site.handle(.brokerConnected, at: instant(0))
        _ = say(&site, "pi", "Office Room", at: 0)
        for second in 1...10 {
            _ = site.handle(
                "espresense/devices/iBeacon:\(SiteFleet.uuid)-1-7/office_room", Array(#"{"rssi":-60}"#.utf8),
                isRetained: false, at: instant(30 + second), epoch: 1_700_000_000)
        }
        #expect(site.core.engine.knownRooms.count == 1)
        #expect(site.core.engine.plan.gateways(in: .named("Office-Room")) == ["pi", "office_room"])
    }
}

extension LearnRefusal {
    fileprivate var reportMessage: Publication {
        SitePublication.refused(self).message(to: SiteAddresses(site: "home", user: nil))
    }
}
