package import Beacon
package import OwnTracks
package import Presence
package import Regions

/// What the gateway wants done. Adapters turn these into the world.
package enum Effect: Sendable {
    /// Send this to the broker, once and in order.
    case publish(Message)
    /// A tracker's regions are these from now on: keep them.
    case regions(tracker: Int, RegionSet)
    /// Somebody came or went: keep it in the history.
    case record(TransitionRecord)
    /// A tracker's monitoring mode changed: keep it.
    case monitoring(tracker: Int, MonitoringMode)
    /// Somebody with the right to do so wants other settings: these members over those in force, and
    /// with them these regions of the tracker that was asked.
    case reconfigure(JSONValue, waypoints: WaypointsReading?, tracker: Int)
    /// A person may want to know.
    case log(LogEntry)

    /// What the log is to say of it.
    package var logEntry: LogEntry? {
        switch self {
        case .record(let record): record.logEntry
        case .log(let entry): entry
        case .publish, .regions, .monitoring, .reconfigure: nil
        }
    }
}

/// A transition for the history.
package struct TransitionRecord: Hashable, Sendable {
    package let key: RegionKey
    package let isEnter: Bool
    /// The region's name as transitions show it.
    package let name: String
    /// The beacon that decided it: the first to come, the last to go.
    package let beacon: BeaconID
    package let rssi: RSSI?
    package let instant: MonotonicInstant
    /// Seconds since 1970, as far as they were known.
    package let timestamp: Int64
    /// The `tid` of the tracker.
    package let trackerID: String

    /// The words for it. They are not made with it, for the message waits for whatever is.
    package var logEntry: LogEntry {
        var fields = [
            "IBEACON_EVENT": isEnter ? "enter" : "leave", "IBEACON_REGION": name, "IBEACON_RID": key.rid,
            "IBEACON_TRACKER": trackerID, "IBEACON_UUID": "\(beacon.uuid)", "IBEACON_MAJOR": "\(beacon.major)",
            "IBEACON_MINOR": "\(beacon.minor)",
        ]
        if let rssi { fields["IBEACON_RSSI"] = "\(rssi.dBm)" }
        let verb = isEnter ? "entered" : "left"
        return LogEntry(.notice, "transition", "\(verb) \(name) (\(key.rid)) by beacon \(beacon)", fields: fields)
    }
}

/// A line for the log.
package struct LogEntry: Hashable, Sendable {
    package enum Level: Hashable, Sendable { case debug, info, notice, warning, error }

    package let level: Level
    /// Names the sort of line, for rate limits and for searching: `command-refused`.
    package let kind: String
    package let text: String
    /// For searching where the log keeps fields: `IBEACON_REGION` and its value.
    package let fields: [String: String]

    package init(_ level: Level, _ kind: String, _ text: String, fields: [String: String] = [:]) {
        self.level = level
        self.kind = kind
        self.text = text
        self.fields = fields
    }
}
