/// Why one waypoint was refused, in words for its author.
struct WaypointRejection: Error {
    let reason: String
}
