/// A kind of message about a tracker that its mode may withhold.
package enum PublishedEvent: Hashable, Sendable {
    /// An enter or leave, including the repetition of an enter.
    case transition
    /// A location, by its trigger. If transitions of one second share a location, its trigger is that of the last one.
    case location(Location.Trigger)
    /// The retained state of a region.
    case regionState
    /// What the entities of Home Assistant show of a tracker: presence, signals and batteries.
    case entityStates
    case ranging
    /// The readings for the rooms service.
    case readings
}
