package import OwnTracks
package import Regions
package import Rooms
package import SiteProtocol

/// The settings of the service of a site.
package struct SiteSettings: Hashable, Sendable {
    /// nil in a replay, which uses the site of the first message.
    package var site: String?
    /// The user level (`%u`) of the tags' topics; nil for `rooms-<site>`.
    package var user: String?
    /// The name of this service among the services of the site. A replay has none: there is no other service, and the tags of
    /// the site's list are added to those of the configuration.
    package var instance: String?
    /// The version of the program, for the service's card.
    package var version = ""
    /// What the service's `/cmd` may do. Whether a command must be encrypted is decided where it is decrypted.
    package var commandRights = CommandGate.Rights(
        obeysCommands: true, allowsRemoteConfiguration: true, needsEncryption: false)
    /// The tags of the configuration file, as changes of the stored ones.
    package var tags: [RegionChange] = []
    /// Rooms by gateway: its name in topics, or its `deviceId`.
    package var gateways: [String: RoomName] = [:]
    /// The floors of rooms, and which are stairs.
    package var floors: [RoomName: RoomFloor] = [:]
    /// The position in transitions and locations.
    package var position = Position(coordinates: Coordinates(latitude: 0, longitude: 0), accuracy: 10)
    /// How the site is described to Home Assistant; nil if it is not described.
    package var discovery: SiteDiscovery.Settings?
    /// Whether the gateways' cards are encrypted, so that Home Assistant cannot read them.
    package var areCardsSealed = false
    /// Whether the rooms of tags are published as ESPresense nodes would publish them.
    package var publishesVirtualNodes = false
    /// Whether gateways are asked to send beacons, so that they hear each other. A replay asks none, and counts what was heard.
    package var surveysGateways = false
    /// The largest numbers of gateways, rooms and tags.
    package var bounds = RoomEngine.Bounds()

    package init() {}

    /// The topics of the tags.
    package func addresses(ofSite site: String) -> SiteAddresses { SiteAddresses(site: site, user: user) }
}
