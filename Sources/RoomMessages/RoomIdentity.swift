import Base
import JSON
package import OwnTracks
package import Regions
import Rooms

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

    /// A region as a tag: its `rid` is the id if it came with one that can be a topic level, else the name makes one.
    ///
    /// - Returns: nil for a region without a beacon.
    package init?(_ region: Region) {
        guard case .beacon(let pattern) = region.kind else { return nil }
        // A derived one says nothing to people.
        let isDerived = region.rid.hasSameBytes(as: derivedRID(name: region.displayName, timestamp: region.timestamp))
        let isID = !isDerived && TopicIdentifier.isIdentifier(region.rid)
        self.init(
            id: isID ? region.rid : RoomName.id(of: region.displayName), name: region.displayName, pattern: pattern)
    }
}

/// What the configuration says of rooms.
package struct RoomSettings: Hashable, Sendable {
    package var site: String?
    /// `%u` of the tags' topics; nil: `rooms-<site>`.
    package var user: String?
    /// Whether `tags` are all there are. A replay takes those of the recording besides.
    package var ownsTags = false
    package var tags: [TagIdentity] = []
    /// Rooms by gateway, sorted by gateway.
    package var gateways: [(gateway: String, room: String)] = []
    /// Where transitions and locations say that they are.
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
