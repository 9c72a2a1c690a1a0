/// The requests of the status page.
package enum StatusAction: Hashable, Sendable {
    /// Adds or replaces a region: `waypoint` is the JSON text of one OwnTracks waypoint.
    case setRegion(tracker: Int, waypoint: String)
    /// Changes members of an existing region: those in the JSON text of one OwnTracks waypoint. null removes a member.
    case editRegion(tracker: Int, waypoint: String)
    case removeRegion(tracker: Int, rid: String)
    /// Changes settings: some of the members of `StatusSource.settingsForm`, as JSON text.
    case changeSettings(String)
    case reportLocation(tracker: Int)
    case restartScan
}
