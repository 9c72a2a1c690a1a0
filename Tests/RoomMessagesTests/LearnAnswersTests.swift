import Base
import Regions
import Rooms
import RoomsSupport
import SiteCore
import SiteProtocol
import Testing

/// What the active service answers to a request about a room that it does not refuse.
@Suite struct LearnAnswersTests {
    private func instant(_ second: Double) -> MonotonicInstant { .zero.advanced(by: .seconds(second)) }

    /// A house of two gateways, `h` in the hall and `k` in the kitchen.
    ///
    /// - Parameters:
    ///   - isStandby: Whether another service is the active one.
    ///   - isConfigured: Whether the tag is of the configuration file, and not of a command.
    private func house(isStandby: Bool = false, isConfigured: Bool = true) -> SiteHarness {
        var settings = SiteSettings()
        let tag = SiteFleet.change("Jane:7")
        (settings.site, settings.tags) = ("home", isConfigured ? [tag] : [])
        var site = SiteHarness(settings, isStandby: isStandby)
        site.start(at: instant(0))
        if !isConfigured { _ = site.handle(.edits([SiteEdit(id: 1, .tags(tag))]), at: instant(0)) }
        _ = site.handle(.brokerConnected, at: instant(0))
        if isStandby { site.hearActive(at: instant(0)) }
        _ = place(&site, "h", "Hall", at: 0) + place(&site, "k", "Kitchen", at: 0)
        return site
    }

    private func place(_ site: inout SiteHarness, _ gateway: String, _ room: String, at second: Double) -> [Publication]
    {
        site.handle(
            "ibeacon-rooms/home/gateway/\(gateway)", Array(#"{"v":1,"room":"\#(room)"}"#.utf8), isRetained: false,
            at: instant(second), epoch: 1_700_000_000)
    }

    /// `OUTCOME` of an answer, with the seconds that were learned, or the reason of a refusal.
    private func answers(_ effects: [Site.Effect]) -> [String] {
        effects.compactMap { effect in
            switch effect {
            case .send(.answer(let answer)):
                answer.learned.map { "\(answer.outcome) \($0)" } ?? "\(answer.outcome)"
            case .send(.refused(let refusal)): refusal.reason
            default: nil
            }
        }
    }

    /// What is due until this second is done.
    private func advance(_ site: inout SiteHarness, to second: Double) -> [Site.Effect] {
        var effects: [Site.Effect] = []
        while let due = site.core.nextDeadline, due < instant(second) { effects += site.handle(.tick, at: due) }
        return effects
    }

    /// In each of these seconds the gateways hear the tag, or nothing.
    ///
    /// - Returns: What is answered meanwhile, until the last of these seconds.
    private func pass(_ site: inout SiteHarness, _ seconds: ClosedRange<Int>, isHeard: Bool = true) throws -> [String] {
        var effects: [Site.Effect] = []
        for second in seconds {
            effects += advance(&site, to: Double(second))
            for (gateway, level) in [("h", -50), ("k", -80)] {
                let beacon = #"{"id":"\#(SiteFleet.uuid):1:7","n":3,"rssi":\#(level),"power":-59,"age":12}"#
                let payload =
                    #"{"v":1,"boot":"b","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":4,"#
                    + #""beacons":[\#(isHeard ? beacon : "")]}"#
                let topic = try #require(RoomTopic("ibeacon-rooms/home/heard/\(gateway)"))
                let message = try #require(try SiteMessage(topic, Array(payload.utf8)))
                effects += site.handle(.message(message, isRetained: false), at: instant(Double(second)))
            }
        }
        return answers(effects)
    }

    private func ask(_ site: inout SiteHarness, _ request: FeedDecoder.LearnRequest, at second: Double) -> [String] {
        let before = answers(advance(&site, to: second))
        return before + answers(site.handle(.message(.learn(request), isRetained: false), at: instant(second)))
    }

    private func train(_ seconds: Int, _ room: String = "Hall", tag: String = "Jane") -> FeedDecoder.LearnRequest {
        .train(room: .named(room), tag: tag, .seconds(seconds))
    }

    /// The seconds of an answer that something was learned; nil for another answer.
    private func learned(_ answer: String?) -> Double? {
        guard let answer, answer.hasPrefix("done ") else { return nil }
        return Double(answer.dropFirst(5))
    }

    // MARK: Training

    @Test func `A run is answered when it begins, and at its end with the seconds that were learned`() throws {
        var site = house()
        #expect(try pass(&site, 1...20) == [])
        #expect(ask(&site, train(30), at: 20.5) == ["begun"])
        #expect(try pass(&site, 21...50) == [])
        let answers = try pass(&site, 51...52)
        #expect(answers.count == 1)
        // The readings of the first second may be from elsewhere.
        let seconds = try #require(learned(answers.first))
        #expect((26...30).contains(seconds), "\(seconds)")
        #expect(try pass(&site, 53...90) == [], "it is answered once")
    }

    @Test func `Where no gateway hears the tag during a run, nothing was learned, as is said at its end`() throws {
        var site = house()
        _ = try pass(&site, 1...20)
        #expect(ask(&site, train(5), at: 20.5) == ["begun"])
        #expect(try pass(&site, 21...25, isHeard: false) == [])
        #expect(try pass(&site, 26...40, isHeard: false) == ["nothing 0.0"])
    }

    @Test func `A run that is ended is answered with what it learned, and so is who ended it; no run is nothing`()
        throws
    {
        var site = house()
        _ = try pass(&site, 1...20)
        #expect(ask(&site, train(0), at: 20.2) == ["nothing"])
        _ = ask(&site, train(60), at: 20.5)
        _ = try pass(&site, 21...30)
        #expect(ask(&site, train(0, "Kitchen"), at: 30.6) == ["nothing"], "that is not the room of the run")
        let ended = ask(&site, train(0), at: 30.7)
        #expect(ended.count == 2 && ended.first == ended.last, "\(ended)")
        #expect(try (5...10).contains(#require(learned(ended.first))))
        #expect(try pass(&site, 31...90) == [])
        #expect(ask(&site, train(0), at: 90.6) == ["nothing"])
    }

    @Test func `A run that takes the place of another ends that one, which is answered first`() throws {
        var site = house()
        _ = try pass(&site, 1...20)
        _ = ask(&site, train(60), at: 20.5)
        _ = try pass(&site, 21...30)
        let answers = ask(&site, train(20, "Kitchen"), at: 30.6)
        #expect(answers.count == 2 && answers.last == "begun", "\(answers)")
        #expect(try #require(learned(answers.first)) > 5)
        let ended = try pass(&site, 31...60)
        #expect(ended.count == 1)
        #expect(try #require(learned(ended.first)) > 10)
    }

    @Test func `A tag that does not exist, or is removed during its run, is a refusal`() throws {
        var site = house(isConfigured: false)
        _ = try pass(&site, 1...20)
        #expect(ask(&site, train(5, tag: "Joe"), at: 20.2) == ["there is no tag 'Joe'"])
        _ = ask(&site, train(5), at: 20.5)
        _ = site.handle(.edits([SiteEdit(id: 2, .tags(.remove(rid: "jane")))]), at: instant(20.6))
        #expect(site.core.tags.isEmpty)
        #expect(try pass(&site, 21...40, isHeard: false) == ["the tag or the room was removed meanwhile"])
    }

    // MARK: Forgetting, renaming, and gateways that were carried

    @Test func `Who has a room forgotten is told whether there was anything`() throws {
        var site = house()
        _ = try pass(&site, 1...20)
        #expect(ask(&site, .forget(room: .named("Study")), at: 20.2) == ["nothing"])
        _ = ask(&site, train(20), at: 20.5)
        _ = try pass(&site, 21...60)
        #expect(ask(&site, .forget(room: .named("hall")), at: 60.6) == ["done"])
        #expect(ask(&site, .forget(room: .named("Hall")), at: 60.7) == ["nothing"])
    }

    @Test func `A renaming is answered, and one that is refused has the refusal alone`() throws {
        var site = house()
        _ = try pass(&site, 1...20)
        for (room, second) in [("Den", 20), ("Loft", 40)] {
            _ = ask(&site, train(15, room), at: Double(second) + 0.6)
            _ = try pass(&site, second + 1...second + 20)
        }
        let refused = ask(&site, .rename(room: .named("Den"), to: .named("Loft")), at: 60.6)
        #expect(refused.count == 1 && refused.first?.contains("has a training of its own") == true, "\(refused)")
        #expect(ask(&site, .rename(room: .named("Den"), to: .named("Snug")), at: 60.7) == ["done"])
    }

    @Test func `That a gateway was carried is answered`() throws {
        var site = house()
        _ = place(&site, "k", "Hall", at: 0)
        _ = try pass(&site, 1...20)
        _ = ask(&site, train(30), at: 20.6)
        _ = try pass(&site, 21...60)
        _ = place(&site, "h", "Lounge", at: 60.6)
        #expect(ask(&site, .moved(gateway: "h"), at: 60.7) == ["done"])
    }

    // MARK: Who answers, and how

    @Test func `A standby says nothing, and answers at the end of a run that it has seen begin if it is active then`()
        throws
    {
        var site = house(isStandby: true)
        func wait(_ seconds: ClosedRange<Int>) throws -> [String] {
            try seconds.flatMap { second in
                site.hear("a", isActive: true, counter: UInt64(second) + 2, at: instant(Double(second) - 0.1))
                return try pass(&site, second...second)
            }
        }
        #expect(try wait(1...20) == [])
        #expect(ask(&site, train(15), at: 20.6) == [])
        #expect(try wait(21...40) == [])
        #expect(ask(&site, .forget(room: .named("Study")), at: 40.6) == [])
        #expect(ask(&site, train(15), at: 40.7) == [])
        #expect(try wait(41...45) == [])
        #expect(site.core.role == .standby)
        _ = site.takeOver(at: instant(45.6), epoch: 1_700_000_045)
        #expect(site.core.role == .active)
        let ended = try pass(&site, 46...60)
        #expect(ended.count == 1)
        #expect(try #require(learned(ended.first)) > 5)
    }

    @Test func `The answer is not retained, and has the members of the request`() {
        let answer = LearnAnswer(train(120), .done, learned: 118.5)
        let message = SitePublication.answer(answer).message(to: SiteAddresses(site: "home", user: nil))
        #expect(message.topic == "ibeacon-rooms/home/answer" && !message.isRetained)
        #expect(message.text.contains(#""answer":"done""#) && message.text.contains(#""learned":118.5"#))
        #expect(message.text.contains(#""room":"Hall""#) && message.text.contains(#""tag":"Jane""#))
    }

    @Test func `Many runs that end at once are answered in several turns`() {
        var settings = SiteSettings()
        (settings.site, settings.tags) = ("home", (1...50).map { SiteFleet.change("T\($0):\($0)") })
        var site = SiteHarness(settings)
        site.start(at: instant(0))
        _ = site.handle(.brokerConnected, at: instant(0))
        for number in 1...50 { #expect(ask(&site, train(5, tag: "T\(number)"), at: 1) == ["begun"]) }
        var turns: [Int] = []
        while let due = site.core.nextDeadline, due < instant(7) {
            let count = answers(site.handle(.tick, at: due)).count
            if count > 0 { turns.append(count) }
        }
        #expect(turns.reduce(0, +) == 50 && (turns.max() ?? 0) <= 16, "\(turns)")
    }

    // MARK: Cards of services

    @Test func `A standby whose own card another service removes publishes it again, and the active one as ever`() {
        var site = house(isStandby: true)
        func cards(_ message: SiteMessage, at second: Double) -> [ServiceCard] {
            _ = advance(&site, to: second)
            return site.handle(.message(message, isRetained: false), at: instant(second)).compactMap {
                if case .send(.card("b", let card)) = $0 { card } else { nil }
            }
        }
        #expect(cards(.service(instance: "b", nil), at: 0.5).map(\.isActive) == [false])
        _ = site.takeOver(at: instant(0.6), epoch: 1_700_000_000)
        #expect(cards(.service(instance: "b", nil), at: 0.7) == [])
    }

    @Test func `The card of a service that is gone is removed from the broker, and the log says so`() {
        let removal = SitePublication.cardRemoved(instance: "attic-old").message(
            to: SiteAddresses(site: "home", user: nil))
        #expect(removal.topic == "ibeacon-rooms/home/service/attic-old")
        #expect(removal.isRetained && removal.payload.isEmpty)
        var site = house(isStandby: true)
        site.hear("a", isActive: false, at: instant(0.5))
        _ = site.handle(
            .message(
                .service(instance: "attic-old", ServiceCard(isActive: true, counter: 17, version: "")),
                isRetained: true),
            at: instant(0.5))
        var (removed, told): ([String], [String]) = ([], [])
        while let due = site.core.nextDeadline, due < instant(30) {
            for effect in site.handle(.tick, at: due) {
                switch effect {
                case .send(.card("b", let card)):
                    _ = site.handle(.message(.service(instance: "b", card), isRetained: false), at: due)
                case .send(.cardRemoved(let name)): removed.append(name)
                case .log(_, let text, _) where text.contains("attic-old"): told.append(text)
                default: break
                }
            }
        }
        #expect(removed == ["attic-old"] && told.count == 1, "\(removed) \(told)")
    }
}
