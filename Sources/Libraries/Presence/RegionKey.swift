public import Base

/// Names a region across all trackers of the gateway.
public struct RegionKey: Hashable, Sendable {
    /// Index of the tracker in the configuration; 0 is the gateway's own.
    public let tracker: Int
    /// The region's key among those of its tracker.
    @ExactString public private(set) var rid: String

    /// The key of a region. A program with one tracker gives it index 0.
    public init(tracker: Int, rid: String) {
        self.tracker = tracker
        self.rid = rid
    }
}
