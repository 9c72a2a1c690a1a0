/// OwnTracks' `monitoring`: what a tracker publishes.
package enum MonitoringMode: Int, Hashable, Sendable, CaseIterable {
    /// Only locations by hand are published.
    case quiet = -1
    /// Region events, and locations by hand.
    case manual = 0
    /// Also a location each `ping`, and on request.
    case significant = 1
    /// Also a location each `locatorInterval` while a tracker is inside a region.
    case move = 2

    /// Whether a tracker in this mode publishes an event. This is the only table of the modes.
    package func publishes(_ event: PublishedEvent) -> Bool {
        switch event {
        case .location(.manual): true
        case .location(.periodic), .location(.requested): self == .significant || self == .move
        case .transition, .location(.beacon), .location(.circle), .regionState, .entityStates, .ranging, .readings:
            self != .quiet
        }
    }
}

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
