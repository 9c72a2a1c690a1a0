import Base
import Presence
import Regions

extension Gateway {
    /// Removes all regions: those that the tracker is inside after `PendingClear.delay`.
    mutating func clearWaypoints(of tracker: Int, at now: MonotonicInstant) -> [Effect] {
        var regions = trackers[tracker].regions
        let rids = Set(regions.regions.map { ExactString($0.rid) })
        let inside = rids.filter { isInside($0, of: tracker) }
        trackers[tracker].pendingClear =
            inside.isEmpty ? nil : PendingClear(due: now.advanced(by: PendingClear.delay), rids: inside)
        let difference = regions.apply(rids.subtracting(inside).sorted().map { .remove(rid: $0.text) })
        return replaceRegions(of: tracker, by: regions, difference, at: now) + [trackers[tracker].storedClear]
    }

    private func isInside(_ rid: ExactString, of tracker: Int) -> Bool {
        trackers[tracker].begin(of: rid.text) != nil || trackers[tracker].decidedCircles.contains(rid)
            || engine.isOccupied(RegionKey(tracker: tracker, rid: rid.text))
    }

    /// Regions of a clear that are there again are not removed.
    mutating func keep(_ rids: Set<ExactString>, of tracker: Int) -> [Effect] {
        guard var pending = trackers[tracker].pendingClear, !pending.rids.isDisjoint(with: rids) else { return [] }
        pending.rids.subtract(rids)
        trackers[tracker].pendingClear = pending.rids.isEmpty ? nil : pending
        return [trackers[tracker].storedClear]
    }

    mutating func carryOutDueClears(at now: MonotonicInstant) -> [Effect] {
        trackers.indices.flatMap { tracker -> [Effect] in
            guard let pending = trackers[tracker].pendingClear, pending.due <= now else { return [] }
            return finishClear(of: tracker, at: now)
        }
    }

    mutating func finishClears(at now: MonotonicInstant) -> [Effect] {
        trackers.indices.flatMap { finishClear(of: $0, at: now) }
    }

    private mutating func finishClear(of tracker: Int, at now: MonotonicInstant) -> [Effect] {
        guard let pending = trackers[tracker].pendingClear else { return [] }
        trackers[tracker].pendingClear = nil
        var regions = trackers[tracker].regions
        let gone = pending.rids.filter { regions[rid: $0.text] != nil }.sorted()
        let difference = regions.apply(gone.map { .remove(rid: $0.text) })
        return replaceRegions(of: tracker, by: regions, difference, at: now) + [trackers[tracker].storedClear]
    }
}
