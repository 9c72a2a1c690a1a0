/// One step of a merge.
public enum RegionChange: Hashable, Sendable {
    /// Insert, or replace the region with this `rid`.
    ///
    /// `isRIDDerived`: the waypoint had no `rid`. Then, if no region has the derived `rid` but exactly one has the same
    /// time stamp, the waypoint means that region (OwnTracks' older key), and its `rid` stays.
    case set(Region, isRIDDerived: Bool)
    /// Remove the region with this `rid`, if there is one.
    case remove(rid: String)
    /// Remove the region that this means, if it means one alone.
    case removeMeant(RegionRemoval)
}
