package import Base
package import Beacon
package import Configuration
package import JSON
package import OwnTracks
package import Regions

/// Everything that can happen to the gateway. Adapters turn the world into these, and `Gateway.handle` takes them.
package enum Input: Sendable {
    /// The store is open. The first input of a service; a replay may begin without stored state.
    indirect case start(StoredState)
    /// A receiver heard an iBeacon.
    case sighting(Sighting)
    /// A receiver began or ceased to listen.
    case listening(Receiver, Bool)
    /// While it listens, the radio of this receiver is on for this share of the time, 0 … 1.
    case scanDuty(Receiver, Double)
    /// For this long, up to now, the machine was suspended and no receiver listened. It must come before any other
    /// input after the suspend.
    case absent(Duration)
    /// Time passed and every report that the radio had waiting was handled. Only a tick lets silence count, so only
    /// a tick makes a beacon leave.
    case tick
    /// Presence may be kept now, although no beacon came or went.
    case checkpoint
    /// The service is about to end.
    case stopping
    /// The wall clock was set, or has moved.
    case wallClock(WallClock)
    /// A message arrived on a tracker's `/cmd`.
    case command(ReceivedCommand)
    /// The command line edited regions. Edits that were handled before may come again.
    case regionEdits([StoredEdit])
    /// The status page or Home Assistant asks for this.
    case request(Request)
    /// What became of settings that a `reconfigure` effect handed out.
    case settings(SettingsOutcome)
    /// The configuration was read again, or is on trial.
    indirect case configuration(Configuration)
    /// The store gave up a write. What it held of presence is lost.
    case writeLost
    /// The store uses another file, which may lack anything.
    case stateLost
    /// The broker accepted the connection. `isNew`: it remembers no session, and perhaps no retained message.
    case brokerConnected(isNew: Bool)
    /// Home Assistant announced its start. It knows no state.
    case homeAssistantStarted
}

/// What the store found when it was opened.
package struct StoredState: Sendable {
    /// The configuration in force: that of the file with the settings that were kept.
    package var configuration: Configuration
    /// The regions of each tracker, in the order of the configuration.
    package var regions: [RegionSet]
    /// The monitoring mode of each tracker, where it was switched.
    package var monitoring: [MonitoringMode?]
    package var presence: Presence
    /// Settings that came by `setConfiguration` and were kept.
    package var remoteSettings: JSONValue?
    /// The topics that a service told the command line last, as `Gateway.servedTopicsKey` holds them.
    package var servedTopics: [UInt8]?
    /// Members for the answer to `status`: the program's version and the like.
    package var about: [String: JSONValue]

    package enum Presence: Sendable {
        /// Nothing is known; every beacon enters anew.
        case unknown
        /// `isSameBoot`: instants in it are of this boot's clock.
        case kept(KeptPresence, isSameBoot: Bool)
        /// The occupancy of each tracker by `rid`. For a program that reports and does not listen.
        case occupied([[ExactString: Occupancy]])
    }

    package init(
        configuration: Configuration, regions: [RegionSet], monitoring: [MonitoringMode?] = [],
        presence: Presence = .unknown, remoteSettings: JSONValue? = nil, servedTopics: [UInt8]? = nil,
        about: [String: JSONValue] = [:]
    ) {
        self.configuration = configuration
        self.regions = regions
        self.monitoring = monitoring
        self.presence = presence
        self.remoteSettings = remoteSettings
        self.servedTopics = servedTopics
        self.about = about
    }
}

/// An edit of regions by the command line.
package struct StoredEdit: Hashable, Sendable {
    /// Grows with each edit of a tracker.
    package let id: Int64
    /// The base topic of the tracker.
    package let topic: String
    package let change: RegionChange

    package init(id: Int64, topic: String, change: RegionChange) {
        self.id = id
        self.topic = topic
        self.change = change
    }
}

/// What the status page and Home Assistant can ask for. Positions of trackers are valid.
package enum Request: Sendable {
    case changeRegions(tracker: Int, [RegionChange])
    case reportLocation(tracker: Int, pointOfInterest: String? = nil)
    case setMonitoring(tracker: Int, MonitoringMode)
}

/// What became of a `setConfiguration`.
package enum SettingsOutcome: Sendable {
    /// They are kept: everything that differs from the file, and the regions that came with the command.
    case kept(JSONValue, waypoints: [WaypointsReading], tracker: Int)
    /// They are not valid, or the broker could not be reached with them. The log has the reason.
    case refused
}

/// A command as it came from the broker, already decoded.
package struct ReceivedCommand: Sendable {
    /// Position of the tracker whose `/cmd` it came on.
    package let tracker: Int
    package let command: Result<OwnTracks.Command, CommandError>
    /// The broker had retained it.
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
