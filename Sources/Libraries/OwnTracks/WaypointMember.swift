/// Members of a waypoint that the gateway uses. All others are kept as extension members.
enum WaypointMember {
    static let known: Set<String> = [
        "_type", "desc", "tst", "rid", "lat", "lon", "rad", "uuid", "major", "minor",
        "leaveAfter", "enterRSSI", "leaveRSSI",
    ]
    /// Bytes of UTF-8 that a `rid` may have. It becomes part of a topic, which MQTT limits to 65,535.
    static let longestRID = 1024
    /// The name of a waypoint without `desc`, as in the iOS app.
    static let defaultName = "Here"
    /// Metres: more than the circumference of the Earth.
    static let largestRadius = 100_000_000.0
}
