import Base
import Beacon
import Regions
import SiteProtocol

/// The tags of a site, by their indices, and their open windows.
///
/// What is known about one tag is a `Tag`. The number of tags is bounded.
struct Tags: Sendable {
    private var table = Table<TagIndex, Tag>()
    private var openWindows = OpenWindows()
    private let most: Int
    private let tuning: HearingTuning

    init(most: Int, _ tuning: HearingTuning) { (self.most, self.tuning) = (most, tuning) }

    var elements: [Tag] { table.elements }
    var indices: Range<TagIndex> { table.indices }
    var count: Int { table.count }
    var descriptions: [TagDescription] { table.elements.map(\.description) }

    func contains(index: TagIndex) -> Bool { table.contains(index: index) }

    /// The index of the tag with a number in `RoomEngine.tags`; nil if there is none.
    func index(at number: Int) -> TagIndex? { table.index(at: number) }

    // A tag is changed in place: with `set` alone, the arrays in it would be copied first.
    subscript(tag: TagIndex) -> Tag {
        _read { yield table[tag] }
        _modify { yield &table[tag] }
    }

    // MARK: Which tags exist

    func index(ofID id: String) -> TagIndex? { table.firstIndex { $0.description.id == id } }

    /// The index of each tag by its id.
    var indicesOfIDs: [String: TagIndex] {
        Dictionary(indices.map { (table[$0].description.id, $0) }) { first, _ in first }
    }

    /// Replaces the tags. What is known about a tag is kept while its id and pattern stay the same, without its open window. Of tags
    /// with one id the first is taken.
    ///
    /// - Returns: The new index of each tag that stays.
    mutating func replace(by descriptions: [TagDescription]) -> [TagIndex: TagIndex] {
        let old = table
        let known = indicesOfIDs
        var new: [Tag] = []
        new.reserveCapacity(min(descriptions.count, most))
        var ids: Set<String> = []
        var moved: [TagIndex: TagIndex] = [:]
        for description in descriptions.prefix(most) where ids.insert(description.id).inserted {
            var tag = Tag(description)
            if let index = known[description.id], old[index].description.pattern == description.pattern {
                tag = old[index]
                tag.description = description
                tag.isPending = false
                moved[index] = TagIndex(number: new.count)
            }
            new.append(tag)
        }
        table = Table(new)
        openWindows = OpenWindows()
        return moved
    }

    /// Sets which tags are phones. Any client may write a card that says so, and therefore open windows stay.
    ///
    /// - Returns: Whether that changed for any tag.
    mutating func setPhones(_ uuids: Set<BeaconUUID>) -> Bool {
        var isChanged = false
        for tag in indices {
            let isPhone = uuids.contains(table[tag].description.pattern.uuid)
            guard table[tag].description.isPhone != isPhone else { continue }
            table[tag].description.isPhone = isPhone
            isChanged = true
        }
        return isChanged
    }

    /// Those about which this engine has decided less than was reported: nothing, or that the tag is at home but not its room.
    func undecided(of reported: [ReportedTag]) -> [ReportedTag] {
        let indices = indicesOfIDs
        return reported.filter { report in
            guard report.isHome, let tag = indices[report.id] else { return false }
            return table[tag].isHome ? table[tag].room == nil && report.room != nil : table[tag].since == nil
        }
    }

    // MARK: Windows

    /// When the first window ends; nil if none is open.
    var earliestEnd: MonotonicInstant? { openWindows.earliestEnd }

    /// Records when a tag sent a packet, and opens a window if none is open.
    @inline(__always)
    mutating func recordPacket(of tag: TagIndex, sent: MonotonicInstant, now: MonotonicInstant) {
        if !table[tag].isPending { openWindow(of: tag, ofPacketAt: sent, now: now) }
        table[tag].latestPacket = max(table[tag].latestPacket ?? sent, sent)
    }

    /// - Parameter sent: When the tag sent the packet that opens the window.
    private mutating func openWindow(of tag: TagIndex, ofPacketAt sent: MonotonicInstant, now: MonotonicInstant) {
        table[tag].isPending = true
        let isRare =
            table[tag].latestPacket.map { sent.nanoseconds - $0.nanoseconds > Tag.secondNanoseconds } ?? true
        if isRare {
            openWindows.long.append(tag, until: now.advanced(bySeconds: tuning.rareGatherSeconds))
        } else {
            openWindows.short.append(tag, until: now.advanced(bySeconds: tuning.gatherSeconds))
        }
    }

    /// Removes the window that ended first, of those that were not judged early.
    ///
    /// - Returns: Its tag; nil if no window has ended by `now`.
    mutating func removeEndedWindow(by now: MonotonicInstant) -> TagIndex? {
        while let tag = openWindows.removeEnded(by: now) {
            if contains(index: tag), table[tag].isPending { return tag }
        }
        return nil
    }

    // MARK: Their rooms and gateways

    /// For each of `count` rooms, whether a tag is in it.
    func areInRooms(of count: Int) -> Table<RoomIndex, Bool> {
        var found = Table<RoomIndex, Bool>([Bool](repeating: false, count: count))
        for tag in indices { if let room = table[tag].room { found[room] = true } }
        return found
    }

    /// Forgets a room, whose index another room gets.
    mutating func removeBelief(in room: RoomIndex) { for tag in indices { table[tag].belief.remove(room) } }

    /// Forgets what a gateway heard.
    mutating func forget(_ gateway: GatewayIndex) { for tag in indices { table[tag].forget(gateway) } }

    /// What is known about the place of these tags is wrong now.
    mutating func forgetRest(where isConcerned: (Tag) -> Bool) {
        for tag in indices where isConcerned(table[tag]) { table[tag].forgetRest() }
    }

    /// Tags that count as at home, but neither are nor wait for the confirmation of their departure, no longer do so.
    mutating func keepHome(where isStillHome: (TagIndex, TagDescription) -> Bool) {
        for tag in indices where table[tag].isHome && !isStillHome(tag, table[tag].description) {
            table[tag].isHome = false
            table[tag].room = nil
        }
    }
}
