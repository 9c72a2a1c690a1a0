/// Why a value is not a list of waypoints.
public struct WaypointsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, in words for the author.
    public let description: String
}
