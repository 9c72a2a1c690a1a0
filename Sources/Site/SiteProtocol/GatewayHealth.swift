/// What is known about a gateway of the site, for users: the retained `ibeacon-rooms/<site>/health/<gateway>`.
package struct GatewayHealth: Hashable, Sendable {
    /// Why a gateway provides no useful readings.
    package enum Trouble: String, Hashable, Sendable {
        /// Several gateways have its name.
        case sharedName
        /// The broker says that it is not connected.
        case offline
        /// Its room is known, but it has published no readings.
        case noReadings
        /// It published readings before, but no longer does.
        case silent
        /// Its readings arrive more than five seconds late.
        case late
        /// Its radio does not listen.
        case notListening
        /// It receives nothing while others do.
        case deaf
        /// It seems to have swapped rooms with another gateway.
        case exchanged
        /// It is a scanner of Home Assistant with the radio of a gateway that is heard. The engine does not know this: the service adds it.
        case sameRadio
        /// Its messages cannot be decrypted. The engine does not know this: the service adds it.
        case wrongKey

        /// Whether a person should do something about it.
        package var isFault: Bool { self != .sameRadio }
    }

    package var name: String
    package var room: RoomName
    /// Whether its silence about a tag means that the tag is not near it.
    package var isListening: Bool
    package var trouble: Trouble?
    /// The room that the gateway named before, if a person must say whether that room was renamed or the gateway was carried; nil if
    /// nothing is to be asked.
    package var formerRoom: RoomName?

    package init(
        name: String, room: RoomName, isListening: Bool, trouble: Trouble? = nil, formerRoom: RoomName? = nil
    ) {
        (self.name, self.room, self.isListening, self.trouble) = (name, room, isListening, trouble)
        self.formerRoom = formerRoom
    }
}
