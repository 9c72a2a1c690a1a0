import Base
import Beacon
import Health
import OwnTracks
import Regions
import Rooms
import RoomsSupport
import SiteCore
import SiteProtocol
import Testing

/// The core of the rooms service by itself.
@Suite struct SiteTests {
    private static let position = Position(coordinates: Coordinates(latitude: 48.2, longitude: 16.4), accuracy: 10)

    private func instant(_ seconds: Int) -> MonotonicInstant { .zero.advanced(by: .seconds(1000 + seconds)) }

    private func site(instance: String? = nil) -> Site {
        var settings = SiteSettings()
        settings.instance = instance
        settings.gateways = ["h": .named("Hall"), "k": .named("Kitchen")]
        settings.position = Self.position
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
                    startID: "b", sequence: Int64(second), at: .seconds(second), listening: .seconds(1), reports: 4,
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

    @Test(arguments: [true, false])
    func `A change of room that is due is reported although the list of tags changes at the same time`(
        isReplay: Bool
    ) throws {
        var settings = SiteSettings()
        settings.gateways = ["h": .named("Hall"), "k": .named("Kitchen")]
        settings.tags = [SiteFleet.change("Jane:7")]
        var site = Site(settings, wallClock: WallClock(epochOffset: 0, isKnown: true))
        _ = site.handle(.start(StoredSite()), at: instant(0))
        let (beacon, other) = (try #require(SiteFleet.beacon(7)), try #require(SiteFleet.beacon(8)))
        func hear(_ gateway: String, _ level: Float, second: Int) {
            let reading = Reading(beacon: beacon, count: 3, level: level, power: -59, age: .zero)
            let heard = HeardSecond(
                startID: "b", sequence: Int64(second), at: .seconds(second), listening: .seconds(1), reports: 4,
                readings: [reading])
            _ = site.handle(.message(.heard(gateway: gateway, heard), isRetained: false), at: instant(second))
        }
        for second in 1..<60 {
            // The window stays open until the other gateway reports, too.
            hear("k", -50, second: second)
            let end = instant(second).advanced(by: .milliseconds(900))
            var trial = site
            _ = trial.handle(.tick, at: end)
            guard trial.roster.states[0].room != nil else {
                hear("h", -80, second: second)
                continue
            }
            let change: Site.Input =
                isReplay
                ? .message(.tags(ReceivedTagList(TagList([other]).payload)), isRetained: false)
                : .edits([SiteEdit(id: 1, .tags(SiteFleet.change("Keys:8")))])
            _ = site.handle(change, at: end)
            #expect(site.tags.count == 2)
            #expect(site.roster.states.contains { $0.room?.name == "Kitchen" })
            return
        }
        Issue.record("no change of room waited for its time")
    }

    @Test(arguments: [true, false])
    func `A tag that is removed while nothing is published keeps no stored place, and no visit that goes on`(
        hasOpenVisits: Bool
    ) throws {
        var settings = SiteSettings()
        settings.instance = "b"
        var site = Site(settings, wallClock: WallClock(epochOffset: 0, isKnown: true))
        var stored = SiteFleet.stored("Jane:7")
        stored.hasOpenVisits = hasOpenVisits
        stored.states["jane"] = PublishedTag(
            name: "Jane", room: RoomName.named("Hall"), isHome: true, since: 7)
        _ = site.handle(.start(stored), at: instant(0))
        let effects = site.handle(.edits([SiteEdit(id: 1, .tags(.remove(rid: "jane")))]), at: instant(1))
        #expect(site.tags.isEmpty && !site.whereabouts.isActive)
        #expect(effects.map(Self.word).contains("ends hall") == hasOpenVisits)
        #expect(effects.contains { if case .store(.tag("jane", nil)) = $0 { true } else { false } })
        #expect(!effects.contains { if case .publish = $0 { true } else { false } })
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

    @Test func `A retained request to learn or forget is refused, counted, and logged with its topic`() {
        var site = siteWithTags()
        let forget = SiteMessage.learn(.forget(room: .named("Hall")))
        let effects = site.handle(.message(forget, isRetained: true), at: instant(1))
        #expect(warnings(effects) == ["request on ibeacon-rooms/home/learn refused: the broker had retained it"])
        #expect(effects.count == 1 && site.counters.retained == 1)
    }

    @Test func `A deletion of what was learned is stored at once, further ones five seconds later at the latest`() {
        var site = site(instance: "b")
        let forget = Site.Input.message(.learn(.forget(room: .named("Hall"))), isRetained: false)
        #expect(storesLearned(site.handle(forget, at: instant(0))))
        for second in 1...4 { #expect(!storesLearned(site.handle(forget, at: instant(second)))) }
        #expect(site.nextDeadline == instant(5))
        #expect(storesLearned(site.handle(.tick, at: instant(5))))
        #expect(!storesLearned(site.handle(.tick, at: instant(800))))
        #expect(storesLearned(site.handle(.tick, at: instant(905))))
    }

    @Test
    func `What a training run brings is stored five seconds after its end, also if it ends early or another follows`()
        throws
    {
        var site = site(instance: "b")
        _ = site.handle(.edits([SiteEdit(id: 1, .tags(SiteFleet.change("Jane:7")))]), at: instant(0))
        let requests: [Int: (room: String, seconds: Int)] = [
            10: ("Hall", 120), 131: ("Kitchen", 60), 300: ("Study", 120), 320: ("Study", 0),
        ]
        var stored: [Int] = []
        for second in 1...1300 {
            if let (room, seconds) = requests[second] {
                let request = FeedDecoder.LearnRequest.train(room: .named(room), tag: "Jane", .seconds(seconds))
                _ = site.handle(.message(.learn(request), isRetained: false), at: instant(second))
            }
            guard let due = site.nextDeadline, due <= instant(second) else { continue }
            if storesLearned(site.handle(.tick, at: instant(second))) { stored.append(second) }
        }
        #expect(stored == [135, 196, 325, 1225])
    }

    @Test func `However many training runs end, what they brought is stored every five seconds`() {
        var site = site(instance: "b")
        let changes = (0..<50).map { SiteEdit(id: Int64($0 + 1), .tags(SiteFleet.change("Tag\($0):\($0 + 1)"))) }
        _ = site.handle(.edits(changes), at: instant(0))
        var count = 0
        for second in 1...100 {
            for seconds in [60, 0] {
                let request = FeedDecoder.LearnRequest.train(
                    room: .named("Hall"), tag: "Tag\(second % 50)", .seconds(seconds))
                _ = site.handle(.message(.learn(request), isRetained: false), at: instant(second))
            }
            if storesLearned(site.handle(.tick, at: instant(second))) { count += 1 }
        }
        #expect((15...20).contains(count), "\(count)")
    }

    @Test func `A training with a tag that there is not is refused in the log`() {
        var site = site()
        let request = FeedDecoder.LearnRequest.train(room: .named("Hall"), tag: "Nobody", .seconds(60))
        let effects = site.handle(.message(.learn(request), isRetained: false), at: instant(1))
        let lines = effects.compactMap { if case .log(.warning, let text, _) = $0 { text } else { nil } }
        #expect(lines == ["the training of 'Hall' was refused: there is no tag 'Nobody'"])
    }

    /// A service of the site `home` whose configuration file has the tag Jane. The keys are stored.
    private func siteWithTags() -> Site {
        var settings = SiteSettings()
        (settings.site, settings.instance, settings.tags) = ("home", "b", [SiteFleet.change("Jane:7")])
        var site = Site(settings, wallClock: WallClock(epochOffset: 0, isKnown: true))
        _ = site.handle(.start(SiteFleet.stored("Keys:9")), at: instant(0))
        return site
    }

    private static func command(_ text: String) -> Site.Input {
        .command(
            ReceivedCommand(
                tracker: 0, command: Result { () throws(CommandError) in try Command(parsing: Array(text.utf8)) },
                isRetained: false, wasEncrypted: true, digest: nil))
    }

    private func warnings(_ effects: [Site.Effect]) -> [String] {
        effects.compactMap { if case .log(.warning, let text, _) = $0 { text } else { nil } }
    }

    @Test func `A command leaves the tags of the configuration file, names them, and changes the others`() {
        var site = siteWithTags()
        let reason = "'Jane': the tag is in the configuration file (rooms.tags); change it there"
        let changes = [("jane", "Other", 7), ("keys", "Key ring", 9), ("bag", "Bag", 12)].map { rid, name, minor in
            #"{"_type":"waypoint","rid":"\#(rid)","desc":"\#(name):\#(SiteFleet.uuid):1:\#(minor)","tst":1600000001}"#
        }
        // It means Jane's tag by its name.
        let removal = #"{"_type":"waypoint","desc":"Jane","lat":100,"lon":500,"tst":5}"#
        for (second, waypoints) in [(1, changes.joined(separator: ",")), (2, removal)] {
            let text = #"{"_type":"cmd","action":"setWaypoints","waypoints":[\#(waypoints)]}"#
            let effects = site.handle(Self.command(text), at: instant(second))
            #expect(warnings(effects).filter { $0.contains("Waypoints: ") } == ["setWaypoints: \(reason)"])
            #expect(site.tags.map(\.name).sorted() == ["Bag", "Jane", "Key ring"])
        }
        let effects = site.handle(Self.command(#"{"_type":"cmd","action":"clearWaypoints"}"#), at: instant(3))
        #expect(warnings(effects).filter { $0.contains("Waypoints: ") } == ["clearWaypoints: \(reason)"])
        #expect(site.tags.map(\.name) == ["Jane"] && site.commandCounts.done == 3)
    }

    @Test func `Without another service it is active, beside others it waits for what is known of them`() {
        #expect(site().role == .active && site().whereabouts.isActive)
        #expect(site(instance: "b").role == .listening && !site(instance: "b").whereabouts.isActive)
    }

    /// Jane and the keys are in the kitchen, and the broker has their states.
    private func kitchen() throws -> Site {
        var settings = SiteSettings()
        settings.gateways = ["h": .named("Hall"), "k": .named("Kitchen")]
        settings.position = Self.position
        var site = Site(settings, wallClock: WallClock(epochOffset: 0, isKnown: true))
        _ = site.handle(.start(SiteFleet.stored("Jane:7", "Keys:8")), at: instant(0))
        _ = site.handle(.brokerConnected, at: instant(0))
        let beacons = [try #require(SiteFleet.beacon(7)), try #require(SiteFleet.beacon(8))]
        for second in 1..<40 {
            for (gateway, level) in [("k", -50), ("h", -80)] as [(String, Float)] {
                let heard = HeardSecond(
                    startID: "b", sequence: Int64(second), at: .seconds(second), listening: .seconds(1), reports: 4,
                    readings: beacons.map { Reading(beacon: $0, count: 3, level: level, power: -59, age: .zero) })
                _ = site.handle(.message(.heard(gateway: gateway, heard), isRetained: false), at: instant(second))
            }
            _ = site.handle(.tick, at: instant(second))
        }
        return site
    }

    @Test(arguments: [(RegionChange.remove(rid: "keys"), [String]()), (SiteFleet.change("Keys:18"), [])])
    func `After several changes in one command the broker has the last state of each room`(
        change: RegionChange, left: [String]
    ) throws {
        var site = try kitchen()
        #expect(site.roster.states.map(\.room?.id) == ["kitchen", "kitchen"])
        let effects = site.handle(
            .edits([
                SiteEdit(id: 1, .tags(SiteFleet.change("Jane:17"))), SiteEdit(id: 2, .tags(change)),
            ]), at: instant(41))
        let rooms = effects.compactMap { effect in
            if case .publish(.room("kitchen", let state?)) = effect { state.tags } else { nil }
        }
        #expect(rooms.last == left, "\(rooms)")
    }

    @Test func `A tag that is removed leaves its room before its state goes`() throws {
        var site = try kitchen()
        let effects = site.handle(.edits([SiteEdit(id: 1, .tags(.remove(rid: "jane")))]), at: instant(41))
        let messages = effects.compactMap { effect -> String? in
            switch effect {
            case .publish(.transition("jane", let transition)):
                "\(transition.event) \(transition.description)"
            case .publish(.location("jane", let location)): "location in \(location.regions.count)"
            case .publish(.tag("jane", let state)): state.map { "home: \($0.isHome)" } ?? "removed"
            case .publish(.room("kitchen", let state)): "kitchen: \(state?.tags ?? [])"
            case .record(let visit): "\(visit.event) \(visit.tag.id)"
            default: nil
            }
        }
        #expect(
            messages == [
                "ends jane", "leave Kitchen", "location in 0", "home: false", "kitchen: [\"Keys\"]", "removed",
            ], "\(messages)")
        // Who is away has nothing to leave.
        let more =
            site.handle(.edits([SiteEdit(id: 2, .tags(SiteFleet.change("Bob:9")))]), at: instant(42))
            + site.handle(.edits([SiteEdit(id: 3, .tags(.remove(rid: "bob")))]), at: instant(43))
        #expect(!more.contains { if case .publish(.transition) = $0 { true } else { false } })
    }

    @Test func `A tag that gets another beacon and another name keeps the name at the broker`() throws {
        var site = try kitchen()
        var change = SiteFleet.change("Joan:17")
        if case .set(var region, _) = change {
            region.rid = "jane"
            change = .set(region, isRIDDerived: false)
        }
        let effects = site.handle(.edits([SiteEdit(id: 1, .tags(change))]), at: instant(41))
        let names = effects.compactMap { effect in
            if case .publish(.tag("jane", let state?)) = effect { state.name } else { nil }
        }
        #expect(names.last == "Joan", "\(names)")
    }

    @Test(arguments: [RegionChange.remove(rid: "jane"), SiteFleet.change("Jane:17")])
    func `An edit of a tag of the configuration file changes nothing, and the log says where to change it`(
        change: RegionChange
    ) throws {
        var settings = SiteSettings()
        settings.tags = [SiteFleet.change("Jane:7")]
        var site = Site(settings)
        _ = site.handle(.start(StoredSite()), at: instant(0))
        let before = site.tags
        let edits = [SiteEdit(id: 1, .tags(change)), SiteEdit(id: 2, .tags(SiteFleet.change("Bob:8")))]
        let effects = site.handle(.edits(edits), at: instant(1))
        #expect(site.tags.map(\.name) == ["Jane", "Bob"] && site.tags.first == before.first)
        let lines = effects.compactMap { if case .log(.warning, let text, _) = $0 { text } else { nil } }
        #expect(
            lines == [
                "tags: an edit is refused: 'Jane': the tag is in the configuration file (rooms.tags); change it there"
            ])
        // A refused edit is taken: it does not come again.
        #expect(effects.contains { if case .editsTaken(topic: nil, upTo: 2) = $0 { true } else { false } })
    }

    @Test func `A reload before the state is read stores nothing, and the start takes its tags`() throws {
        var settings = SiteSettings()
        settings.instance = "b"
        var site = Site(settings)
        settings.tags = [SiteFleet.change("New:9")]
        #expect(site.handle(.settings(settings), at: instant(0)).isEmpty)
        _ = site.handle(.start(SiteFleet.stored("Jane:7")), at: instant(1))
        #expect(site.tags.map(\.id) == ["jane", "new"] && site.siteTags.regions.configuredIDs == ["new"])
    }

    @Test(arguments: [true, false])
    func `A takeover before the clock is set keeps the time that the other service gave`(isKnown: Bool) throws {
        var settings = SiteSettings()
        settings.instance = "b"
        settings.tags = [SiteFleet.change("Jane:7")]
        var site = Site(settings, wallClock: WallClock(epochOffset: 0, isKnown: isKnown))
        _ = site.handle(.start(StoredSite()), at: instant(0))
        _ = site.handle(.brokerConnected, at: instant(0))
        let state = PublishedTag(name: "Jane", since: 1_700_000_000)
        _ = site.handle(.message(.tag(id: "jane", .value(state)), isRetained: true), at: instant(0))
        for second in 1...20 { _ = site.handle(.tick, at: instant(second)) }
        #expect(site.role == .active)
        // The epoch of this clock is the start of the machine.
        #expect((site.roster.states[0].since == 1_700_000_000) != isKnown)
    }

    // MARK: Two tags with one id or one beacon

    private func region(_ text: String, rid: String, timestamp: Int64) -> RegionChange {
        guard case .set(var region, _) = SiteFleet.change(text) else { return .remove(rid: rid) }
        (region.rid, region.timestamp) = (rid, timestamp)
        return .set(region, isRIDDerived: false)
    }

    private func ignored(_ effects: [Site.Effect]) -> [String] {
        effects.compactMap { effect in
            if case .log(.warning, let text, _) = effect, text.contains("is ignored") { text } else { nil }
        }
    }

    @Test func `Of two definitions with one id the later one is the tag, and removing it leaves none`() throws {
        var site = Site(SiteSettings())
        _ = site.handle(.start(SiteFleet.stored("Jane:7")), at: instant(0))
        let new = region("Jane:17", rid: "not an id", timestamp: 1_700_000_000)
        let effects = site.handle(.edits([SiteEdit(id: 1, .tags(new))]), at: instant(1))
        #expect(site.tags.map(\.pattern.minor) == [17])
        #expect(ignored(effects).count == 1 && ignored(effects)[0].contains("its id, 'jane'"), "\(effects)")
        _ = site.handle(.request(.removeTag(id: "jane")), at: instant(2))
        #expect(site.tags.isEmpty && site.siteTags.regions.kept.regions.isEmpty)
    }

    @Test func `Of two tags with one beacon the later one is the tag, and the other is named in the log`() throws {
        var site = Site(SiteSettings())
        _ = site.handle(.start(SiteFleet.stored("Jane:7", "Bob:8")), at: instant(0))
        let new = region("Keys:7", rid: "keys", timestamp: 1_700_000_000)
        let effects = site.handle(.edits([SiteEdit(id: 1, .tags(new))]), at: instant(1))
        #expect(site.tags.map(\.name) == ["Bob", "Keys"])
        #expect(ignored(effects).first?.hasPrefix("the tag 'Jane'") == true, "\(effects)")
    }

    @Test func `The tag of the configuration file counts before one with its id or beacon`() throws {
        var settings = SiteSettings()
        settings.tags = [SiteFleet.change("Jane:7")]
        var site = Site(settings)
        var stored = StoredSite()
        _ = stored.regions.apply([
            region("Jane:17", rid: "not an id", timestamp: 1_700_000_000),
            region("Keys:7", rid: "keys", timestamp: 1_700_000_000),
        ])
        let effects = site.handle(.start(stored), at: instant(0))
        #expect(site.tags.map(\.name) == ["Jane"] && site.tags[0].pattern.minor == 7)
        #expect(ignored(effects).count == 2, "\(effects)")
    }

    /// The retained topics of tags, rooms and gateways that the effects publish, and whether each is emptied.
    private func retained(_ effects: [Site.Effect]) -> [(topic: String, isEmpty: Bool)] {
        effects.compactMap { effect in
            guard case .publish(let report) = effect else { return nil }
            let message = report.message(to: SiteAddresses(site: "home", user: nil))
            return message.isRetained ? (message.topic, message.payload.isEmpty) : nil
        }
    }

    private func junk(_ number: Int) -> SiteMessage {
        switch number % 3 {
        case 0: .tag(id: "junk\(number)", .value(PublishedTag(name: "x")))
        case 1: .room(id: "junk\(number)", .unreadable)
        default: .health(gateway: "junk\(number)", .unreadable)
        }
    }

    @Test func `60,000 junk states go within a minute, a few hundred in each decision`() throws {
        var site = site()
        _ = site.handle(.brokerConnected, at: instant(0))
        // Half of them arrive after the first comparison.
        for number in 0..<30_000 { _ = site.handle(.message(junk(number), isRetained: true), at: instant(1)) }
        var removed: Set<String> = []
        var warnings = 0
        var most = 0
        func take(_ effects: [Site.Effect]) {
            let topics = retained(effects).filter(\.isEmpty).map(\.topic)
            most = max(most, effects.count)
            for topic in topics { #expect(removed.insert(topic).inserted) }
            warnings += effects.count { if case .log(.warning, _, "obsolete states"?) = $0 { true } else { false } }
        }
        take(site.handle(.tick, at: instant(2)))
        for number in 30_000..<60_000 { take(site.handle(.message(junk(number), isRetained: true), at: instant(3))) }
        while let due = site.nextDeadline, due < instant(70) { take(site.handle(.tick, at: due)) }
        #expect(removed.count == 60_000)
        #expect((200...500).contains(most), "\(most) effects")
        #expect(warnings > 0)
    }

    @Test(arguments: [true, false])
    func `What the broker retained is compared also if it arrives late, and what clients send live is not`(
        isRetained: Bool
    ) throws {
        var settings = SiteSettings()
        settings.discovery = SiteDiscovery.Settings(prefix: "homeassistant", site: "home", version: "1")
        var site = Site(settings, wallClock: WallClock(epochOffset: 0, isKnown: true))
        _ = site.handle(.start(StoredSite()), at: instant(0))
        _ = site.handle(.brokerConnected, at: instant(0))
        _ = site.handle(.tick, at: instant(2))
        let entity = "homeassistant/sensor/ibeacon-rooms-home/old/config"
        #expect(site.discovery?.isDescription(entity) == true)
        _ = site.handle(.entity(.homeAssistant(entity, "{}"), isRetained: isRetained), at: instant(3))
        _ = site.handle(
            .sealed(.tag(site: "home", tag: "old"), reason: "another key", isRetained: isRetained), at: instant(3))
        var removed: Set<String> = []
        while let due = site.nextDeadline, due < instant(70) {
            removed.formUnion(retained(site.handle(.tick, at: due)).filter(\.isEmpty).map(\.topic))
        }
        #expect(removed == (isRetained ? [entity, RoomTopic.tag(site: "home", tag: "old").text] : []))
    }

    /// When the tag is away, seconds after it was heard for the last time, in a pause of 600 s after ten minutes.
    ///
    /// - Parameters:
    ///   - cards: Cards of its gateway that arrive before the pause.
    ///   - last: The card that arrives after a minute of the pause; without it there is no such card.
    ///   - sender: Whose cards they are.
    ///   - messages: The seconds in which the sender sends a message, if it is another gateway.
    private func departure(
        phonesOf cards: [GatewayCard?], then last: GatewayCard?? = .none, of sender: String = "k",
        messages: Range<Int> = 0..<0
    ) throws -> Int? {
        var settings = SiteSettings()
        settings.gateways = ["k": .named("Kitchen")]
        settings.tags = [SiteFleet.change("Jane:7")]
        var site = Site(settings, wallClock: WallClock(epochOffset: 0, isKnown: true))
        let beacon = try #require(SiteFleet.beacon(7))
        _ = site.handle(.start(StoredSite()), at: instant(0))
        for second in 1..<1200 {
            if second == 590 {
                for card in cards {
                    _ = site.handle(.message(.card(gateway: sender, card), isRetained: false), at: instant(second))
                }
                #expect(site.roster.states[0].isHome)
            }
            if second == 660, case .some(let last) = last {
                _ = site.handle(.message(.card(gateway: "k", last), isRetained: false), at: instant(second))
            }
            let reading = Reading(beacon: beacon, count: 3, level: -50, power: -59, age: .zero)
            let heard = HeardSecond(
                startID: "b", sequence: Int64(second), at: .seconds(second), listening: .seconds(1), reports: 4,
                readings: second <= 600 ? [reading] : [])
            _ = site.handle(.message(.heard(gateway: "k", heard), isRetained: false), at: instant(second))
            if messages.contains(second) {
                let nothing = HeardSecond(
                    startID: "x", sequence: Int64(second), at: .seconds(second), listening: .seconds(1), reports: 4,
                    readings: [])
                _ = site.handle(.message(.heard(gateway: sender, nothing), isRetained: false), at: instant(second))
            }
            if second > 600, !site.roster.states[0].isHome { return second - 600 }
        }
        return nil
    }

    @Test func `A tag that a gateway knows as a phone is at home through pauses of five minutes`() throws {
        let phone = try #require(SiteFleet.beacon(7)).uuid
        let (named, other) = (GatewayCard(phones: [phone]), GatewayCard(phones: [BeaconUUID(high: 0, low: 0)]))
        for cards in [[named], [other, named], [named, named]] {
            #expect(try #require(try departure(phonesOf: cards)) >= 300)
        }
        // Not named, or not any more.
        for cards in [[], [other], [named, other], [named, nil]] {
            #expect(try #require(try departure(phonesOf: cards)) < 30)
        }
    }

    @Test func `Only the card of a gateway that counts says that a tag is a phone, and from then on`() throws {
        let named = GatewayCard(phones: [try #require(SiteFleet.beacon(7)).uuid])
        let plain = try #require(try departure(phonesOf: []))
        for messages in [0..<0, 592..<593, 592..<594] {
            #expect(try departure(phonesOf: [named], of: "x", messages: messages) == plain, "\(messages)")
        }
        for messages in [580..<600, 592..<600] {
            #expect(try #require(try departure(phonesOf: [named], of: "x", messages: messages)) >= 300, "\(messages)")
        }
    }

    @Test func `A phone that is silent is away soon after the last card that named it has gone`() throws {
        let named = GatewayCard(phones: [try #require(SiteFleet.beacon(7)).uuid])
        for last in [nil, GatewayCard()] as [GatewayCard?] {
            let seconds = try #require(try departure(phonesOf: [named], then: last))
            #expect((60...65).contains(seconds), "\(seconds)")
        }
    }

    @Test(arguments: [true, false])
    func `A tag comes into its room, however often a card names other phones`(isTag: Bool) throws {
        var settings = SiteSettings()
        settings.gateways = ["h": .named("Hall"), "k": .named("Kitchen")]
        settings.tags = [SiteFleet.change("Jane:7")]
        var site = Site(settings, wallClock: WallClock(epochOffset: 0, isKnown: true))
        _ = site.handle(.start(StoredSite()), at: instant(0))
        let beacon = try #require(SiteFleet.beacon(7))
        let card = GatewayCard(phones: [isTag ? beacon.uuid : BeaconUUID(high: 0, low: 1)])
        var isNamed = false
        for second in 1..<40 {
            for (gateway, level) in [("k", -50), ("h", -80)] as [(String, Float)] {
                let heard = HeardSecond(
                    startID: "b", sequence: Int64(second), at: .seconds(second), listening: .seconds(1), reports: 4,
                    readings: [Reading(beacon: beacon, count: 3, level: level, power: -59, age: .zero)])
                _ = site.handle(.message(.heard(gateway: gateway, heard), isRetained: false), at: instant(second))
                isNamed.toggle()
                _ = site.handle(
                    .message(.card(gateway: "x", isNamed ? card : GatewayCard()), isRetained: false),
                    at: instant(second))
            }
        }
        #expect(site.roster.states[0].room?.id == "kitchen")
    }

    @Test
    func `A tag without numbers is in the list for gateways as a phone is heard, and is at home when it is heard`()
        throws
    {
        let uuid = try #require(BeaconUUID("BF76C877-E0BE-5D31-9AE5-547EBF800856"))
        let description = try RegionDescription(parsing: "Jane:\(uuid)")
        var fleet = SiteFleet()
        fleet.start("a")
        fleet.run(20)
        fleet.edit("a", .set(Region(rid: "jane", description: description, timestamp: 1), isRIDDerived: false))
        let list = try FeedDecoder.tags(try #require(fleet.retained[SiteFleet.listTopic]))
        #expect(list.beacons == [BeaconID(uuid: uuid, major: 0, minor: 0)])
        var site = try #require(fleet.services["a"])
        let start = fleet.now
        for second in 1..<5 {
            let heard = HeardSecond(
                startID: "b", sequence: Int64(second), at: .seconds(second), listening: .seconds(1), reports: 4,
                readings: list.beacons.map { Reading(beacon: $0, count: 3, level: -50, power: -59, age: .zero) })
            _ = site.handle(
                .message(.heard(gateway: "k", heard), isRetained: false), at: start.advanced(by: .seconds(second)))
        }
        #expect(site.roster.states.map(\.isHome) == [true])
    }

    @Test func `Nothing retained is published for gateways that were never believed`() throws {
        var settings = SiteSettings()
        settings.discovery = SiteDiscovery.Settings(prefix: "homeassistant", site: "home", version: "1")
        var site = Site(settings)
        var published: [String] = []
        func handle(_ input: Site.Input, at second: Int) {
            published += retained(site.handle(input, at: instant(second))).filter { !$0.isEmpty }.map(\.topic)
        }
        handle(.start(StoredSite()), at: 0)
        handle(.brokerConnected, at: 0)
        // Some have a card, and one message; of others nothing can be decrypted.
        for number in 0..<300 {
            handle(.message(.card(gateway: "ghost\(number)", GatewayCard(room: "G\(number)")), isRetained: true), at: 1)
            handle(heard("ghost\(number)", second: 1), at: 1)
        }
        handle(.strangers(Set((0..<300).map { "ghost\($0 + 150)" })), at: 1)
        for second in 2...40 { handle(.tick, at: second) }
        #expect(!published.contains { $0.contains("ghost") || $0.contains("/room/") }, "\(published)")
        // A real one is published once it counts.
        handle(.message(.card(gateway: "k", GatewayCard(room: "Kitchen")), isRetained: false), at: 41)
        for second in 42...50 {
            handle(heard("k", second: second), at: second)
            handle(.tick, at: second)
        }
        #expect(
            published.contains("ibeacon-rooms/home/health/k") && published.contains("ibeacon-rooms/home/room/kitchen"))
        #expect(published.contains { $0.hasPrefix("homeassistant/") && $0.contains("gateway-k_listening") })
        #expect(!published.contains { $0.contains("ghost") })
    }

    @Test(arguments: [true, false])
    func `A retained state of a tag that no gateway hears is replaced once gateways have listened for a while`(
        isListening: Bool
    ) throws {
        var settings = SiteSettings()
        settings.gateways = ["k": .named("Kitchen")]
        settings.tags = [SiteFleet.change("Jane:7"), SiteFleet.change("Keys:8")]
        var site = Site(settings, wallClock: WallClock(epochOffset: 0, isKnown: true))
        _ = site.handle(.start(StoredSite()), at: instant(0))
        _ = site.handle(.brokerConnected, at: instant(0))
        for (id, isHome) in [("jane", true), ("keys", false)] {
            let state = PublishedTag(name: id, room: nil, isHome: isHome, since: 7)
            _ = site.handle(.message(.tag(id: id, .value(state)), isRetained: true), at: instant(1))
        }
        var published: [(second: Int, report: SitePublication)] = []
        for second in 2...200 {
            let inputs = (isListening ? [heard("k", second: second)] : []) + [.tick]
            for effect in inputs.flatMap({ site.handle($0, at: instant(second)) }) {
                guard case .publish(let report) = effect else { continue }
                switch report {
                case .tag, .transition, .location: published.append((second, report))
                default: break
                }
            }
        }
        #expect(published.count == (isListening ? 1 : 0), "\(published)")
        guard isListening, let first = published.first else { return }
        #expect((90...110).contains(first.second))
        guard case .tag("jane", let state?) = first.report else { return _ = Issue.record("\(first)") }
        #expect(!state.isHome && state.room == nil)
    }

    private func heard(_ gateway: String, second: Int) -> Site.Input {
        let heard = HeardSecond(
            startID: "b", sequence: Int64(second), at: .seconds(second), listening: .seconds(1), reports: 4,
            readings: [])
        return .message(.heard(gateway: gateway, heard), isRetained: false)
    }
}
