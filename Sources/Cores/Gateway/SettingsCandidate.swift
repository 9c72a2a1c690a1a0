package import Configuration
package import JSON
package import OwnTracks

/// Valid settings of a `setConfiguration`.
package struct SettingsCandidate: Sendable {
    package let configuration: Configuration
    /// All members that differ from the file, earlier kept ones included.
    package let changes: JSONValue
    /// The regions that came with the settings.
    package let waypoints: [WaypointsReading]
    /// The present base topic of the tracker that got the command.
    package let topic: String

    package init(configuration: Configuration, changes: JSONValue, waypoints: [WaypointsReading], topic: String) {
        (self.configuration, self.changes) = (configuration, changes)
        (self.waypoints, self.topic) = (waypoints, topic)
    }
}
