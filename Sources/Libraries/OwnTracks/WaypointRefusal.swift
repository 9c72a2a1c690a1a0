/// Why one waypoint was refused, in words for its author.
struct WaypointRefusal: Error {
    let reason: String
}
