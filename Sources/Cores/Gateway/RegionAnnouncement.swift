/// A message about one region that waits to be published. Its content is made when its turn comes.
enum RegionAnnouncement: Hashable, Sendable {
    /// The retained state of a region.
    case state(tracker: Int, rid: String)
    /// The enter of an occupied region again.
    case enter(tracker: Int, rid: String)
    /// The region itself, on `/waypoint`.
    case waypoint(tracker: Int, rid: String)
    /// The retained state of a removed region is emptied.
    case withdrawal(device: String, tracker: Int, rid: String)

    /// The same announcement when trackers have other positions; nil: its tracker is no more.
    ///
    /// - Parameter positions: The new position of each tracker by its old one.
    func moved(to positions: [Int: Int]) -> RegionAnnouncement? {
        switch self {
        case .state(let tracker, let rid): positions[tracker].map { .state(tracker: $0, rid: rid) }
        case .enter(let tracker, let rid): positions[tracker].map { .enter(tracker: $0, rid: rid) }
        case .waypoint(let tracker, let rid): positions[tracker].map { .waypoint(tracker: $0, rid: rid) }
        // The topic contains the device. The tracker is only the sender of the message.
        case .withdrawal(let device, let tracker, let rid):
            .withdrawal(device: device, tracker: positions[tracker] ?? 0, rid: rid)
        }
    }
}
