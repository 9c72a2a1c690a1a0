import Base
import OwnTracks
import Regions
import Rooms
import SiteProtocol

/// Which tags the site has: changes that are made here, and the list that the services of a site share.
///
/// It coordinates the regions and the shared list, so that a change of one reaches the other. Where the tags are, and which service is
/// active, comes in as arguments: a change of the tags moves them (`Whereabouts`), and what is known of the list decides whether this
/// service may become active (`Election`).
package struct SiteTags: Sendable {
    package private(set) var regions: TagRegions
    package private(set) var list: SharedTagList
    /// The keys of the regions of the configuration file, as they are stored.
    private var configured: [String] = []
    /// The tags of the configuration file that the log names at once.
    private static let mostTold = 10

    init(_ settings: SiteSettings) {
        regions = TagRegions(most: settings.bounds.tags)
        list = SharedTagList(settings)
    }

    mutating func restore(_ stored: StoredSite, configured changes: [RegionChange]) {
        regions.restore(stored.regions, configured: changes)
        list.restore(stored)
        configured = stored.configured
    }

    /// After a start: removes what the configuration file defined when the service ran last and does not define any more.
    mutating func settleConfigured(
        _ whereabouts: inout Whereabouts, _ election: inout Election, at now: MonotonicInstant,
        _ effects: inout [Site.Effect]
    ) {
        let gone = removals(ofFormer: configured, &effects)
        change(gone, &whereabouts, &election, at: now, &effects)
        storeConfigured(&effects)
    }

    /// The removals of what the configuration file defined before and does not define any more.
    private func removals(ofFormer rids: [String], _ effects: inout [Site.Effect]) -> [RegionChange] {
        let gone = regions.noLongerConfigured(of: rids)
        // A tag with another name or beacon is another region, and the same tag.
        let tags = gone.compactMap { TagIdentity($0) }.filter { !regions.configuredIDs.contains($0.id) }
        effects += tags.prefix(Self.mostTold).map {
            .log(.notice, "tags: '\($0.name)' is removed: the configuration file (rooms.tags) no longer has it")
        }
        return gone.map { .remove(rid: $0.rid) }
    }

    /// Stores which regions the configuration file defines, if that is news: it may be changed while the service does not run.
    private mutating func storeConfigured(_ effects: inout [Site.Effect]) {
        let rids = regions.configuredRIDs
        guard rids != configured else { return }
        configured = rids
        effects.append(storedConfigured)
    }

    var storedConfigured: Site.Effect { .store(.configured(configured)) }

    // MARK: - Changes

    /// Why a request of the page is refused; nil if it is possible.
    func refusal(of request: SiteRequest, _ whereabouts: Whereabouts) -> String? {
        let tags = whereabouts.tags
        switch request {
        case .learn(.train(_, let tag, _)) where !tags.contains(where: { $0.id == tag || $0.name == tag }):
            return "there is no such tag"
        // Sent through the broker, as from the command line, so that the other services of the site receive it too.
        case .learn, .search: return whereabouts.isConnected ? nil : "there is no connection to the broker"
        case .adoptTags: return list.adoptionRefusal(isConnected: whereabouts.isConnected)
        case .addTag, .renameTag, .removeTag: return regions.refusal(of: request, tags)
        }
    }

    /// Carries out a request that changes tags.
    mutating func carryOut(
        _ request: SiteRequest, _ whereabouts: inout Whereabouts, _ election: inout Election,
        at now: MonotonicInstant, _ effects: inout [Site.Effect]
    ) {
        guard case .adoptTags = request else {
            let changes = regions.changes(of: request, whereabouts.tags, at: whereabouts.clock.epochSeconds(at: now))
            return change(changes, &whereabouts, &election, at: now, &effects)
        }
        if let taking = list.adoption { take(taking, &whereabouts, &election, at: now, &effects) }
    }

    /// The changes that a command makes; nil: it makes none. `change` makes them, if there is room.
    ///
    /// What would change a tag of the configuration file is left out, and named in the log.
    func changes(by command: Command, _ effects: inout [Site.Effect]) -> [RegionChange]? {
        switch command {
        case .setWaypoints(let reading):
            let (possible, refusals) = regions.sparingConfigured(reading.changes)
            for problem in (reading.problems + reading.remarks).map(\.description) + refusals.prefix(Self.mostTold) {
                effects.append(.log(.warning, "setWaypoints: \(problem)", once: "waypoint-refused"))
            }
            return possible
        case .clearWaypoints:
            let (possible, refusals) = regions.clearing()
            for refusal in refusals.prefix(Self.mostTold) {
                effects.append(.log(.warning, "clearWaypoints: \(refusal)", once: "waypoint-refused"))
            }
            return possible
        // The gate admits none of these. They are listed, so that the compiler asks where a new command belongs.
        case .reportLocation, .waypoints, .setConfiguration, .dump, .status: return nil
        }
    }

    /// The configuration file was read again. What it no longer defines is removed, also where there is no room for what is new.
    mutating func configure(
        _ changes: [RegionChange], _ whereabouts: inout Whereabouts, _ election: inout Election,
        at now: MonotonicInstant, _ effects: inout [Site.Effect]
    ) {
        regions.configure(changes)
        let gone = removals(ofFormer: configured, &effects)
        change(possible(gone + changes, &effects) ?? gone, &whereabouts, &election, at: now, &effects)
        storeConfigured(&effects)
    }

    /// The command line edited tags.
    mutating func apply(
        _ edits: [SiteEdit], _ whereabouts: inout Whereabouts, _ election: inout Election, at now: MonotonicInstant,
        _ effects: inout [Site.Effect]
    ) {
        guard let last = edits.last?.id else { return }
        var changes: [RegionChange] = []
        var erasures: [Site.Effect] = []
        for edit in edits {
            switch edit.change {
            case .tags(let change): changes += [change].compactMap(\.self)
            case .eraseHistory(let topic):
                erasures += [.eraseHistory(topic: topic), .editsTaken(topic: topic, upTo: edit.id)]
            }
        }
        let (spared, refusals) = regions.sparingConfigured(changes)
        effects += refusals.prefix(Self.mostTold).map {
            .log(.warning, "tags: an edit is refused: \($0)", once: "tags \($0)")
        }
        changes = possible(spared, &effects) ?? []
        let taken = Site.Effect.editsTaken(topic: nil, upTo: last)
        change(changes, with: [taken], then: erasures, &whereabouts, &election, at: now, &effects)
    }

    /// The changes if there is room for them; else none, with a line in the log.
    private func possible(_ changes: [RegionChange], _ effects: inout [Site.Effect]) -> [RegionChange]? {
        guard let refusal = regions.refusal(of: changes) else { return changes }
        effects.append(.log(.warning, "regions: nothing is changed: \(refusal)", once: "regions-refused"))
        return nil
    }

    /// - Parameters:
    ///   - changes: The caller has seen to it that there is room for them.
    ///   - more: Further effects of the same decision.
    ///   - last: Effects that come after all consequences of `changes`.
    ///   - isOwn: Whether the change was made here. Otherwise it comes with the site's list, and its version.
    mutating func change(
        _ changes: [RegionChange], with more: [Site.Effect] = [], then last: [Site.Effect] = [], isOwn: Bool = true,
        _ whereabouts: inout Whereabouts, _ election: inout Election, at now: MonotonicInstant,
        _ effects: inout [Site.Effect]
    ) {
        let difference = regions.apply(changes)
        if isOwn {
            effects += difference.unmatched.prefix(10).map { .log(.notice, "tags: \($0)", once: "tags \($0)") }
        }
        guard !difference.isEmpty || !more.isEmpty else { return }
        // What is due is decided about the old tags.
        whereabouts.pass(.tick, at: now, &effects)
        effects += [.regions(regions.kept)] + more
        // What another service removed has left its room there.
        let mayLeave = isOwn && election.role == .listening
        let removals = whereabouts.change(regions.tags(&effects), mayLeave: mayLeave, at: now, &effects)
        list.compareOffer(whereabouts.tags, &effects)
        judgeAbility(&election, whereabouts, &effects)
        whereabouts.correctRetained(at: now, &effects)
        effects += removals
        if isOwn, !difference.isEmpty {
            list.publishChange(
                of: whereabouts.tags, election.role, isActive: whereabouts.isActive,
                isConnected: whereabouts.isConnected, &effects)
        }
        effects += last
        effects.append(
            .log(
                .notice,
                "tags: \(difference.inserted.count) new, \(difference.updated.count) changed, "
                    + "\(difference.removed.count) removed"))
        effects.append(.pageChanged)
    }

    // MARK: - The shared list

    /// A connection was made: the broker's list arrives.
    mutating func connected() { list.begin() }

    /// Says to the other services and to the gateways which list this service has, after a connection.
    func greet(_ election: inout Election, _ whereabouts: Whereabouts, _ effects: inout [Site.Effect]) {
        if election.role == .active { sendList(whereabouts, &effects) }
        // This service's card comes back after all that the broker retains.
        if list.isAwaited { election.sendCard(asks: list.isOffered, &effects) }
        judgeAbility(&election, whereabouts, &effects)
    }

    private func judgeAbility(_ election: inout Election, _ whereabouts: Whereabouts, _ effects: inout [Site.Effect]) {
        election.judgeAbility(list, isConnected: whereabouts.isConnected, &effects)
    }

    func sendList(_ whereabouts: Whereabouts, _ effects: inout [Site.Effect]) {
        effects.append(.send(.tags(list.list(of: whereabouts.tags))))
    }

    /// The active service asks the gateways that count for beacons of their own.
    mutating func askForBeacons(
        _ whereabouts: Whereabouts, _ election: Election, _ effects: inout [Site.Effect]
    ) {
        guard election.role == .active, !election.isAlone else { return }
        let gateways = whereabouts.gateways
        list.ask(
            gateways.senders(in: whereabouts.engine.plan), isKnown: { gateways.cards[$0] != nil }, whereabouts.tags,
            &effects)
    }

    /// The card of a gateway was removed.
    mutating func forgetSurvey(of gateway: String) { list.forgetSurvey(of: gateway) }

    /// What the broker retains has arrived.
    mutating func endWait(_ election: inout Election, _ whereabouts: Whereabouts, _ effects: inout [Site.Effect]) {
        if list.endWait() { judgeAbility(&election, whereabouts, &effects) }
    }

    /// A list arrived.
    ///
    /// - Parameters:
    ///   - received: nil: it cannot be decrypted, for this reason.
    ///   - isLive: Whether the broker had not retained it.
    mutating func receive(
        _ received: ReceivedTagList?, _ reason: String = "", isLive: Bool = false,
        _ whereabouts: inout Whereabouts, _ election: inout Election, at now: MonotonicInstant,
        _ effects: inout [Site.Effect]
    ) {
        guard !election.isAlone else { return adopt(received, &whereabouts, at: now, &effects) }
        let isBesideActive = isLive && election.hasActiveOther(at: now)
        list.receive(SharedTagList.Arrival(list: received, reason: reason, isLive: isBesideActive))
        handle(&whereabouts, &election, at: now, &effects)
    }

    /// A replay has no tags of its own: it adds those of the recording to those of the configuration.
    private mutating func adopt(
        _ received: ReceivedTagList?, _ whereabouts: inout Whereabouts, at now: MonotonicInstant,
        _ effects: inout [Site.Effect]
    ) {
        guard let received else { return }
        do throws(FeedError) {
            let received = try received.list()
            list.replaySurvey(of: received)
            let tags = regions.tags(with: received, &effects)
            whereabouts.pass(.tick, at: now, &effects)
            whereabouts.setTags(tags, at: now)
        } catch {
            effects.append(.refused(error, topic: list.topic))
        }
    }

    /// Another service has connected, and needs the list live.
    mutating func want(
        _ whereabouts: inout Whereabouts, _ election: inout Election, at now: MonotonicInstant,
        _ effects: inout [Site.Effect]
    ) {
        list.want()
        handle(&whereabouts, &election, at: now, &effects)
    }

    mutating func tick(
        _ whereabouts: inout Whereabouts, _ election: inout Election, at now: MonotonicInstant,
        _ effects: inout [Site.Effect]
    ) {
        if let due = list.due, due <= now { handle(&whereabouts, &election, at: now, &effects) }
        // A broker that does not return this service's card is given time.
        if let connected = whereabouts.connected, connected.duration(to: now) >= ActiveService.patience {
            endWait(&election, whereabouts, &effects)
        }
    }

    private mutating func handle(
        _ whereabouts: inout Whereabouts, _ election: inout Election, at now: MonotonicInstant,
        _ effects: inout [Site.Effect]
    ) {
        guard let (arrival, isWanted) = list.next(at: now) else { return }
        if let arrival { judge(arrival, &whereabouts, &election, at: now, &effects) }
        if isWanted, election.role == .active { sendList(whereabouts, &effects) }
    }

    private mutating func judge(
        _ arrival: SharedTagList.Arrival, _ whereabouts: inout Whereabouts, _ election: inout Election,
        at now: MonotonicInstant, _ effects: inout [Site.Effect]
    ) {
        if let taking = list.judge(arrival, election.role, whereabouts.tags, regions, &effects) {
            take(taking, &whereabouts, &election, at: now, &effects)
        }
        judgeAbility(&election, whereabouts, &effects)
    }

    /// Before this service becomes active, it takes what it has received.
    mutating func settle(
        _ whereabouts: inout Whereabouts, _ election: inout Election, at now: MonotonicInstant,
        _ effects: inout [Site.Effect]
    ) {
        if let arrival = list.takeArrival(at: now) { judge(arrival, &whereabouts, &election, at: now, &effects) }
        if let taking = list.unprovedTaking { take(taking, &whereabouts, &election, at: now, &effects) }
        list.settle(&effects)
    }

    private mutating func take(
        _ taking: SharedTagList.Taking, _ whereabouts: inout Whereabouts, _ election: inout Election,
        at now: MonotonicInstant, _ effects: inout [Site.Effect]
    ) {
        list.beginTaking(taking.list, &effects)
        let (changes, kept) = regions.changes(
            to: taking.list, removesOthers: taking.removesOthers, at: whereabouts.clock.epochSeconds(at: now))
        let known = Set(whereabouts.tags.map(\.id))
        change(changes, isOwn: false, &whereabouts, &election, at: now, &effects)
        // The active service is asked for the states of tags that this standby did not have: what was sent of them before was dropped.
        // The answer to the card is the site's list, which is known, and a round of states.
        if election.role == .standby, whereabouts.tags.contains(where: { !known.contains($0.id) }) {
            election.sendCard(asks: list.isOffered, &effects)
        }
        // A region that is no tag, because another has its id or beacon, is not in the list and does not extend it.
        let inForce = Set(whereabouts.tags)
        list.endTaking(
            taking.list, keeping: kept.filter(inForce.contains), election.role, whereabouts.tags, &effects)
    }
}
