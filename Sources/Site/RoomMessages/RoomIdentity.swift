import Base
package import OwnTracks
package import Regions
import SiteProtocol

/// A tag as it is published.
package struct TagIdentity: Hashable, Sendable {
    /// Permanent; a topic level.
    package var id: String
    package var name: String
    package var pattern: BeaconPattern

    package init(id: String, name: String, pattern: BeaconPattern) {
        self.id = id
        self.name = name
        self.pattern = pattern
    }

    /// A region as a tag. The id is the region's `rid` if the region came with one that can be a topic level. Otherwise
    /// it is derived from the name.
    ///
    /// - Returns: nil for a region without a beacon.
    package init?(_ region: Region) {
        guard case .beacon(let pattern) = region.kind else { return nil }
        // A derived `rid` means nothing to users.
        let isDerived = region.rid.hasSameBytes(as: derivedRID(name: region.displayName, timestamp: region.timestamp))
        let isID = !isDerived && TopicIdentifier.isIdentifier(region.rid)
        self.init(
            id: isID ? region.rid : RoomName.id(of: region.displayName), name: region.displayName, pattern: pattern)
    }
}

/// The settings of the rooms service.
package struct RoomSettings: Hashable, Sendable {
    package var site: String?
    /// The user level (`%u`) of the tags' topics; nil: `rooms-<site>`.
    package var user: String?
    /// Whether `tags` is the complete list. A replay also takes the tags of the recording.
    package var ownsTags = false
    package var tags: [TagIdentity] = []
    /// Rooms by gateway, sorted by gateway.
    package var gateways: [(gateway: String, room: String)] = []
    /// The position in transitions and locations.
    package var position = Position(coordinates: Coordinates(latitude: 0, longitude: 0), accuracy: 10)

    package init() {}

    package static func == (left: RoomSettings, right: RoomSettings) -> Bool {
        left.site == right.site && left.user == right.user && left.ownsTags == right.ownsTags
            && left.tags == right.tags && left.position == right.position
            && left.gateways.elementsEqual(right.gateways, by: ==)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(site)
        hasher.combine(tags)
        hasher.combine(position)
    }
}
