import Presence

/// A message about one region that is to be published, with what is known when its turn comes.
enum RegionNote: Hashable, Sendable {
    /// The retained state of a region.
    case state(tracker: Int, rid: String)
    /// The region itself, on `/waypoint`.
    case waypoint(tracker: Int, rid: String)
    /// The retained state of a region that is no more is emptied.
    case withdrawal(device: String, tracker: Int, rid: String)
}
