import JSON
package import OwnTracks
package import Regions

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
}

/// What the configuration says of rooms.
package struct RoomSettings: Hashable, Sendable {
    package var site: String?
    package var tags: [TagIdentity] = []
    /// Rooms by gateway, sorted by gateway.
    package var gateways: [(gateway: String, room: String)] = []
    /// Where transitions and locations say that they are.
    package var position = Position(coordinates: Coordinates(latitude: 0, longitude: 0), accuracy: 10)

    package init() {}

    package static func == (left: RoomSettings, right: RoomSettings) -> Bool {
        left.site == right.site && left.tags == right.tags && left.position == right.position
            && left.gateways.elementsEqual(right.gateways, by: ==)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(site)
        hasher.combine(tags)
        hasher.combine(position)
    }
}
