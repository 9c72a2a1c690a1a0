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
        /// The survey says that it is not where it was, or that something covers it. The engine does not know these: the service adds them.
        case moved, covered

        /// Whether a person should do something about it.
        package var isFault: Bool { self != .sameRadio }

        /// Whether one sentence tells it of all gateways that have it. What the survey says differs from one to the next.
        package var isToldTogether: Bool { isFault && self != .moved && self != .covered }

        package init(_ kind: SurveyHealth.Change.Kind) {
            self =
                switch kind {
                case .moved: .moved
                case .covered: .covered
                }
        }
    }

    package var name: String
    package var room: RoomName
    /// Whether its silence about a tag means that the tag is not near it.
    package var isListening: Bool
    package var trouble: Trouble?
    /// The room that the gateway named before, if a person must say whether that room was renamed or the gateway was carried; nil if
    /// nothing is to be asked.
    package var formerRoom: RoomName?
    /// What the survey says of it; nil if it is not asked for a beacon.
    package var survey: SurveyHealth?

    package init(
        name: String, room: RoomName, isListening: Bool, trouble: Trouble? = nil, formerRoom: RoomName? = nil,
        survey: SurveyHealth? = nil
    ) {
        (self.name, self.room, self.isListening, self.trouble) = (name, room, isListening, trouble)
        (self.formerRoom, self.survey) = (formerRoom, survey)
    }
}
