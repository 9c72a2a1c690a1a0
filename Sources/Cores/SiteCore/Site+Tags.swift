import Base
import Beacon
import JSON
import Regions
import Rooms
import SiteProtocol

extension Site {
    /// Regions that are kept, tags or not: all are stored, and any client that may write to `/cmd` can add some.
    package static let mostRegions = RoomEngine.mostTags

    // MARK: - Changes

    /// The regions as tags. Of several with one id or one beacon only that of the configuration file is a tag, else the latest.
    func identities(_ effects: inout [Effect]) -> [TagIdentity] {
        let configured = Self.tags(settings.tags)
        let found = regions.regions.compactMap { region -> (tag: TagIdentity, isConfigured: Bool, timestamp: Int64)? in
            if let tag = TagIdentity(region) { return (tag, configured.contains(tag), region.timestamp) }
            let text = "'\(region.displayName)' does not name one beacon, so it is not a tag"
            effects.append(.log(.warning, text, once: "tag \(region.rid)"))
            return nil
        }
        let order = found.indices.sorted {
            let (first, second) = (found[$0], found[$1])
            guard first.isConfigured == second.isConfigured else { return first.isConfigured }
            return (first.timestamp, $0) > (second.timestamp, $1)
        }
        var (byID, byBeacon): ([String: TagIdentity], [BeaconPattern: TagIdentity]) = ([:], [:])
        for position in order {
            let tag = found[position].tag
            guard let other = byID[tag.id] ?? byBeacon[tag.pattern] else {
                (byID[tag.id], byBeacon[tag.pattern]) = (tag, tag)
                continue
            }
            guard other != tag else { continue }
            let text =
                "the tag '\(tag.name)' (\(tag.pattern)) is ignored: '\(other.name)' (\(other.pattern)) has its "
                + (other.id == tag.id ? "id, '\(tag.id)'" : "beacon")
            effects.append(.log(.warning, text, once: "tag \(tag.id) \(tag.pattern)"))
        }
        return found.map(\.tag).filter { byID[$0.id] == $0 }
    }

    /// The tags that the changes of the configuration file set.
    static func tags(_ changes: [RegionChange]) -> Set<TagIdentity> {
        Set(changes.compactMap { if case .set(let region, _) = $0 { TagIdentity(region) } else { nil } })
    }

    mutating func applyConfiguredTags(
        _ changes: [RegionChange], at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        configuredTags = Set(Self.tags(changes).map(\.id))
        if let refusal = refusal(of: changes) { return reportRefused(refusal, &effects) }
        change(tags: changes, at: now, &effects)
    }

    mutating func apply(_ edits: [Edit], at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard let last = edits.last?.id else { return }
        var changes: [RegionChange] = []
        var erasures: [Effect] = []
        for edit in edits {
            switch edit.change {
            case .tags(let change): changes += [change].compactMap(\.self)
            case .eraseHistory(let topic):
                erasures += [.eraseHistory(topic: topic), .editsTaken(topic: topic, upTo: edit.id)]
            }
        }
        if let refusal = refusal(of: changes) {
            reportRefused(refusal, &effects)
            changes = []
        }
        change(tags: changes, [.editsTaken(topic: nil, upTo: last)], then: erasures, at: now, &effects)
    }

    /// Why none of the changes is made: there would be too many regions. nil if there is room for them.
    func refusal(of changes: [RegionChange]) -> String? {
        guard regions.regions.count + changes.count > Self.mostRegions else { return nil }
        var changed = regions
        let difference = changed.apply(changes)
        guard changed.regions.count > Self.mostRegions, !difference.inserted.isEmpty else { return nil }
        return "this would make \(changed.regions.count) regions; at most \(Self.mostRegions) are allowed"
    }

    private func reportRefused(_ refusal: String, _ effects: inout [Effect]) {
        effects.append(.log(.warning, "regions: nothing is changed: \(refusal)", once: "regions-refused"))
    }

    /// - Parameters:
    ///   - changes: The caller has seen to it that there is room for them.
    ///   - more: Further effects of the same decision.
    ///   - last: Effects that come after all consequences of `changes`.
    ///   - isOwn: Whether the change was made here. Otherwise it comes with the site's list, and its version.
    mutating func change(
        tags changes: [RegionChange], _ more: [Effect] = [], then last: [Effect] = [], isOwn: Bool = true,
        at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        let difference = regions.apply(changes)
        if isOwn {
            effects += difference.unmatched.prefix(10).map { .log(.notice, "tags: \($0)", once: "tags \($0)") }
        }
        guard !difference.isEmpty || !more.isEmpty else { return }
        // What is due is decided about the old tags.
        pass(.tick, at: now, &effects)
        effects += [.regions(regions)] + more
        let tags = identities(&effects)
        // Before the comparison with the broker, which knows the states that are left after all changes.
        leaveGone(by: tags, at: now, &effects)
        var removals: [Effect] = []
        replaceTags(by: tags, isOwn: isOwn, at: now, &removals)
        compareOffer(&effects)
        correctRetained(at: now, &effects)
        effects += removals
        if isOwn, !difference.isEmpty { publishList(&effects) }
        effects += last
        effects.append(
            .log(
                .notice,
                "tags: \(difference.inserted.count) new, \(difference.updated.count) changed, "
                    + "\(difference.removed.count) removed"))
        effects.append(.pageChanged)
    }

    /// Publishes the list after a change that was made here.
    private mutating func publishList(_ effects: inout [Effect]) {
        if retained.connected == nil { siteList.isChanged = true }
        // A list that was never compared with the site's has no version yet.
        if let version = siteList.version, version.number > 0 { advanceVersion(&effects) }
        // It is published once it is on the disk, so that a power cut cannot remove a tag that gateways know.
        if isActive {
            publish(.tags(tagList), &effects)
        } else if role == .standby, (siteList.version?.number ?? 0) > 0 {
            // What a standby puts into its outbox is dropped.
            effects.append(.send(.tags(tagList)))
        }
    }

    private mutating func replaceTags(
        by tags: [TagIdentity], isOwn: Bool, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        let old = Array(zip(roster.tags, roster.states))
        setTags(tags, at: now)
        let left = Set(roster.tags.map(\.id))
        for (tag, state) in old where !left.contains(tag.id) {
            (unstamped[tag.id], heardBefore[tag.id]) = (nil, nil)
            if hasOpenVisits, let room = state.room {
                effects.append(.record(RoomVisit(.ends, tag, room, epoch(at: now))))
            }
            if isActive {
                publish(.tag(id: tag.id, nil), &effects)
            } else {
                effects.append(.store(.tag(id: tag.id, nil)))
                // What another service removed has left its room there.
                if isOwn, role == .listening, state.isHome { departed.append((tag, state.room)) }
            }
        }
    }

    /// Publishes tags that are removed as away, and those whose beacon changes: the room of the new beacon is not known.
    private mutating func leaveGone(
        by tags: [TagIdentity], at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        let patterns = Dictionary(tags.map { ($0.id, $0.pattern) }) { first, _ in first }
        for position in roster.tags.indices where roster.states[position].isHome {
            let tag = roster.tags[position]
            guard patterns[tag.id] != tag.pattern else { continue }
            let decision = RoomEngine.Decision(
                tag: position, isHome: false, from: roster.states[position].room, to: nil, confidence: 1)
            publish(decision, at: now, &effects)
        }
    }

    mutating func setTags(_ tags: [TagIdentity], at now: MonotonicInstant) {
        guard tags != roster.tags else { return }
        let descriptions = tags.map { tag in
            TagDescription(
                id: tag.id, name: tag.name, pattern: tag.pattern, isPhone: gateways.isPhone(tag.pattern.uuid))
        }
        _ = engine.handle(.tags(descriptions), at: now)
        // The engine omits tags whose id is already taken.
        let kept = Set(engine.tags.map(\.id))
        var seen: Set<String> = []
        roster.replace(by: tags.filter { kept.contains($0.id) && seen.insert($0.id).inserted })
        states.beginAgain()
    }

    /// Tells the engine which tags are phones.
    mutating func describePhones(at now: MonotonicInstant, _ effects: inout [Effect]) {
        gateways.areOtherPhones = false
        let uuids = Set(roster.tags.map(\.pattern.uuid)).filter { gateways.isPhone($0) }
        pass(.phones(uuids), at: now, &effects)
    }

    // MARK: - Requests of the page

    func tagRefusal(of request: Request) -> String? {
        switch request {
        case .addTag(let name, let beacon): refusal(ofName: name) ?? refusal(ofBeacon: beacon)
        case .renameTag(let id, let name):
            refusal(ofChange: id) ?? (self.name(ofTag: id) == name ? nil : refusal(ofName: name, except: id))
        case .removeTag(let id): refusal(ofChange: id)
        case .adoptTags: adoptionRefusal()
        case .learn, .search: nil
        }
    }

    private func refusal(ofBeacon text: String) -> String? {
        guard let beacon = BeaconID(text) else {
            return "'\(shortened(text))' is not a beacon; write UUID:major:minor, as 'ibeacon-gateway scan' shows it"
        }
        guard regions.regions.count < Self.mostRegions else {
            return "there are already \(Self.mostRegions) regions, the largest possible number"
        }
        return tags.first { $0.pattern.matches(beacon) }.map { "this beacon is the tag '\($0.name)' already" }
    }

    private func name(ofTag id: String) -> String? { region(ofTag: id)?.tag.name }

    /// - Parameter id: The tag that may already have the name.
    private func refusal(ofName name: String, except id: String? = nil) -> String? {
        guard (1...FeedDecoder.mostNameBytes).contains(name.utf8.count),
            !name.contains(where: { $0 == ":" || $0 == "|" }),
            !name.hasPrefix("+"), !name.hasPrefix("-"),
            name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f })
        else {
            return
                "a name has 1 to \(FeedDecoder.mostNameBytes) bytes, no ':' or '|', and does not begin with '+' or '-'"
        }
        let made = RoomName.id(of: name)
        let other = tags.first { $0.id != id && ($0.name == name || (id == nil && $0.id == made)) }
        return other.map { "there is a tag '\($0.name)' already" }
    }

    /// A tag of the configuration file cannot be changed, because a reload would restore it.
    private func refusal(ofChange id: String) -> String? {
        if configuredTags.contains(id) { return "the tag is in the configuration file (rooms.tags); change it there" }
        return region(ofTag: id) == nil ? "there is no such tag" : nil
    }

    /// The region of a tag; of several with its id the one that is the tag.
    private func region(ofTag id: String) -> (region: Region, tag: TagIdentity)? {
        let all = regions(ofTag: id)
        return all.first { roster.tags.contains($0.tag) } ?? all.first
    }

    private func regions(ofTag id: String) -> [(region: Region, tag: TagIdentity)] {
        regions.regions.compactMap { region in TagIdentity(region).map { (region, $0) } }.filter { $0.tag.id == id }
    }

    func tagChanges(of request: Request, at now: MonotonicInstant) -> [RegionChange] {
        switch request {
        case .addTag(let name, let beacon):
            guard let beacon = BeaconID(beacon) else { return [] }
            let pattern = BeaconPattern(uuid: beacon.uuid, major: beacon.major, minor: beacon.minor)
            let region = Region(
                rid: RoomName.id(of: name), description: RegionDescription(name: name, pattern: pattern),
                timestamp: epoch(at: now))
            return [.set(region, isRIDDerived: false)]
        case .renameTag(let id, let name):
            guard let (region, tag) = region(ofTag: id), tag.name != name else { return [] }
            // With the id as its key, the tag keeps its identity under every name.
            var renamed = region
            renamed.rid = id
            renamed.description = RegionDescription(name: name, pattern: tag.pattern)
            renamed.timestamp = epoch(at: now)
            return removals(ofTag: id) + [.set(renamed, isRIDDerived: false)]
        case .removeTag(let id): return removals(ofTag: id)
        case .adoptTags, .learn, .search: return []
        }
    }

    private func removals(ofTag id: String) -> [RegionChange] {
        regions(ofTag: id).map { .remove(rid: $0.region.rid) }
    }
}
