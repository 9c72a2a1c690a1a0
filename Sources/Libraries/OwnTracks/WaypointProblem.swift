/// A refused waypoint, or an accepted waypoint with a remark.
public struct WaypointProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// Its index in the list, from 0.
    public let index: Int
    /// Its `desc`, else its `rid`, shortened; empty if it has neither.
    public let name: String
    /// In words for the author.
    public let reason: String

    /// Index, name and reason, in one line.
    public var description: String {
        name.isEmpty ? "waypoint \(index): \(reason)" : "waypoint \(index) ('\(name)'): \(reason)"
    }
}
