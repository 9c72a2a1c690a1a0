package import Base
package import SiteProtocol

extension RoomEngine {
    package enum Effect: Hashable, Sendable {
        case decided(Decision)
        /// Something that a user should know.
        case found(Finding)
    }

    /// One change of what is published about a tag.
    package struct Decision: Hashable, Sendable {
        /// Its index in `tags`.
        package var tag: Int
        package var isHome: Bool
        /// The reported rooms; nil if not known.
        package var from: RoomName?
        package var to: RoomName?
        /// Probability of the room, 0 … 1.
        package var confidence: Float

        package init(tag: Int, isHome: Bool, from: RoomName?, to: RoomName?, confidence: Float) {
            (self.tag, self.isHome, self.from, self.to, self.confidence) = (tag, isHome, from, to, confidence)
        }
    }

    package enum Finding: Hashable, Sendable {
        /// The gateway receives nothing while others do.
        case deaf(gateway: String)
        /// It receives again.
        case hears(gateway: String)
        /// Several gateways have this name: what they hear cannot be told apart.
        case shared(gateway: String)
        /// A trained room has another name and id now, because a person or all of its gateways say so. Its tags are still in it.
        case renamed(from: RoomName, to: RoomName, byPerson: Bool)
        /// A person asked for a renaming that is not possible.
        case notRenamed(from: RoomName, to: RoomName, RenamingRefusal)
        /// A person must say whether a room was renamed or gateways were carried.
        case asked(RoomQuestion)
        /// A person says that these gateways stand where they stood: what they measured counts again.
        case stay(gateways: [String])
        /// More gateways than a site can have. `idle`: those that give way, or have been silent for longest.
        case tooManyGateways(newest: String, idle: [String])
        /// More rooms than a site can have. `idle`: rooms without a gateway that counts.
        case tooManyRooms(newest: String, idle: [String])
        /// A gateway was moved or covered, as the gateways' own beacons say. `since`: when that was noticed first.
        case changed(gateway: String, SurveyHealth.Change, since: LocalTime?)
        /// A tag came to another floor between rooms that are not the stairs: its readings showed that for a minute.
        case floorChanged(tag: String, from: RoomName, to: RoomName)
        /// It is heard as before.
        case sameAgain(gateway: String)
    }
}
