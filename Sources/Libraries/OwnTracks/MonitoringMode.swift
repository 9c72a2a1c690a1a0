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
