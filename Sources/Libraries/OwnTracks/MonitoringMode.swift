/// OwnTracks' `monitoring`: what a tracker publishes.
package enum MonitoringMode: Int, Hashable, Sendable, CaseIterable {
    /// Nothing is published but locations by hand.
    case quiet = -1
    /// Region events, and locations by hand.
    case manual = 0
    /// Besides, a location each `ping`, and when it is asked for.
    case significant = 1
    /// Besides, a location each `locatorInterval` while a tracker is inside a region.
    case move = 2

    /// Whether a tracker in this mode publishes an event. The only table of the modes.
    package func publishes(_ event: PublishedEvent) -> Bool {
        switch event {
        case .location(.manual): true
        case .location(.periodic), .location(.requested): self == .significant || self == .move
        case .transition, .location(.beacon), .location(.circle), .regionState, .ranging, .readings: self != .quiet
        }
    }
}

/// A kind of message about a tracker that its mode may withhold.
package enum PublishedEvent: Hashable, Sendable {
    /// An enter or leave: as it is decided, or an enter that is repeated.
    case transition
    /// By what caused it. A location that transitions of one second share has the trigger of the last one.
    case location(Location.Trigger)
    /// The retained state of a region.
    case regionState
    case ranging
    /// The readings for the rooms service.
    case readings
}
