import Regions

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

    /// The same announcement when trackers have other indices; nil: its tracker no longer exists.
    ///
    /// - Parameter newIndices: The new index of each tracker by its old one.
    func moved(to newIndices: [Int: Int]) -> RegionAnnouncement? {
        switch self {
        case .state(let tracker, let rid): newIndices[tracker].map { .state(tracker: $0, rid: rid) }
        case .enter(let tracker, let rid): newIndices[tracker].map { .enter(tracker: $0, rid: rid) }
        case .waypoint(let tracker, let rid): newIndices[tracker].map { .waypoint(tracker: $0, rid: rid) }
        // The topic contains the device. The tracker is only the sender of the message.
        case .withdrawal(let device, let tracker, let rid):
            .withdrawal(device: device, tracker: newIndices[tracker] ?? 0, rid: rid)
        }
    }

    /// The announcements after a change of a tracker's regions.
    ///
    /// - Parameter tracker: The index of the tracker.
    static func after(
        _ difference: RegionDifference, of tracker: Int, device: String, publishesWaypoints: Bool
    ) -> [RegionAnnouncement] {
        var announcements: [RegionAnnouncement] = []
        // A region that no longer is a beacon region has no state.
        for region in difference.removed + difference.updated.filter({ !$0.isBeacon }) {
            announcements.append(.withdrawal(device: device, tracker: tracker, rid: region.rid))
        }
        let present = difference.inserted + difference.updated
        announcements += states(of: present, tracker: tracker)
        // Home Assistant makes zones of these messages, so they are optional.
        if publishesWaypoints { announcements += present.map { .waypoint(tracker: tracker, rid: $0.rid) } }
        return announcements
    }

    /// The retained states of those that are beacon regions.
    static func states(of regions: [Region], tracker: Int) -> [RegionAnnouncement] {
        regions.filter(\.isBeacon).map { .state(tracker: tracker, rid: $0.rid) }
    }

    /// - Parameter sender: The index of the tracker that sends them; nil: it no longer exists.
    static func withdrawals(of regions: RegionSet, device: String, sender: Int?) -> [RegionAnnouncement] {
        regions.regions.filter(\.isBeacon).map { .withdrawal(device: device, tracker: sender ?? 0, rid: $0.rid) }
    }
}
