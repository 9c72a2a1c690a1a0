/// A message about one region that waits to be published. Its content is made when its turn comes.
enum RegionAnnouncement: Hashable, Sendable {
    /// The retained state of a region.
    case state(tracker: Int, rid: String)
    /// The region itself, on `/waypoint`.
    case waypoint(tracker: Int, rid: String)
    /// The retained state of a removed region is emptied.
    case withdrawal(device: String, tracker: Int, rid: String)
}
