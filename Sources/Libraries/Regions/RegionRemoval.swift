public import Base

/// What a waypoint that deletes a region, and has no `rid`, says of it.
public struct RegionRemoval: Hashable, Sendable {
    /// The `rid` that OwnTracks derives from name and time stamp.
    @ExactString public var rid: String
    /// Epoch seconds (`tst`), OwnTracks' older key; nil if there is none.
    public var timestamp: Int64?
    /// What `desc` says; nil if it cannot be read.
    public var description: RegionDescription?

    /// A removal without a `rid`.
    public init(rid: String, timestamp: Int64?, description: RegionDescription?) {
        (self.rid, self.timestamp, self.description) = (rid, timestamp, description)
    }
}

extension RegionSet {
    /// The changes with each removal by its `rid`, and the removals that remove nothing.
    ///
    /// A removal without a `rid` means the region with the derived one; else the only one with its time stamp; else the only one
    /// with its description; else, if the description is a name alone, the only one with that name. Regions that another change
    /// of the list names are not meant.
    package func resolving(_ changes: [RegionChange]) -> (changes: [RegionChange], unmatched: [UnmatchedRemoval]) {
        let (each, unmatched) = resolvingEach(changes)
        return (each.compactMap(\.self), unmatched)
    }

    /// The same; nil in the place of each removal without a `rid` that removes nothing.
    package func resolvingEach(_ changes: [RegionChange]) -> (changes: [RegionChange?], unmatched: [UnmatchedRemoval]) {
        guard changes.contains(where: \.isRemoval) else { return (changes, []) }
        var named: Set<ExactString> = []
        var timestamps: [Int64: Int] = [:]
        for change in changes {
            switch change {
            case .set(let region, _): named.insert(ExactString(region.rid))
            case .remove(let rid): named.insert(ExactString(rid))
            case .removeMeant(let removal):
                named.insert(ExactString(removal.rid))
                if let timestamp = removal.timestamp { timestamps[timestamp, default: 0] += 1 }
            }
        }
        named.formUnion(meantByTimestamp(changes).values.map { ExactString($0) })
        let others = Lookup(regions.filter { !named.contains(ExactString($0.rid)) })
        var set: Set<ExactString> = []
        var unmatched: [UnmatchedRemoval] = []
        let resolved = changes.map { change -> RegionChange? in
            switch change {
            case .set(let region, _):
                set.insert(ExactString(region.rid))
                return change
            case .remove(let rid):
                if self[rid: rid] == nil, !set.contains(ExactString(rid)) {
                    unmatched.append(UnmatchedRemoval(name: rid, candidates: []))
                }
                return change
            case .removeMeant(let removal):
                if self[rid: removal.rid] != nil || set.contains(ExactString(removal.rid)) {
                    return .remove(rid: removal.rid)
                }
                let candidates = others.meant(by: removal, isTimeUnique: timestamps[removal.timestamp ?? 0] == 1)
                if candidates.count == 1 { return .remove(rid: candidates[0]) }
                unmatched.append(
                    UnmatchedRemoval(name: removal.description?.name ?? removal.rid, candidates: candidates))
                return nil
            }
        }
        return (resolved, unmatched)
    }

    /// The `rid`s of regions by what a removal may say of them.
    private struct Lookup {
        private var byTimestamp: [Int64: [String]] = [:]
        private var byDescription: [RegionDescription: [String]] = [:]
        private var byName: [ExactString: [String]] = [:]

        init(_ regions: [Region]) {
            byTimestamp = Dictionary(grouping: regions, by: \.timestamp).mapValues { $0.map(\.rid) }
            byDescription = Dictionary(grouping: regions) { Self.key($0.description) }.mapValues { $0.map(\.rid) }
            byName = Dictionary(grouping: regions) { ExactString($0.description.name) }.mapValues { $0.map(\.rid) }
        }

        /// Without the identity and the key, which a stored description does not have.
        private static func key(_ description: RegionDescription) -> RegionDescription {
            RegionDescription(name: description.name, pattern: description.pattern)
        }

        func meant(by removal: RegionRemoval, isTimeUnique: Bool) -> [String] {
            if let timestamp = removal.timestamp, isTimeUnique, let rids = byTimestamp[timestamp] { return rids }
            guard let description = removal.description else { return [] }
            if let rids = byDescription[Self.key(description)] { return rids }
            return description.pattern == nil ? byName[ExactString(description.name)] ?? [] : []
        }
    }
}

extension RegionChange {
    fileprivate var isRemoval: Bool {
        if case .set = self { false } else { true }
    }
}
