package import Beacon
package import OwnTracks

/// What can happen to the gateway. Adapters turn the world into these.
package enum Input: Sendable {
    /// An iBeacon was heard.
    case sighting(Sighting)
    /// A receiver began or ceased to listen.
    case listening(Receiver, Bool)
    /// While it listens, the radio of this receiver is on for this share of the time, 0 … 1.
    case scanDuty(Receiver, Double)
    /// For this long, up to now, the machine slept or this program did not run: nobody listened. Must come
    /// before anything else after it.
    case slept(Duration)
    /// Time passed; something may be due.
    case tick
    /// The wall clock was set, or has moved.
    case wallClock(WallClock)
    /// Something arrived on a tracker's `/cmd`.
    case command(ReceivedCommand)
    /// The broker took us; `isNew` if it remembers no session of ours, nor perhaps anything retained.
    case brokerConnected(isNew: Bool)
    /// Home Assistant said that it has started, and knows nothing.
    case homeAssistantStarted
    /// The configuration was read again.
    case configuration(Configuration)
}

/// A command as it came from the broker, already taken apart.
package struct ReceivedCommand: Sendable {
    /// Position of the tracker whose `/cmd` it came on.
    package let tracker: Int
    package let command: Result<OwnTracks.Command, CommandError>
    /// The broker had kept it from before.
    package let isRetained: Bool
    /// It came encrypted with the tracker's key.
    package let wasEncrypted: Bool

    package init(
        tracker: Int, command: Result<OwnTracks.Command, CommandError>, isRetained: Bool, wasEncrypted: Bool
    ) {
        self.tracker = tracker
        self.command = command
        self.isRetained = isRetained
        self.wasEncrypted = wasEncrypted
    }
}
