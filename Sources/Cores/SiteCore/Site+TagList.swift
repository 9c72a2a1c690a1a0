import Base
import Beacon
import OwnTracks
import Regions
import Rooms
import SiteProtocol

/// What this service knows of the site's list of tags.
///
/// All services of a site keep the same list. The broker retains it with its version, and a service takes a newer one by
/// itself. Any client may publish a list where the site has no key, so a list removes tags only if it was encrypted with the
/// key, or if a standby receives it live beside an active service, which answers a wrong list. Any other list adds tags.
struct SiteList: Sendable {
    /// Shortest time between two lists that are handled. Two services, or another client, would answer each other without end.
    static let period: Duration = .seconds(5)
    /// A version that is further ahead is not believed: it would leave no number for the next change.
    static let mostSteps: Int64 = 1 << 20

    struct Arrival: Sendable {
        /// nil: the list cannot be decrypted.
        var list: ReceivedTagList?
        /// Why it cannot be decrypted.
        var reason = ""
        /// Whether it arrived live while another service was active.
        var isLive = false
    }

    /// The version of this service's list; nil if it has no stored list. 0: the list was never compared with the site's.
    var version: TagList.Version?
    /// The largest version that was seen.
    var seen: Int64 = 0
    /// The latest list that was not handled yet.
    var arrival: Arrival?
    /// A list without proof, whose tags are added when this service becomes active.
    var unproved: TagList?
    /// Whether tags were changed here since the connection was lost: another service may have changed them, too.
    var isChanged = false
    /// Whether another service needs the list live.
    var isWanted = false
    var handled: MonotonicInstant?
    /// When `arrival` is handled.
    var due: MonotonicInstant?
    /// Whether the list that the broker retains has arrived, if there is one.
    var isRead = false
    /// The list that a person must adopt first.
    var offer: Offer?

    enum Offer: Sendable {
        case list(TagList)
        case unreadable(reason: String)
    }

    /// Whether a version is not too far ahead of this service's own one.
    func isBelievable(_ version: TagList.Version) -> Bool {
        version.number <= (self.version?.number ?? 0) + Self.mostSteps
    }

    /// A list with this version arrived.
    mutating func see(_ version: TagList.Version) {
        if isBelievable(version) { seen = max(seen, version.number) }
    }

    /// A connection was made: the broker's list arrives.
    mutating func begin() { (arrival, unproved, handled, due, offer, isRead) = (nil, nil, nil, nil, nil, false) }
}

/// The list of tags that gateways read and that the services of a site share.
extension Site {
    /// Gateways use the tags with an exact beacon (UUID, major and minor).
    var tagList: TagList {
        TagList(
            siteList.version ?? TagList.Version(0, ""),
            roster.tags.map {
                TagList.Tag(
                    uuid: $0.pattern.uuid, major: $0.pattern.major, minor: $0.pattern.minor, id: $0.id, name: $0.name)
            }.sorted { ($0.id ?? "") < ($1.id ?? "") })
    }

    /// What a person must decide about the site's list before this service may become active; nil: nothing.
    package var question: (text: String, cure: String)? {
        switch siteList.offer {
        case nil: nil
        case .list(let list):
            (
                "this service has no stored list of tags, and the site's list has \(list.tags.count); it does not replace "
                    + "that list, and decides nothing",
                "adopt the list: sudo ibeacon-gateway rooms tags adopt, on this machine, or the button below; to begin "
                    + "anew: ibeacon-gateway rooms clear"
            )
        case .unreadable(let reason):
            (
                "the site's list of tags cannot be read here, and is not replaced: \(reason)",
                "if it is encrypted, give this service the key of the site (rooms.encryptionKeyFile), and adopt the list: sudo "
                    + "ibeacon-gateway rooms tags adopt; to begin anew: ibeacon-gateway rooms clear"
            )
        }
    }

    /// Whether the service cannot know yet if there is a list to adopt.
    package var waitsForList: Bool { siteList.version == nil && !siteList.isRead }

    func adoptionRefusal() -> String? {
        if retained.connected == nil { return "there is no connection to the broker" }
        if case .unreadable = siteList.offer, let question { return "\(question.text); \(question.cure)" }
        if siteList.version == nil, siteList.offer == nil { return "the broker has no list of tags of this site" }
        return nil
    }

    mutating func adoptList(at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard case .list(let list) = siteList.offer else { return }
        take(list, removesOthers: false, at: now, &effects)
    }

    // MARK: - A list that arrives

    mutating func receive(_ arrival: SiteList.Arrival, at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard let election else {
            if let list = arrival.list { adopt(list, at: now, &effects) }
            return
        }
        siteList.arrival = arrival
        siteList.arrival?.isLive = arrival.isLive && election.hasActiveOther(at: now)
        handleListWhenDue(at: now, &effects)
    }

    /// What the broker retains has arrived. If there was no list, this service may make one.
    mutating func listIsRead(_ effects: inout [Effect]) {
        guard waitsForList else { return }
        siteList.isRead = true
        judgeAbility(&effects)
    }

    /// A broker that does not return the own card is given time.
    mutating func waitForList(at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard let connected = retained.connected, connected.duration(to: now) >= ActiveService.patience else { return }
        listIsRead(&effects)
    }

    /// Another service has connected: it believes what it receives live.
    mutating func listIsWanted(at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard role == .active else { return }
        siteList.isWanted = true
        handleListWhenDue(at: now, &effects)
    }

    mutating func handleListWhenDue(at now: MonotonicInstant, _ effects: inout [Effect]) {
        let due = siteList.handled?.advanced(by: SiteList.period) ?? now
        guard due <= now else {
            siteList.due = due
            return
        }
        let (arrival, isWanted) = (siteList.arrival, siteList.isWanted)
        (siteList.arrival, siteList.isWanted, siteList.due, siteList.handled) = (nil, false, nil, now)
        if let arrival { handle(arrival, at: now, &effects) }
        if isWanted, role == .active { effects.append(.send(.tags(tagList))) }
    }

    private mutating func handle(_ arrival: SiteList.Arrival, at now: MonotonicInstant, _ effects: inout [Effect]) {
        (siteList.isRead, siteList.unproved) = (true, nil)
        defer { judgeAbility(&effects) }
        guard let received = arrival.list else {
            if role == .active { return answer(&effects) }
            // With a stored list and the key, the list of another key is replaced: the site's key was changed.
            if siteList.version == nil || !settings.areCardsSealed {
                siteList.offer = .unreadable(reason: arrival.reason)
            }
            return
        }
        guard siteList.version == nil || !received.isPayload(of: tagList) else { return siteList.offer = nil }
        do throws(FeedError) {
            compare(try received.list(), isLive: arrival.isLive, at: now, &effects)
        } catch {
            refuse(error, &effects)
            if role == .active { answer(&effects) }
            if siteList.version == nil { siteList.offer = .unreadable(reason: "\(error)") }
        }
    }

    private mutating func compare(
        _ list: TagList, isLive: Bool, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        guard let version = siteList.version else { return offer(list, &effects) }
        siteList.offer = nil
        // The broker lost the list, or another client changed it: the gateways need the right one.
        guard list.version.number > 0 else {
            if role == .active { answer(&effects) } else if !list.tags.isEmpty { siteList.unproved = list }
            return
        }
        let isBelievable = siteList.isBelievable(list.version)
        siteList.see(list.version)
        let isConcurrent =
            siteList.isChanged && list.version.number >= version.number && list.version != version
        guard isBelievable, version < list.version || isConcurrent else {
            // The configuration file was given tags before this start. Until a list is newer than theirs, nobody else knows them.
            let isExtended = role != .active && list.version == version && lacksConfiguredTag(list, at: now)
            if isExtended { advanceVersion(&effects) }
            if isExtended || role == .active || list.version < version { answer(&effects) }
            return
        }
        let isProved = settings.areCardsSealed || (isLive && role != .active)
        if isProved || role == .active {
            take(list, removesOthers: isProved && version.number > 0 && !isConcurrent, at: now, &effects)
        } else {
            siteList.unproved = list
        }
    }

    private func lacksConfiguredTag(_ list: TagList, at now: MonotonicInstant) -> Bool {
        changes(to: list, at: now).others.contains {
            configuredTags.contains($0.tag.id) && roster.tags.contains($0.tag)
        }
    }

    /// A service without a stored list takes none without a person, and replaces none: a list may be forged, and what this
    /// service lost is in it.
    private mutating func offer(_ list: TagList, _ effects: inout [Effect]) {
        let own = Set(roster.tags.map(\.pattern))
        guard list.tags.contains(where: { !own.contains($0.pattern) }) else {
            siteList.offer = nil
            guard !list.tags.isEmpty else { return }
            siteList.see(list.version)
            let isSame = tagList.tags == list.tags && siteList.isBelievable(list.version)
            return isSame ? setVersion(list.version, &effects) : advanceVersion(&effects)
        }
        siteList.offer = .list(list)
    }

    /// The configuration or a person changed the tags of a service that waits.
    mutating func compareOffer(_ effects: inout [Effect]) {
        if case .list(let list) = siteList.offer { offer(list, &effects) }
        judgeAbility(&effects)
    }

    /// Publishes the own list, in place of another.
    private mutating func answer(_ effects: inout [Effect]) {
        guard let version = siteList.version else { return }
        if role == .active, siteList.seen > version.number { advanceVersion(&effects) }
        effects.append(.send(.tags(tagList)))
    }

    /// Before this service becomes active: what it has received without proof adds tags, and its list gets a version.
    mutating func settleList(at now: MonotonicInstant, _ effects: inout [Effect]) {
        if let arrival = siteList.arrival { handle(arrival, at: now, &effects) }
        (siteList.arrival, siteList.due, siteList.handled) = (nil, nil, now)
        if let list = siteList.unproved { take(list, removesOthers: false, at: now, &effects) }
        (siteList.unproved, siteList.isChanged) = (nil, false)
        if (siteList.version?.number ?? 0) == 0 || siteList.seen > siteList.version?.number ?? 0 {
            advanceVersion(&effects)
        }
    }

    // MARK: - Versions

    private mutating func setVersion(_ version: TagList.Version, _ effects: inout [Effect]) {
        siteList.version = version
        effects.append(.store(.listVersion(version)))
    }

    /// This service makes a newer list than all that it knows.
    mutating func advanceVersion(_ effects: inout [Effect]) {
        setVersion(TagList.Version(max(siteList.version?.number ?? 0, siteList.seen) + 1, instance), &effects)
    }

    // MARK: - Taking a list

    /// Takes the tags of a list. Tags of the configuration file stay as they are there.
    ///
    /// - Parameter removesOthers: Whether other tags are removed.
    private mutating func take(
        _ list: TagList, removesOthers: Bool, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        (siteList.offer, siteList.unproved, siteList.isChanged) = (nil, nil, false)
        siteList.see(list.version)
        let (changes, others) = changes(to: list, at: now)
        let isBelievable = siteList.isBelievable(list.version)
        let by = list.version.number > 0 ? " (version \(list.version.number) of '\(list.version.instance)')" : ""
        effects.append(.log(.notice, "takes the site's list of \(list.tags.count) tags\(by)", once: "list taken"))
        let gone = removesOthers ? others.filter { !configuredTags.contains($0.tag.id) } : []
        let known = Set(roster.tags.map(\.id))
        change(tags: changes + gone.map { .remove(rid: $0.region.rid) }, isOwn: false, at: now, &effects)
        askForStates(ofTagsBeside: known, &effects)
        // A region that is no tag, because another has its id or beacon, is not in the list and does not extend it.
        let tags = Set(roster.tags)
        let kept = others.filter {
            tags.contains($0.tag) && (!removesOthers || configuredTags.contains($0.tag.id))
        }
        let isExtended = !kept.isEmpty
        if isExtended {
            let names = kept.prefix(5).map(\.tag.name).joined(separator: ", ")
            effects.append(
                .log(.notice, "keeps \(kept.count) tags that are not in the site's list: \(names)", once: "list kept"))
        }
        // An active service publishes what the gateways should have; another one only what it adds.
        guard isExtended || !isBelievable || (role == .active && tagList.tags != list.tags) || list.version.number == 0
        else {
            return setVersion(list.version, &effects)
        }
        guard role == .active || list.version.number > 0 else { return setVersion(TagList.Version(0, ""), &effects) }
        advanceVersion(&effects)
        effects.append(.send(.tags(tagList)))
    }

    /// The changes for the tags of a list, and the own tags that it lacks.
    private func changes(
        to list: TagList, at now: MonotonicInstant
    ) -> ([RegionChange], others: [(region: Region, tag: TagIdentity)]) {
        let own = regions.regions.compactMap { region in TagIdentity(region).map { (region: region, tag: $0) } }
        let byID = Dictionary(own.map { ($0.tag.id, $0) }) { first, _ in first }
        let byPattern = Dictionary(own.map { ($0.tag.pattern, $0) }) { first, _ in first }
        var (removals, settings): ([RegionChange], [RegionChange]) = ([], [])
        var known: Set<String> = []
        // A listed tag takes the place of an own one, or else a free one. Regions that are no tags have places, too.
        var (places, taken) = (Self.mostRegions - regions.regions.count, Set<ExactString>())
        for listed in list.tags {
            let beacon = byPattern[listed.pattern]
            let old = listed.id.flatMap { byID[$0] } ?? beacon
            let id = listed.id.flatMap { TopicIdentifier.isIdentifier($0) ? $0 : nil } ?? old?.tag.id ?? listed.newID
            let name = listed.name ?? old?.tag.name ?? listed.id ?? listed.newID
            known.formUnion([old, beacon].compactMap { $0?.tag.id })
            let description = RegionDescription(name: name, pattern: listed.pattern)
            let region = Region(rid: id, description: description, timestamp: epoch(at: now))
            // A name that begins with '+' makes no tag.
            guard let tag = TagIdentity(region), old?.tag != tag, !configuredTags.contains(id),
                old.map({ !configuredTags.contains($0.tag.id) }) ?? true,
                beacon.map({ !configuredTags.contains($0.tag.id) }) ?? true
            else { continue }
            let replaced = [old, beacon].compactMap { $0.map { ExactString($0.region.rid) } }
            if let place = replaced.first(where: { !taken.contains($0) }) {
                taken.insert(place)
            } else {
                guard places > 0 else { continue }
                places -= 1
            }
            removals += replaced.map { .remove(rid: $0.text) }
            settings.append(.set(region, isRIDDerived: false))
        }
        return (removals + settings, own.filter { !known.contains($0.tag.id) })
    }

    /// A replay has no tags of its own: it adds those of the recording to those of the configuration.
    private mutating func adopt(_ received: ReceivedTagList, at now: MonotonicInstant, _ effects: inout [Effect]) {
        let list: TagList
        do throws(FeedError) { list = try received.list() } catch { return refuse(error, &effects) }
        let own = identities(&effects)
        var tags = own
        for tag in list.tags {
            if let beacon = tag.beacon, own.contains(where: { $0.pattern.matches(beacon) }) { continue }
            let id = tag.id.flatMap { TopicIdentifier.isIdentifier($0) ? $0 : nil } ?? tag.name.map(RoomName.id)
            let name = tag.name ?? tag.beacon?.description ?? tag.newID
            tags.append(TagIdentity(id: id ?? tag.newID, name: name, pattern: tag.pattern))
        }
        pass(.tick, at: now, &effects)
        setTags(tags, at: now)
    }
}

extension TagList.Tag {
    fileprivate var pattern: BeaconPattern { BeaconPattern(uuid: uuid, major: major, minor: minor) }

    /// The id of a tag of which only the beacon is known.
    fileprivate var newID: String {
        ["\(uuid)", major.map { "\($0)" }, minor.map { "\($0)" }].compactMap(\.self).joined(separator: "-")
    }
}
