package import Base

/// The regions of one tracker, in the order in which they came, keyed by `rid`.
public struct RegionSet: Hashable, Sendable {
    /// In the order in which they came.
    public private(set) var regions: [Region] = []
    private var indices: [ExactString: Int] = [:]

    /// No regions.
    public init() {}

    /// Later regions replace earlier ones of the same `rid`.
    public init(_ regions: some Sequence<Region>) {
        apply(regions.map { .set($0, isRIDDerived: false) })
    }

    /// The region with this key; nil if there is none.
    public subscript(rid rid: String) -> Region? {
        indices[rid].map { regions[$0] }
    }

    /// The regions with these `rid`s, in the order in which they came.
    package func inOrder(_ rids: some Sequence<ExactString>) -> [Region] {
        rids.compactMap { indices[$0] }.sorted().map { regions[$0] }
    }

    /// The `rid`s that regions have which changes insert or replace.
    package func rids(setBy changes: [RegionChange]) -> Set<ExactString> {
        let renamed = meantByTimestamp(changes)
        return Set(
            changes.compactMap { change in
                guard case .set(let region, let isRIDDerived) = change else { return nil }
                return ExactString(isRIDDerived ? renamed[ExactString(region.rid)] ?? region.rid : region.rid)
            })
    }

    /// Applies changes in their order, as one step. Regions that are not mentioned stay.
    @discardableResult
    public mutating func apply(_ changes: [RegionChange]) -> RegionDifference {
        let before = self
        let (changes, unmatched) = resolving(changes)
        let renamed = meantByTimestamp(changes)
        var removed: Set<ExactString> = []
        for change in changes {
            switch change {
            case .set(var region, let isRIDDerived):
                if isRIDDerived, let rid = renamed[region.rid] { region.rid = rid }
                removed.remove(ExactString(region.rid))
                insert(region)
            case .remove(let rid):
                if indices[rid] != nil { removed.insert(rid) }
            case .removeMeant: break
            }
        }
        remove(removed)
        var difference = difference(from: before)
        difference.unmatched = unmatched
        return difference
    }

    /// Removes everything.
    public mutating func removeAll() -> RegionDifference {
        var difference = RegionDifference()
        difference.removed = regions
        self = RegionSet()
        return difference
    }

    /// For each derived `rid` that no region has: the `rid` of the region with the same time stamp, which it means.
    ///
    /// The time stamp must be unique on both sides, and nothing else in the merge may name the region. Otherwise a
    /// repeated merge would find its own result and mean something else.
    package func meantByTimestamp(_ changes: [RegionChange]) -> [ExactString: String] {
        var named: Set<ExactString> = []
        var wanted: [Int64: Set<ExactString>] = [:]
        var derived: [(rid: String, timestamp: Int64)] = []
        for change in changes {
            switch change {
            case .set(let region, let isRIDDerived):
                named.insert(region.rid)
                wanted[region.timestamp, default: []].insert(region.rid)
                if isRIDDerived, indices[region.rid] == nil { derived.append((region.rid, region.timestamp)) }
            case .remove(let rid): named.insert(rid)
            case .removeMeant(let removal): named.insert(removal.rid)
            }
        }
        guard !derived.isEmpty else { return [:] }
        let present = Dictionary(grouping: regions, by: \.timestamp)
        var meant: [ExactString: String] = [:]
        for (rid, timestamp) in derived where wanted[timestamp]?.count == 1 {
            guard let candidates = present[timestamp], candidates.count == 1 else { continue }
            if !named.contains(candidates[0].rid) { meant[rid] = candidates[0].rid }
        }
        return meant
    }

    private mutating func insert(_ region: Region) {
        if let index = indices[region.rid] {
            regions[index] = region
        } else {
            indices[region.rid] = regions.count
            regions.appendSparingly(region)
        }
    }

    private mutating func remove(_ rids: Set<ExactString>) {
        guard !rids.isEmpty else { return }
        regions.removeAll { rids.contains($0.rid) }
        indices = Dictionary(uniqueKeysWithValues: zip(regions.map { ExactString($0.rid) }, regions.indices))
    }

    private func difference(from before: RegionSet) -> RegionDifference {
        var difference = RegionDifference()
        for region in regions {
            guard let old = before[rid: region.rid] else {
                difference.inserted.append(region)
                continue
            }
            if !old.isEqualButForTimestamp(region) { difference.updated.append(region) }
        }
        difference.removed = before.regions.filter { self[rid: $0.rid] == nil }
        return difference
    }
}

extension Region {
    /// OwnTracks does not compare `tst`: a region that comes again unchanged is not an update.
    fileprivate func isEqualButForTimestamp(_ other: Region) -> Bool {
        var same = other
        same.timestamp = timestamp
        return self == same
    }
}
