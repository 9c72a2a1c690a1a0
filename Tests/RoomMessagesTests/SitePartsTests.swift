import Base
import Beacon
import JSON
import OwnTracks
import Regions
import Rooms
import RoomsSupport
import SiteProtocol
import Testing

@testable import SiteCore

private func instant(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(seconds * 1e9)) }

private let uuid = BeaconUUID(high: 1, low: 2)

private func tag(_ id: String, _ minor: UInt16, name: String? = nil) -> TagIdentity {
    TagIdentity(id: id, name: name ?? id, pattern: BeaconPattern(uuid: uuid, major: 1, minor: minor))
}

private func region(_ rid: String, _ minor: UInt16?, at time: Int64 = 1) -> RegionChange {
    let pattern = minor.map { BeaconPattern(uuid: uuid, major: 1, minor: $0) }
    return .set(
        Region(rid: rid, description: RegionDescription(name: rid, pattern: pattern), timestamp: time),
        isRIDDerived: false)
}

private func room(_ name: String) -> RoomName { RoomName.named(name) }

private let clock = WallClock(epochOffset: 1_700_000_000_000_000_000, isKnown: true)

/// The lines for the log among the effects.
private func lines(_ effects: [Site.Effect]) -> [String] {
    effects.compactMap { if case .log(_, let text, _) = $0 { text } else { nil } }
}

/// What the effects publish or send.
private func reports(_ effects: [Site.Effect]) -> [SitePublication] {
    effects.compactMap { effect in
        switch effect {
        case .publish(let report), .send(let report): report
        default: nil
        }
    }
}

/// The regions of a service, without the others of its parts.
@Suite struct TagRegionsTests {
    @Test func `Of two tags with one beacon the later one is the tag, unless the configuration file has the other`() {
        var regions = TagRegions()
        var effects: [Site.Effect] = []
        regions.apply([region("a", 7, at: 1), region("b", 7, at: 2)])
        #expect(regions.tags(&effects).map(\.id) == ["b"])
        #expect(lines(effects).count == 1)
        regions.configure([region("a", 7, at: 1)])
        #expect(regions.tags(&effects).map(\.id) == ["a"] && regions.configuredIDs == ["a"])
    }

    @Test func `A list changes no tag of the configuration file, and removes others only if it may`() {
        var regions = TagRegions()
        var effects: [Site.Effect] = []
        regions.restore(RegionSet(), configured: [region("a", 7)])
        regions.apply([region("b", 8)])
        let list = TagList(
            TagList.Version(2, "x"),
            [
                TagList.Tag(uuid: uuid, major: 1, minor: 9, id: "a", name: "other"),
                TagList.Tag(uuid: uuid, major: 1, minor: 5, id: "c", name: "c"),
            ])
        #expect(regions.hasConfiguredTag(beside: TagList([]), regions.tags(&effects)))
        #expect(regions.changes(to: list, removesOthers: false, at: 3).kept.map(\.id) == ["b"])
        let (changes, kept) = regions.changes(to: list, removesOthers: true, at: 3)
        #expect(kept == [])
        regions.apply(changes)
        #expect(Set(regions.tags(&effects).map(\.id)) == ["a", "c"])
    }

    @Test(arguments: [
        (SiteRequest.addTag(name: "new", beacon: "nothing"), "is not a beacon"),
        (.addTag(name: "b", beacon: "\(uuid):1:5"), "there is a tag 'b' already"),
        (.addTag(name: "new", beacon: "\(uuid):1:8"), "this beacon is the tag 'b' already"),
        (.addTag(name: "+x", beacon: "\(uuid):1:5"), "does not begin with"),
        (.renameTag(id: "a", to: "x"), "in the configuration file"), (.removeTag(id: "z"), "there is no such tag"),
    ])
    func `A request that cannot be carried out is refused with its reason`(request: SiteRequest, reason: String) {
        var regions = TagRegions()
        var effects: [Site.Effect] = []
        regions.restore(RegionSet(), configured: [region("a", 7)])
        regions.apply([region("b", 8)])
        #expect(regions.refusal(of: request, regions.tags(&effects))?.contains(reason) == true)
    }

    /// The tag a (beacon 7) of the file has the key f; the tag b (beacon 8) is stored. Of a waypoint without a key, the time stamp says
    /// which region it means.
    private static let edits: [(RegionChange, Bool)] = [
        (.remove(rid: "f"), true), (named("a", 9, rid: "a"), true), (named("a", 9, rid: "f"), true),
        (named("x", 7, rid: "f"), true), (named("x", 9, rid: "none", isRIDDerived: true), true),
        (
            .removeMeant(
                RegionRemoval(rid: "none", timestamp: nil, description: RegionDescription(name: "a", pattern: nil))),
            true
        ),
        (named("a", 7, rid: "f"), false), (named("a", 7, rid: "a"), false), (.remove(rid: "b"), false),
        (.remove(rid: "none"), false), (named("b", 9, rid: "b"), false), (named("c", 5, rid: "c"), false),
        (
            .removeMeant(
                RegionRemoval(rid: "none", timestamp: nil, description: RegionDescription(name: "b", pattern: nil))),
            false
        ),
    ]

    private static func named(
        _ name: String, _ minor: UInt16, rid: String, isRIDDerived: Bool = false
    ) -> RegionChange {
        let pattern = BeaconPattern(uuid: uuid, major: 1, minor: minor)
        return .set(
            Region(rid: rid, description: RegionDescription(name: name, pattern: pattern), timestamp: 5),
            isRIDDerived: isRIDDerived)
    }

    @Test(arguments: edits)
    func `An edit of a tag of the configuration file is refused by name, and others are not`(
        change: RegionChange, isRefused: Bool
    ) {
        // The key f is no id of the tag, as where it was derived from name and time.
        let rid = derivedRID(name: "a", timestamp: 5)
        func keyed(_ change: RegionChange) -> RegionChange {
            switch change {
            case .set(var region, let isRIDDerived):
                if region.rid == "f" { region.rid = rid }
                return .set(region, isRIDDerived: isRIDDerived)
            case .remove(rid: "f"): return .remove(rid: rid)
            default: return change
            }
        }
        var regions = TagRegions()
        var stored = RegionSet()
        stored.apply([region("b", 8)])
        regions.restore(stored, configured: [keyed(Self.named("a", 7, rid: "f"))])
        #expect(regions.configuredIDs == ["a"])
        let (possible, refusals) = regions.sparingConfigured([keyed(change), region("d", 4)])
        #expect(possible.count == (isRefused ? 1 : 2))
        #expect(refusals.count == (isRefused ? 1 : 0))
        #expect(refusals.allSatisfy { $0.hasPrefix("'a': the tag is in the configuration file") }, "\(refusals)")
    }

    @Test func `Without tags in the configuration file every edit is possible`() {
        var regions = TagRegions()
        regions.apply([region("b", 8)])
        #expect(regions.sparingConfigured([.remove(rid: "b")]).possible == [.remove(rid: "b")])
    }
}

/// The shared list, without the tags that it is about.
@Suite struct SharedTagListTests {
    private let own = [tag("a", 7)]
    private var effects: [Site.Effect] = []

    /// A service with a list of this version.
    private func list(version: Int64?, isSealed: Bool = false) -> SharedTagList {
        var settings = SiteSettings()
        (settings.instance, settings.areCardsSealed) = ("a", isSealed)
        var list = SharedTagList(settings)
        var stored = StoredSite()
        stored.listVersion = version.map { TagList.Version($0, "a") }
        list.restore(stored)
        return list
    }

    private func arrival(version: Int64, _ tags: [TagIdentity], isLive: Bool = false) -> SharedTagList.Arrival {
        let tags = tags.map { TagList.Tag(uuid: uuid, major: 1, minor: $0.pattern.minor, id: $0.id, name: $0.name) }
        let list = TagList(TagList.Version(version, "b"), tags)
        return SharedTagList.Arrival(list: ReceivedTagList(list.payload), reason: "", isLive: isLive)
    }

    @Test mutating func `A service without a list takes none: a person is asked`() {
        var list = list(version: nil)
        #expect(list.isAwaited)
        let taking = list.judge(arrival(version: 3, [tag("b", 8)]), .listening, own, TagRegions(), &effects)
        #expect(taking == nil)
        #expect(list.isOffered && !list.isAwaited && list.adoption != nil)
        #expect(list.adoptionRefusal(isConnected: true) == nil && list.adoptionRefusal(isConnected: false) != nil)
    }

    /// The version of the list, whether it arrived beside an active service, whether the site has a key; what is done at a standby.
    @Test(
        arguments: [
            (version: Int64(6), isLive: true, isSealed: false, isTaken: true),
            (version: 6, isLive: false, isSealed: true, isTaken: true),
            // It has no proof, and waits until this service becomes active.
            (version: 6, isLive: false, isSealed: false, isTaken: false),
            (version: 5, isLive: true, isSealed: false, isTaken: false),
            (version: 4, isLive: true, isSealed: true, isTaken: false),
            // Nobody has made so many changes.
            (version: 6 + 1 << 21, isLive: true, isSealed: true, isTaken: false),
        ] as [(version: Int64, isLive: Bool, isSealed: Bool, isTaken: Bool)])
    mutating func `A standby takes a newer list that it received with a proof`(
        version: Int64, isLive: Bool, isSealed: Bool, isTaken: Bool
    ) {
        var list = list(version: 5, isSealed: isSealed)
        let arrival = arrival(version: version, own + [tag("b", 8)], isLive: isLive)
        let taking = list.judge(arrival, .standby, own, TagRegions(), &effects)
        #expect((taking != nil) == isTaken && taking?.removesOthers ?? true)
        let waits = version == 6 && !isTaken
        #expect((list.unprovedTaking != nil) == waits && list.unprovedTaking?.removesOthers != true)
    }

    @Test mutating func `An active service answers another list with its own, in a version above all that it saw`() {
        var list = list(version: 5)
        let older = list.judge(arrival(version: 4, [tag("b", 8)]), .active, own, TagRegions(), &effects)
        #expect(older == nil && reports(effects) == [.tags(list.list(of: own))] && list.version?.number == 5)
        let newer = list.judge(arrival(version: 7, own), .active, own, TagRegions(), &effects)
        #expect(newer?.removesOthers == false)
        list.settle(&effects)
        #expect(list.version?.number == 8)
    }

    @Test func `Lists are handled five seconds apart, and the latest one counts`() {
        var list = list(version: 5)
        list.receive(arrival(version: 6, []))
        let first = list.next(at: instant(1))
        #expect(first?.arrival != nil)
        list.receive(arrival(version: 7, own))
        list.receive(arrival(version: 8, []))
        let second = list.next(at: instant(2))
        #expect(second == nil && list.due == instant(6))
        list.want()
        let next = list.next(at: instant(6))
        #expect(next?.isWanted == true && (try? next?.arrival?.list?.list().version.number) == 8)
        #expect(list.due == nil)
    }
}

/// The queue of commands and what is remembered, without the tags that they change.
@Suite struct SiteCommandsTests {
    private var commands = SiteCommands(SiteSettings())
    private var effects: [Site.Effect] = []

    private func command(_ action: String, isRetained: Bool = false) -> ReceivedCommand {
        let text = #"{"_type":"cmd","action":"\#(action)","waypoints":{"_type":"waypoints","waypoints":[]}}"#
        return ReceivedCommand(
            tracker: 0,
            command: Result { () throws(CommandError) in try Command(parsing: Array(text.utf8), base: .auto) },
            isRetained: isRetained, wasEncrypted: false, digest: CommandDigest(of: text.utf8))
    }

    @Test mutating func `A retained setWaypoints waits for the election, and the commands behind it with it`() {
        commands.receive(command("setWaypoints", isRetained: true), at: instant(1), &effects)
        commands.receive(command("clearWaypoints"), at: instant(1), &effects)
        let early = commands.next(isUndecided: true, regions: 0, at: instant(1))
        #expect(early == nil)
        #expect(commands.due(isUndecided: true) == nil && commands.due(isUndecided: false) != nil)
        let next = commands.next(isUndecided: false, regions: 0, at: instant(1))
        #expect(next?.isRetained == true)
    }

    @Test mutating func `What the broker sends again stays in the queue of a service that ends beside another`() {
        commands.receive(command("setWaypoints", isRetained: true), at: instant(1), &effects)
        commands.receive(command("clearWaypoints"), at: instant(1), &effects)
        let last = commands.drain(isAlone: false)
        #expect(last.map(\.isRetained) == [false])
    }

    @Test mutating func `A retained command is left to the active service, and remembered`() {
        let command = command("setWaypoints", isRetained: true)
        let first = commands.admit(command, takesRetained: false, clock, at: instant(1), &effects)
        #expect(first == nil && lines(effects).last?.contains("is left to the active service") == true)
        let second = commands.admit(command, takesRetained: true, clock, at: instant(2), &effects)
        #expect(second == nil && lines(effects).last?.contains("was applied before") == true)
    }

    @Test mutating func `A command of the gateway is refused by name`() {
        let admitted = commands.admit(command("dump"), takesRetained: true, clock, at: instant(1), &effects)
        #expect(admitted == nil && lines(effects).count == 1 && commands.counts[.unsupported] == 1)
    }
}

/// When what was learned is stored.
@Suite struct LearnedWritesTests {
    @Test func `A deletion is stored at once, and another one five seconds later`() {
        var writes = LearnedWrites()
        let inReplay = writes.forget(at: instant(0))
        #expect(!inReplay, "a replay stores nothing")
        writes.begin(at: instant(0))
        #expect(writes.due == instant(900))
        let (first, second) = (writes.forget(at: instant(10)), writes.forget(at: instant(12)))
        #expect(first && !second)
        #expect(writes.due == instant(15))
    }

    @Test func `The write follows the first end of a training run, and not the end of one that is over`() {
        var writes = LearnedWrites()
        writes.begin(at: instant(0), [instant(40), instant(30)])
        #expect(writes.due == instant(35))
        writes.begin(at: instant(100), [instant(40)])
        #expect(writes.due == instant(1000))
    }
}

/// The table of gateways, without the engine's beliefs.
@Suite struct GatewayTableTests {
    private func table(_ rooms: [String: String]) -> GatewayTable {
        var settings = SiteSettings()
        settings.gateways = rooms.mapValues { .named($0) }
        return GatewayTable(settings)
    }

    @Test func `The configuration gives a gateway its room by its name in topics and by its deviceId`() {
        let table = table(["pi 1": "Hall"])
        #expect(table.configuredRoom(of: TopicIdentifier.identifier(of: "pi 1"))?.name == "Hall")
        guard case .card(_, .named("Hall"), true)? = table.placement(of: "pi 1", GatewayCard(room: "Attic")) else {
            return _ = Issue.record("the configuration does not count")
        }
        guard case .card(_, .named("Attic"), false)? = table.placement(of: "k", GatewayCard(room: "Attic")) else {
            return _ = Issue.record("the card does not count")
        }
        guard table.placement(of: "k", nil) == nil else { return _ = Issue.record("it has no room") }
    }

    @Test func `Phones count while a gateway that counts names them`() {
        var table = table([:])
        let engine = RoomEngine()
        let tags = [tag("jane", 7)]
        _ = table.record(GatewayCard(room: "Hall", phones: [uuid]), of: "k", in: engine, at: .zero)
        #expect(!table.areOtherPhones && !table.isPhone(uuid))
        table.countPhones(of: "k", true)
        #expect(table.areOtherPhones)
        let named = table.phones(among: tags)
        #expect(named == [uuid] && !table.areOtherPhones)
        _ = table.record(GatewayCard(room: "Hall"), of: "k", in: engine, at: .zero)
        #expect(table.areOtherPhones)
        let left = table.phones(among: tags)
        #expect(left == [])
    }

    @Test func `A gateway feeds in the place of a node of its name, from its third message to 25 s after the last`() {
        var table = table([:])
        let engine = RoomEngine()
        for second in 1...4 { table.recordFeed(of: "kitchen", startID: "b", at: instant(Double(second))) }
        func feed(_ second: Double) -> GatewayTable.NodeFeed? {
            table.feed(inPlaceOf: "kitchen", engine, connected: nil, at: instant(second))
        }
        #expect(feed(4) == .active && feed(29) == .active && feed(30) == nil)
    }
}

/// Which service decides, as it is shown and told.
@Suite struct ElectionTests {
    private var effects: [Site.Effect] = []

    private func election(_ instance: String?) -> Election {
        var settings = SiteSettings()
        (settings.site, settings.instance) = ("home", instance)
        return Election(settings)
    }

    @Test mutating func `The only service is active, and has no card`() {
        var election = election(nil)
        #expect(election.isAlone && election.role == .active && election.shownRole == "active")
        election.sendCard(asks: true, &effects)
        let decided = election.connected(at: instant(1))
        #expect(reports(effects) == [] && decided == nil)
    }

    @Test mutating func `At most 32 cards are remembered, and a counter that moves is no news`() {
        var election = election("b")
        for number in 0..<40 {
            _ = election.receive(
                ServiceCard(isActive: false, counter: 0, version: ""), of: "x\(number)", at: instant(1), &effects)
        }
        #expect(election.cards.count == 32 && effects.count == 32)
        _ = election.receive(
            ServiceCard(isActive: false, counter: 9, version: ""), of: "x3", at: instant(1), &effects)
        #expect(effects.count == 32)
    }

    @Test mutating func `A service with a question says so on its card, once`() {
        var election = election("b")
        var settings = SiteSettings()
        settings.instance = "b"
        var list = SharedTagList(settings)
        let arrival = SharedTagList.Arrival(list: nil, reason: "it is encrypted", isLive: false)
        _ = list.judge(arrival, .listening, [], TagRegions(), &effects)
        for _ in 0..<2 { election.judgeAbility(list, isConnected: true, &effects) }
        #expect(lines(effects).count == 1 && reports(effects).count == 1)
        guard case .card("b", let card)? = reports(effects).first else { return _ = Issue.record("\(effects)") }
        #expect(card.asksToAdopt && !card.isActive)
    }
}

/// What is published as ESPresense nodes.
@Suite struct VirtualNodesTests {
    private var effects: [Site.Effect] = []

    private func move(_ tag: TagIdentity, from: String?, to: String?) -> TagStates.Move {
        TagStates.Move(
            index: 0, tag: tag, from: from.map { room($0) }, to: to.map { room($0) }, isHome: true,
            left: from.map { room($0) })
    }

    @Test(arguments: [true, false])
    mutating func `The room that was left is said first; nothing is said where it is off, or without a connection`(
        isOn: Bool
    ) {
        let nodes = VirtualNodes(isOn: isOn)
        nodes.send(move(tag("jane", 7), from: "Hall", to: "Kitchen"), isConnected: false, &effects)
        nodes.send(move(tag("jane", 7), from: "Hall", to: "Kitchen"), isConnected: true, &effects)
        let topics = reports(effects).map { $0.message(to: SiteAddresses(site: "home", user: nil)).topic }
        let rooms = topics.map { String($0.split(separator: "/").last ?? "") }
        #expect(rooms == (isOn ? ["Hall", "Kitchen"] : []))
    }

    @Test mutating func `A node in the way is logged once, and forgotten after a minute`() {
        var nodes = VirtualNodes(isOn: true)
        for second in [0.0, 30] { nodes.record(rival: "hall", at: instant(second), &effects) }
        #expect(lines(effects).count == 1 && nodes.advice(at: instant(90)) != nil)
        #expect(nodes.advice(at: instant(91)) == nil)
    }
}

/// The states and times of tags, without the engine's reasons.
@Suite struct TagStatesTests {
    private let engine = RoomEngine()
    private var states = TagStates(SiteSettings())
    private var effects: [Site.Effect] = []

    init() { states.replace(by: [tag("jane", 7), tag("keys", 8)]) }

    private mutating func decide(_ name: String?, _ clock: WallClock, at second: Double) {
        let before = states.roster.states[0].room
        let decision = RoomEngine.Decision(
            tag: 0, isHome: name != nil, from: before, to: name.map { room($0) }, confidence: 1)
        guard let move = states.take(decision, engine, clock, at: instant(second)) else {
            return _ = Issue.record("there is no such tag")
        }
        states.report(move, engine, clock, at: instant(second), &effects)
    }

    @Test mutating func `A decision becomes leave, enter, tag, old room and new room, in this order`() {
        decide("Hall", clock, at: 1)
        effects = []
        decide("Kitchen", clock, at: 2)
        let words = reports(effects).map { report in
            switch report {
            case .transition(_, let transition): "\(transition.payload["event"]?.string ?? "")"
            case .tag: "tag"
            case .room(let id, let state): "\(id) \(state?.count ?? -1)"
            default: "\(report)"
            }
        }
        #expect(words == ["leave", "enter", "tag", "hall 0", "kitchen 1"])
    }

    @Test
    mutating func `A state that was decided before the clock was set is stored without a time, and stamped later`() {
        let unset = WallClock(epochOffset: 0, isKnown: false)
        decide("Hall", unset, at: 5)
        let stored = states.storedStates.compactMap { effect in
            if case .store(.tag("jane", let state?)) = effect { state.since } else { nil }
        }
        #expect(stored == [0])
        #expect(
            states.unstampedInstant(of: .tag(id: "jane", states.roster.states[0]), unset, at: instant(9)) == instant(5))
        states.stamp(clock, engine, &effects)
        #expect(states.roster.states[0].since == 1_700_000_005)
    }

    @Test mutating func `A tag that was removed before the election leaves when this service becomes active`() {
        decide("Hall", clock, at: 1)
        let old = states.roster
        states.replace(by: [tag("keys", 8)])
        effects = []
        states.drop(old, isActive: false, mayLeave: true, at: 7, &effects)
        #expect(reports(effects) == [])
        let changes = states.takeOver(engine, RetainedStates(), clock, at: instant(9), &effects)
        #expect(reports(effects).count == 1 && changes.isEmpty)
    }
}

/// The ids under which nodes publish beacons.
@Suite struct NodeAliasesTests {
    @Test func `Settings of invented beacons take a bounded number of places, and one that ends frees its own`() {
        var aliases = NodeAliases()
        let beacons = (0...NodeAliases.most).map {
            BeaconID(uuid: BeaconUUID(high: 1, low: UInt64($0)), major: 1, minor: 1)
        }
        for (number, beacon) in beacons.enumerated() { aliases.set("id:\(number)", of: beacon) }
        #expect(aliases.beacon(of: "id:0") == beacons[0])
        #expect(aliases.beacon(of: "id:\(NodeAliases.most)") == nil)
        aliases.set(nil, of: beacons[0])
        aliases.set("id:\(NodeAliases.most)", of: beacons[NodeAliases.most])
        #expect(aliases.beacon(of: "id:\(NodeAliases.most)") == beacons[NodeAliases.most])
        #expect(aliases.beacon(of: "id:0") == nil)
    }
}
