import Base
import Regions
import SiteProtocol

/// The list of tags that gateways read and that the services of a site share.
///
/// All services of a site keep the same list. The broker retains it with its version, and a service takes a newer one by
/// itself. Any client may publish a list where the site has no key, so a list removes tags only if it was encrypted with the
/// key, or if a standby receives it live beside an active service, which answers a wrong list. Any other list adds tags.
///
/// It knows the version of its service's list and what has arrived of others, and decides which of them is taken, answered or offered to a
/// person. The tags themselves come in as arguments, and the site carries out a `Taking`.
package struct SharedTagList: Sendable {
    typealias Role = ActiveService.Role

    /// Shortest time between two lists that are handled. Two services, or another client, would answer each other without end.
    private static let period: Duration = .seconds(5)
    /// A version that is further ahead is not believed: it would leave no number for the next change.
    private static let mostSteps: Int64 = 1 << 20

    struct Arrival: Sendable {
        /// nil: the list cannot be decrypted.
        let list: ReceivedTagList?
        /// Why it cannot be decrypted.
        let reason: String
        /// Whether it arrived live while another service was active.
        let isLive: Bool
    }

    private enum Offer: Sendable {
        case list(TagList)
        case unreadable(reason: String)
    }

    /// A list whose tags are to be taken.
    struct Taking: Sendable {
        let list: TagList
        /// Whether other tags are removed.
        let removesOthers: Bool
    }

    /// The name of this service, for the versions that it makes.
    private let instance: String
    /// Whether only clients with the site's key can publish a list.
    private let isSealed: Bool
    /// The version of this service's list; nil if it has no stored list. 0: the list was never compared with the site's.
    private(set) var version: TagList.Version?
    /// The largest version that was seen.
    private var seen: Int64 = 0
    /// The latest list that was not handled yet.
    private var arrival: Arrival?
    /// A list without proof, whose tags are added when this service becomes active.
    private var unproved: TagList?
    /// Whether tags were changed here since the connection was lost: another service may have changed them, too.
    private var isChanged = false
    /// Whether another service needs the list live.
    private var isWanted = false
    private var handled: MonotonicInstant?
    /// When `arrival` is handled.
    private(set) var due: MonotonicInstant?
    /// Whether the list that the broker retains has arrived, if there is one.
    private var isRead = false
    /// The list that a person must adopt first.
    private var offer: Offer?
    /// Where the list is.
    let topic: String
    /// The beacons that gateways are asked to send; nil: there is no survey.
    package private(set) var minors: SurveyMinors?
    /// Whether they have changed since this service last published its list.
    private var areMinorsNew = false

    init(_ settings: SiteSettings) {
        (instance, isSealed) = (settings.instance ?? "", settings.areCardsSealed)
        // A replay asks nobody. ESPresense nodes need not be asked, and the list that was recorded says who was.
        if settings.surveysGateways { minors = SurveyMinors(site: settings.site ?? "") }
        topic = RoomTopic.tags(site: settings.site ?? "").text
    }

    mutating func restore(_ stored: StoredSite) {
        version = stored.listVersion ?? (stored.hasList ? TagList.Version(0, instance) : nil)
        minors?.restore(stored.surveyMinors)
    }

    var storedVersion: [Site.Effect] { version.map { [.store(.listVersion($0))] } ?? [] }

    /// The list with these tags. Gateways use the tags with an exact beacon (UUID, major and minor).
    func list(of tags: [TagIdentity]) -> TagList {
        TagList(
            version ?? TagList.Version(0, ""),
            tags.map {
                TagList.Tag(
                    uuid: $0.pattern.uuid, major: $0.pattern.major, minor: $0.pattern.minor, id: $0.id, name: $0.name)
            }.sorted { ($0.id ?? "") < ($1.id ?? "") }, survey: minors?.beacons)
    }

    // MARK: - What a person must decide

    /// What a person must decide about the site's list before this service may become active; nil: nothing.
    package var question: (text: String, remedy: String)? {
        switch offer {
        case nil: nil
        case .list(let list):
            (
                "this service has no stored list of tags, and the site's list has \(list.tags.count); it does not replace "
                    + "that list, and decides nothing",
                "adopt the list: sudo ibeacon-gateway rooms tags adopt, on this machine, or the button below; to begin "
                    + "anew: sudo ibeacon-gateway rooms clear"
            )
        case .unreadable(let reason):
            (
                "the site's list of tags cannot be read here, and is not replaced: \(reason)",
                "if it is encrypted, give this service the key of the site (rooms.encryptionKeyFile), and adopt the list: sudo "
                    + "ibeacon-gateway rooms tags adopt; to begin anew: sudo ibeacon-gateway rooms clear"
            )
        }
    }

    /// Whether there is a question.
    var isOffered: Bool { offer != nil }

    /// Whether the service cannot know yet if there is a list to adopt.
    package var isAwaited: Bool { version == nil && !isRead }

    /// Why a person cannot adopt the site's list now; nil: it is possible.
    func adoptionRefusal(isConnected: Bool) -> String? {
        if !isConnected { return "there is no connection to the broker" }
        if case .unreadable = offer, let question { return "\(question.text); \(question.remedy)" }
        if version == nil, offer == nil { return "the broker has no list of tags of this site" }
        return nil
    }

    /// What a person adopts.
    var adoption: Taking? {
        if case .list(let list) = offer { Taking(list: list, removesOthers: false) } else { nil }
    }

    // MARK: - A list that arrives

    /// A connection was made: the broker's list arrives.
    mutating func begin() { (arrival, unproved, handled, due, offer, isRead) = (nil, nil, nil, nil, nil, false) }

    /// What the broker retains has arrived. If there was no list, this service may make one.
    ///
    /// - Returns: Whether it was awaited.
    mutating func endWait() -> Bool {
        guard isAwaited else { return false }
        isRead = true
        return true
    }

    /// A list arrived, or cannot be decrypted. `next` gives it when it may be handled.
    mutating func receive(_ arrival: Arrival) { self.arrival = arrival }

    /// Another service has connected: it believes what it receives live.
    mutating func want() { isWanted = true }

    /// What is to be handled now: the latest list that arrived, and whether another service needs that of this one. nil: it is too
    /// early, and `due` says when it is not.
    mutating func next(at now: MonotonicInstant) -> (arrival: Arrival?, isWanted: Bool)? {
        let due = handled?.advanced(by: Self.period) ?? now
        guard due <= now else {
            self.due = due
            return nil
        }
        let next = (arrival, isWanted)
        (arrival, isWanted, self.due, handled) = (nil, false, nil, now)
        return next
    }

    /// The latest list that arrived, before this service becomes active.
    mutating func takeArrival(at now: MonotonicInstant) -> Arrival? {
        defer { (arrival, due, handled) = (nil, nil, now) }
        return arrival
    }

    /// Decides about a list that arrived.
    ///
    /// - Parameters:
    ///   - tags: The tags in force.
    ///   - regions: The regions that they are made from.
    /// - Returns: nil if its tags are not taken.
    mutating func judge(
        _ arrival: Arrival, _ role: Role, _ tags: [TagIdentity], _ regions: TagRegions,
        _ effects: inout [Site.Effect]
    ) -> Taking? {
        (isRead, unproved) = (true, nil)
        guard let received = arrival.list else {
            if role == .active {
                answer(role, tags, &effects)
            } else if version == nil || !isSealed {
                // With a stored list and the key, the list of another key is replaced: the site's key was changed.
                offer = .unreadable(reason: arrival.reason)
            }
            return nil
        }
        guard version == nil || !received.isPayload(of: list(of: tags)) else {
            offer = nil
            return nil
        }
        do throws(FeedError) {
            let list = try received.list()
            takeSurvey(of: list, isLive: arrival.isLive, role, &effects)
            return compare(list, isLive: arrival.isLive, role, tags, regions, &effects)
        } catch {
            effects.append(.refused(error, topic: topic))
            if role == .active { answer(role, tags, &effects) }
            if version == nil { offer = .unreadable(reason: "\(error)") }
            return nil
        }
    }

    private mutating func compare(
        _ list: TagList, isLive: Bool, _ role: Role, _ tags: [TagIdentity], _ regions: TagRegions,
        _ effects: inout [Site.Effect]
    ) -> Taking? {
        guard let version else {
            offer(list, tags, &effects)
            return nil
        }
        offer = nil
        // The broker lost the list, or another client changed it: the gateways need the right one.
        guard list.version.number > 0 else {
            if role == .active { answer(role, tags, &effects) } else if !list.tags.isEmpty { unproved = list }
            return nil
        }
        let isBelievable = isBelievable(list.version)
        see(list.version)
        let isConcurrent = isChanged && list.version.number >= version.number && list.version != version
        guard isBelievable, version < list.version || isConcurrent else {
            // The configuration file was given tags before this start. Until a list is newer than theirs, nobody else knows them.
            let isExtended =
                role != .active && list.version == version && regions.hasConfiguredTag(beside: list, tags)
            if isExtended { advance(&effects) }
            if isExtended || role == .active || list.version < version { answer(role, tags, &effects) }
            return nil
        }
        let isProved = isSealed || (isLive && role != .active)
        guard isProved || role == .active else {
            unproved = list
            return nil
        }
        return Taking(list: list, removesOthers: isProved && version.number > 0 && !isConcurrent)
    }

    /// A service without a stored list takes none without a person, and replaces none: a list may be forged, and what this
    /// service lost is in it.
    private mutating func offer(_ list: TagList, _ tags: [TagIdentity], _ effects: inout [Site.Effect]) {
        let own = Set(tags.map(\.pattern))
        guard list.tags.contains(where: { !own.contains($0.pattern) }) else {
            offer = nil
            guard !list.tags.isEmpty else { return }
            see(list.version)
            let isSame = self.list(of: tags).tags == list.tags && isBelievable(list.version)
            return isSame ? setVersion(list.version, &effects) : advance(&effects)
        }
        offer = .list(list)
    }

    /// The configuration or a person changed the tags of a service that waits.
    mutating func compareOffer(_ tags: [TagIdentity], _ effects: inout [Site.Effect]) {
        if case .list(let list) = offer { offer(list, tags, &effects) }
    }

    /// Publishes this service's list in place of another.
    private mutating func answer(_ role: Role, _ tags: [TagIdentity], _ effects: inout [Site.Effect]) {
        guard let version else { return }
        if role == .active, seen > version.number { advance(&effects) }
        effects.append(.send(.tags(list(of: tags))))
    }

    /// Before this service becomes active, what it has received without proof adds tags.
    var unprovedTaking: Taking? { unproved.map { Taking(list: $0, removesOthers: false) } }

    /// Before this service becomes active, its list gets a version.
    mutating func settle(_ effects: inout [Site.Effect]) {
        (unproved, isChanged, areMinorsNew) = (nil, false, false)
        if (version?.number ?? 0) == 0 || seen > version?.number ?? 0 { advance(&effects) }
    }

    // MARK: - Taking a list

    /// The site begins to take the tags of a list. `endTaking` follows.
    mutating func beginTaking(_ list: TagList, _ effects: inout [Site.Effect]) {
        (offer, unproved, isChanged) = (nil, nil, false)
        see(list.version)
        let by = list.version.number > 0 ? " (version \(list.version.number) of '\(list.version.instance)')" : ""
        effects.append(.log(.notice, "takes the site's list of \(list.tags.count) tags\(by)", once: "list taken"))
    }

    /// The tags of a list were taken.
    ///
    /// - Parameters:
    ///   - kept: The tags that the list lacks and that stay.
    ///   - tags: The tags in force now.
    mutating func endTaking(
        _ list: TagList, keeping kept: [TagIdentity], _ role: Role, _ tags: [TagIdentity],
        _ effects: inout [Site.Effect]
    ) {
        if !kept.isEmpty {
            let names = kept.prefix(5).map(\.name).joined(separator: ", ")
            effects.append(
                .log(.notice, "keeps \(kept.count) tags that are not in the site's list: \(names)", once: "list kept"))
        }
        // An active service publishes what the gateways should have; another one only what it adds.
        let own = self.list(of: tags)
        let differs = own.tags != list.tags || own.survey != list.survey
        guard
            !kept.isEmpty || !isBelievable(list.version) || (role == .active && differs) || list.version.number == 0
        else { return setVersion(list.version, &effects) }
        guard role == .active || list.version.number > 0 else { return setVersion(TagList.Version(0, ""), &effects) }
        advance(&effects)
        effects.append(.send(.tags(self.list(of: tags))))
    }

    /// Publishes the list after a change that was made here.
    ///
    /// - Parameter isActive: Whether decisions of this service are published.
    mutating func publishChange(
        of tags: [TagIdentity], _ role: Role, isActive: Bool, isConnected: Bool, _ effects: inout [Site.Effect]
    ) {
        if !isConnected { isChanged = true }
        // A list that was never compared with the site's has no version yet.
        if let version, version.number > 0 { advance(&effects) }
        // It is published once it is on the disk, so that a power cut cannot remove a tag that gateways know.
        if isActive {
            effects.append(.publish(.tags(list(of: tags))))
        } else if role == .standby, (version?.number ?? 0) > 0 {
            // What a standby puts into its outbox is dropped.
            effects.append(.send(.tags(list(of: tags))))
        }
    }

    // MARK: - What gateways send

    /// The list belongs to a recording, whose service asked the gateways. One that asks none ends no survey.
    mutating func replaySurvey(of list: TagList) { minors = list.survey.map(SurveyMinors.init) ?? minors }

    /// Asks these gateways to send their beacons, and publishes the list if that changes it. Its version stays: the tags are the same, and
    /// a service without this setting has nothing to take from it.
    ///
    /// - Parameters:
    ///   - gateways: Those that count, in an order that does not change.
    ///   - isKnown: Whether a gateway is known now.
    mutating func ask(
        _ gateways: [String], isKnown: (String) -> Bool, _ tags: [TagIdentity], _ effects: inout [Site.Effect]
    ) {
        guard let before = minors else { return }
        if let left = minors?.give(to: gateways, isKnown: isKnown), let first = left.first {
            let text =
                "\(left.count) gateways are not asked for a beacon of their own, \(first) among them: at most "
                + "\(SurveyBeacons.mostGateways) are"
            effects.append(.log(.warning, text, once: "survey full"))
        }
        guard areMinorsNew || minors != before else { return }
        areMinorsNew = false
        // It is published once the minors are on the disk.
        effects += storedMinors + [.publish(.tags(list(of: tags)))]
    }

    /// A gateway is gone: another one may have its minor. Any client can remove a card, so that it is stored when the gateways are asked next.
    mutating func forgetSurvey(of gateway: String) {
        guard minors?.minors[gateway] != nil else { return }
        minors?.forget(gateway)
        areMinorsNew = true
    }

    /// Takes the minors of another service. This one keeps its own while it is the active one.
    private mutating func takeSurvey(of list: TagList, isLive: Bool, _ role: Role, _ effects: inout [Site.Effect]) {
        guard role != .active, let survey = list.survey else { return }
        let before = minors
        // A list with the key may be an old one that a client repeats.
        let isNew = version.map { $0 <= list.version } ?? false
        minors?.take(survey, isProved: (isSealed || isLive) && isNew)
        if minors != before { effects += storedMinors }
    }

    var storedMinors: [Site.Effect] { minors.map { [.store(.surveyMinors($0.minors))] } ?? [] }

    // MARK: - Versions

    /// Whether a version is not too far ahead of this service's own one.
    private func isBelievable(_ version: TagList.Version) -> Bool {
        version.number <= (self.version?.number ?? 0) + Self.mostSteps
    }

    /// A list with this version arrived.
    private mutating func see(_ version: TagList.Version) {
        if isBelievable(version) { seen = max(seen, version.number) }
    }

    private mutating func setVersion(_ version: TagList.Version, _ effects: inout [Site.Effect]) {
        self.version = version
        effects += storedVersion
    }

    /// This service makes a newer list than all that it knows.
    private mutating func advance(_ effects: inout [Site.Effect]) {
        setVersion(TagList.Version(max(version?.number ?? 0, seen) + 1, instance), &effects)
    }
}
