import Base
import Beacon
import JSON
package import Regions
import Rooms
import SiteProtocol

/// The tags of a service as regions, as the configuration file, `setWaypoints`, the command line, the page and the site's list set
/// them.
///
/// It knows which regions are kept and which of them are tags, and decides which changes are possible. Where the tags are is not
/// known here.
package struct TagRegions: Sendable {
    /// Regions that are kept, tags or not: all are stored, and any client that may write to `/cmd` can add some.
    package let most: Int

    /// A region that is a tag, unless another one has its id or beacon.
    typealias Tag = (region: Region, tag: TagIdentity)

    package private(set) var kept = RegionSet()
    /// The tags of the configuration file. They cannot be changed elsewhere: a reload would restore them.
    private var configured: Set<TagIdentity> = []
    /// Their ids.
    package private(set) var configuredIDs: Set<String> = []

    init(most: Int = RoomEngine.mostTags) { self.most = most }

    /// The regions with which a service starts.
    package init(stored: RegionSet, configured changes: [RegionChange]) {
        self.init()
        restore(stored, configured: changes)
    }

    // MARK: - Changes

    /// Takes the stored regions, with the tags of the configuration file.
    mutating func restore(_ stored: RegionSet, configured changes: [RegionChange]) {
        kept = stored
        kept.apply(changes)
        configure(changes)
    }

    /// The configuration file was read again. It sets these tags; `apply` changes them.
    mutating func configure(_ changes: [RegionChange]) {
        configured = Set(changes.compactMap { if case .set(let region, _) = $0 { TagIdentity(region) } else { nil } })
        configuredIDs = Set(configured.map(\.id))
    }

    /// The keys of the regions that the configuration file defines, sorted.
    var configuredRIDs: [String] { configured.isEmpty ? [] : kept.regions.filter(isConfigured).map(\.rid).sorted() }

    /// What the configuration file defined before and does not define any more.
    ///
    /// - Parameter rids: What `configuredRIDs` was then.
    func noLongerConfigured(of rids: [String]) -> [Region] {
        rids.compactMap { kept[rid: $0] }.filter { !isConfigured($0) }
    }

    /// Changes the regions. The caller has seen to it that there is room for them.
    @discardableResult
    mutating func apply(_ changes: [RegionChange]) -> RegionDifference { kept.apply(changes) }

    /// Why none of the changes is made: there would be too many regions. nil if there is room for them.
    func refusal(of changes: [RegionChange]) -> String? {
        guard kept.regions.count + changes.count > most else { return nil }
        var changed = kept
        let difference = changed.apply(changes)
        guard changed.regions.count > most, !difference.inserted.isEmpty else { return nil }
        return "this would make \(changed.regions.count) regions; at most \(most) are allowed"
    }

    // MARK: - The configuration file

    /// Why a change of a tag of the configuration file is refused.
    package static let configuredReason = "the tag is in the configuration file (rooms.tags); change it there"

    /// Whether the configuration file defines this tag.
    package func isConfigured(_ region: Region) -> Bool { TagIdentity(region).map(configured.contains) == true }

    /// Divides changes into those that leave the tags of the configuration file as they are, and the others, which a restart would undo.
    ///
    /// - Returns: The former, in their order, and why each of the others is refused.
    package func sparingConfigured(_ changes: [RegionChange]) -> (possible: [RegionChange], refusals: [String]) {
        guard !configured.isEmpty else { return (changes, []) }
        // Looked up together: each look-up alone goes through all regions, and a command may hold thousands of changes.
        let meant = kept.meantByTimestamp(changes)
        let resolved = kept.resolvingEach(changes).changes
        var (possible, refusals): ([RegionChange], [String]) = ([], [])
        for (change, resolved) in zip(changes, resolved) {
            if let resolved, let name = configuredTag(changedBy: resolved, meant) {
                refusals.append("'\(name)': \(Self.configuredReason)")
            } else {
                possible.append(change)
            }
        }
        return (possible, refusals)
    }

    /// The name of the tag of the configuration file that a change would change or remove; nil if there is none.
    ///
    /// - Parameters:
    ///   - change: As `resolvingEach` returned it.
    ///   - meant: What `meantByTimestamp` says of all changes.
    private func configuredTag(changedBy change: RegionChange, _ meant: [ExactString: String]) -> String? {
        switch change {
        case .set(var region, let isRIDDerived):
            if isRIDDerived, let rid = meant[ExactString(region.rid)] { region.rid = rid }
            let tag = TagIdentity(region)
            guard tag.map(configured.contains) != true else { return nil }
            let replaced = kept[rid: region.rid].flatMap(TagIdentity.init)
            if let replaced, configured.contains(replaced) { return replaced.name }
            return tag.flatMap { configuredIDs.contains($0.id) ? $0.name : nil }
        case .remove(let rid):
            return kept[rid: rid].flatMap { isConfigured($0) ? $0.displayName : nil }
        case .removeMeant: return nil
        }
    }

    /// The changes of a `clearWaypoints`, and why the tags of the configuration file stay, for each of them.
    func clearing() -> (possible: [RegionChange], refusals: [String]) {
        sparingConfigured(kept.regions.map { .remove(rid: $0.rid) })
    }

    // MARK: - Tags

    /// The regions as tags. Of several with one id or one beacon only that of the configuration file is a tag, else the latest.
    func tags(_ effects: inout [Site.Effect]) -> [TagIdentity] {
        let found = kept.regions.compactMap { region -> (tag: TagIdentity, isConfigured: Bool, timestamp: Int64)? in
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
        for index in order {
            let tag = found[index].tag
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

    private var all: [Tag] { kept.regions.compactMap { region in TagIdentity(region).map { (region, $0) } } }

    private func regions(ofTag id: String) -> [Tag] { all.filter { $0.tag.id == id } }

    /// The region of a tag; of several with its id the one that is the tag.
    private func region(ofTag id: String, _ tags: [TagIdentity]) -> Tag? {
        let all = regions(ofTag: id)
        return all.first { tags.contains($0.tag) } ?? all.first
    }

    // MARK: - Requests of the page

    /// Why a request that changes a tag is refused; nil if it is possible.
    ///
    /// - Parameter tags: The tags in force.
    func refusal(of request: SiteRequest, _ tags: [TagIdentity]) -> String? {
        switch request {
        case .addTag(let name, let beacon): refusal(ofName: name, tags) ?? refusal(ofBeacon: beacon, tags)
        case .renameTag(let id, let name):
            refusal(ofChange: id, tags)
                ?? (region(ofTag: id, tags)?.tag.name == name ? nil : refusal(ofName: name, except: id, tags))
        case .removeTag(let id): refusal(ofChange: id, tags)
        case .adoptTags, .learn, .search: nil
        }
    }

    private func refusal(ofBeacon text: String, _ tags: [TagIdentity]) -> String? {
        guard let beacon = BeaconID(text) else {
            return "'\(shortened(text))' is not a beacon; write UUID:major:minor, as 'ibeacon-gateway scan' shows it"
        }
        guard kept.regions.count < most else {
            return "there are already \(most) regions, the largest possible number"
        }
        return tags.first { $0.pattern.matches(beacon) }.map { "this beacon is the tag '\($0.name)' already" }
    }

    /// - Parameter id: The tag that may already have the name.
    private func refusal(ofName name: String, except id: String? = nil, _ tags: [TagIdentity]) -> String? {
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

    private func refusal(ofChange id: String, _ tags: [TagIdentity]) -> String? {
        if configuredIDs.contains(id) { return Self.configuredReason }
        return region(ofTag: id, tags) == nil ? "there is no such tag" : nil
    }

    /// The changes that a request of the page makes.
    ///
    /// - Parameters:
    ///   - tags: The tags in force.
    ///   - epoch: The time of the change, epoch seconds.
    func changes(of request: SiteRequest, _ tags: [TagIdentity], at epoch: Int64) -> [RegionChange] {
        switch request {
        case .addTag(let name, let beacon):
            guard let beacon = BeaconID(beacon) else { return [] }
            let pattern = BeaconPattern(uuid: beacon.uuid, major: beacon.major, minor: beacon.minor)
            let region = Region(
                rid: RoomName.id(of: name), description: RegionDescription(name: name, pattern: pattern),
                timestamp: epoch)
            return [.set(region, isRIDDerived: false)]
        case .renameTag(let id, let name):
            guard let (region, tag) = region(ofTag: id, tags), tag.name != name else { return [] }
            // With the id as its key, the tag keeps its identity under every name.
            var renamed = region
            renamed.rid = id
            renamed.description = RegionDescription(name: name, pattern: tag.pattern)
            renamed.timestamp = epoch
            return removals(ofTag: id) + [.set(renamed, isRIDDerived: false)]
        case .removeTag(let id): return removals(ofTag: id)
        case .adoptTags, .learn, .search: return []
        }
    }

    private func removals(ofTag id: String) -> [RegionChange] {
        regions(ofTag: id).map { .remove(rid: $0.region.rid) }
    }

    // MARK: - The site's list

    /// Whether a tag of the configuration file is in force and not in the list.
    func hasConfiguredTag(beside list: TagList, _ tags: [TagIdentity]) -> Bool {
        changes(to: list, at: 0).others.contains { configuredIDs.contains($0.tag.id) && tags.contains($0.tag) }
    }

    /// The changes that take over a list. Tags of the configuration file stay as they are there.
    ///
    /// - Parameters:
    ///   - removesOthers: Whether tags that the list lacks are removed.
    ///   - epoch: The time of the change, epoch seconds.
    /// - Returns: The changes, and the tags that the list lacks and that stay.
    func changes(
        to list: TagList, removesOthers: Bool, at epoch: Int64
    ) -> (changes: [RegionChange], kept: [TagIdentity]) {
        let (changes, others) = changes(to: list, at: epoch)
        let gone = removesOthers ? others.filter { !configuredIDs.contains($0.tag.id) } : []
        let kept = removesOthers ? others.filter { configuredIDs.contains($0.tag.id) } : others
        return (changes + gone.map { .remove(rid: $0.region.rid) }, kept.map(\.tag))
    }

    /// The changes for the tags of a list, and the service's tags that it lacks.
    private func changes(to list: TagList, at epoch: Int64) -> ([RegionChange], others: [Tag]) {
        let own = all
        let byID = Dictionary(own.map { ($0.tag.id, $0) }) { first, _ in first }
        let byPattern = Dictionary(own.map { ($0.tag.pattern, $0) }) { first, _ in first }
        var (removals, settings): ([RegionChange], [RegionChange]) = ([], [])
        var known: Set<String> = []
        // A listed tag takes the place of one of the service's, or else a free one. Regions that are no tags have places, too.
        var (places, taken) = (most - kept.regions.count, Set<ExactString>())
        for listed in list.tags {
            let beacon = byPattern[listed.pattern]
            let old = listed.id.flatMap { byID[$0] } ?? beacon
            let id = listed.id.flatMap { TopicIdentifier.isIdentifier($0) ? $0 : nil } ?? old?.tag.id ?? listed.newID
            let name = listed.name ?? old?.tag.name ?? listed.id ?? listed.newID
            known.formUnion([old, beacon].compactMap { $0?.tag.id })
            let description = RegionDescription(name: name, pattern: listed.pattern)
            let region = Region(rid: id, description: description, timestamp: epoch)
            // A name that begins with '+' makes no tag.
            guard let tag = TagIdentity(region), old?.tag != tag, !configuredIDs.contains(id),
                old.map({ !configuredIDs.contains($0.tag.id) }) ?? true,
                beacon.map({ !configuredIDs.contains($0.tag.id) }) ?? true
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

    /// The tags with those of a list beside them, as a replay takes them: it has no tags of its own but those of the configuration.
    func tags(with list: TagList, _ effects: inout [Site.Effect]) -> [TagIdentity] {
        let own = tags(&effects)
        return own
            + list.tags.compactMap { tag in
                if let beacon = tag.beacon, own.contains(where: { $0.pattern.matches(beacon) }) { return nil }
                let id = tag.id.flatMap { TopicIdentifier.isIdentifier($0) ? $0 : nil } ?? tag.name.map(RoomName.id)
                let name = tag.name ?? tag.beacon?.description ?? tag.newID
                return TagIdentity(id: id ?? tag.newID, name: name, pattern: tag.pattern)
            }
    }
}

extension TagList.Tag {
    var pattern: BeaconPattern { BeaconPattern(uuid: uuid, major: major, minor: minor) }

    /// The id of a tag that is known by its beacon alone.
    fileprivate var newID: String {
        ["\(uuid)", major.map { "\($0)" }, minor.map { "\($0)" }].compactMap(\.self).joined(separator: "-")
    }
}
