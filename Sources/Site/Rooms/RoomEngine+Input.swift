package import Beacon
package import SiteProtocol

extension RoomEngine {
    package enum Input: Sendable {
        /// A message of a gateway.
        case heard(gateway: String, HeardSecond)
        /// The gateway's card, or the configuration, names the gateway's room.
        case card(gateway: String, room: RoomName, isConfigured: Bool = false)
        /// The telemetry of an ESPresense node arrived.
        case telemetry(node: String)
        /// Whether the gateway is connected to the broker.
        case available(gateway: String, Bool)
        /// The gateway is no longer part of the site.
        case forget(gateway: String)
        /// Replaces the tags. What is known about a tag is kept while its id and pattern stay the same.
        case tags([TagDescription])
        /// The tags with these UUIDs are phones, and no others.
        case phones(Set<BeaconUUID>)
        /// The tag is in the room, for this long from now on. Zero ends the training.
        case learn(room: RoomName, tag: String, Duration)
        /// Forgets what was learned of the room with this id or name.
        case forgetRoom(RoomName)
        /// The room, given by its id or name, has another name now.
        case rename(RoomName, to: RoomName)
        /// The gateway names another room because it was carried there.
        case moved(gateway: String)
        /// How much more each gateway measures than others, dB, as far as that is known (`LevelSurvey.offsets`); 0 for all others.
        case offsets([String: Float])
        /// What the gateways hear of each other, as far as that is known (`LevelSurvey.levels`); no more than this.
        case levels(SurveyedLevels)
        /// On which floor each room is, as far as that is known, and which rooms are stairs.
        case floors([RoomName: RoomFloor])
        /// The connection to the broker was lost or restored. Initially it exists.
        case connected(Bool)
        /// What comes next was recorded at another time: the gateways' clocks are learned anew.
        case discontinuity
        /// Time passed; a deadline may be due.
        case tick
    }
}
