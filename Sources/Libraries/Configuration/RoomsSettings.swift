package import Regions

/// The site in which several gateways decide together where a tag is.
package struct RoomsSettings: Hashable, Sendable {
    /// A level of topics: 1 to 64 of the characters A-Z, a-z, 0-9, `_` and `-`.
    package var site: String
    /// The name of this machine's rooms service among those of the site, a level of topics, too; nil for the name of
    /// the machine.
    package var instance: String?
    /// The tags of the configuration, as a merge of regions. Each region names a beacon.
    package var tags: [RegionChange] = []
    /// The rooms of gateways, sorted by gateway.
    package var gateways: [GatewayRoom] = []
    /// The floors of rooms, sorted by room.
    package var floors: [RoomOnFloor] = []
    /// The rooms through which one reaches another floor.
    package var stairs: [String] = []
    /// Whether the gateway also publishes what it hears of the tags as an ESPresense node does.
    package var actsAsESPresenseNode = false
    /// Whether the rooms service publishes the room of each tag as ESPresense nodes would.
    package var publishesVirtualNodes = false
    /// Whether the rooms service asks the gateways to send beacons, so that they hear each other.
    package var surveysGateways = false
    /// Days for which the history of rooms is kept; nil for those of the gateway.
    package var historyDays: Int?
    /// Where the page of the rooms service is served; nil if it is not served.
    package var statusPage: ListenAddress? = .rooms
    /// The site's key. With it, everything published for the site is encrypted, and unencrypted messages are refused.
    /// At most `longestEncryptionKey` bytes; all gateways and services of a site have the same key.
    package var encryptionKey = SecretSetting.absent
    /// Whether the service publishes the states of tags, rooms, gateways and itself unencrypted, although the site has a key.
    package var publishesPlainState = false

    /// The room in which a gateway is.
    package struct GatewayRoom: Hashable, Sendable {
        package var gateway: String
        /// 1 to `mostRoomNameBytes` bytes, without blanks around them and without control characters.
        package var room: String
    }

    /// On which floor a room is.
    package struct RoomOnFloor: Hashable, Sendable {
        /// As that of `GatewayRoom`.
        package var room: String
        /// One of `roomFloors`.
        package var floor: Int
    }

    /// The longest name of a room in bytes, like any name in the messages of a site.
    package static let mostRoomNameBytes = 128

    /// Whether the site has a key, in the configuration or in a file.
    package var hasKey: Bool { encryptionKey != .absent }
}
