/// The changes of a merge.
public struct RegionDifference: Hashable, Sendable {
    /// The regions that are new.
    public var inserted: [Region] = []
    /// The regions that were changed, as they are now.
    public var updated: [Region] = []
    /// The regions that are gone.
    public var removed: [Region] = []
    /// The removals that removed nothing.
    public var unmatched: [UnmatchedRemoval] = []

    /// No change.
    public init() {}

    /// Whether nothing was changed.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && removed.isEmpty }
}
