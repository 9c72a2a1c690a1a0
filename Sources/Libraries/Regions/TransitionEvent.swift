/// What happened to a region.
public enum TransitionEvent: String, Hashable, Sendable, CaseIterable {
    /// The first beacon of the region is near, or the position came into the circle.
    case enter
    /// The last beacon is gone, or the position left the circle.
    case leave
}
