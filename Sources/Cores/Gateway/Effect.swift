package import Base
import Beacon
package import Identities
package import JSON
package import OwnTracks
package import Regions

extension Gateway {
    /// An action that the core decided. The effects of one input are one decision: the service stores them in one
    /// transaction, and sends their messages to the broker after that transaction is on the disk.
    package enum Effect: Sendable {
        /// Send this to the broker, once and in order.
        case publish(Publication)
        /// Store the regions of the tracker with this base topic.
        case regions(topic: String, RegionSet)
        /// Store this transition in the history.
        case record(PastTransition)
        /// Store this location in the history.
        case recordLocation(PastLocation)
        /// Store the monitoring mode of the tracker with this base topic.
        case monitoring(topic: String, KeptMonitoring)
        /// Store presence, with everything else of this decision.
        case presence(PresenceUpdate)
        /// Store presence when something else is written, or within the store's own interval.
        /// The bytes are for `KeptPresence(bytes:)`.
        case checkpoint([UInt8])
        /// The edits of the tracker with this base topic are in its regions, up to this one.
        case editsTaken(topic: String, upTo: Int64)
        /// Store this value under this key.
        case value(key: String, [UInt8])
        /// Delete the value under this key.
        case forget(key: String)
        /// Read all edits again: a tracker may exist now for edits that wait.
        case rereadEdits
        /// Try these members over the settings in force, with these regions of the tracker that got the command, which had
        /// this base topic. The input `settings` reports the outcome.
        case reconfigure(JSONValue, waypoints: WaypointsReading?, topic: String)
        /// Store these keys of phones, whose regions came with them.
        case phoneKeys([NamedKey])
        /// Write this to the log.
        case log(LogEntry)

        /// The line for the log.
        package var logEntry: LogEntry? {
            switch self {
            case .record(let record): record.logEntry
            case .log(let entry): entry
            case .publish, .recordLocation, .regions, .monitoring, .presence, .checkpoint, .editsTaken, .value, .forget,
                .rereadEdits, .reconfigure, .phoneKeys:
                nil
            }
        }
    }
}

/// Presence as it is to be stored.
package enum PresenceUpdate: Hashable, Sendable {
    /// Replaces what was stored before. For `KeptPresence(bytes:)`.
    case whole([UInt8])
    /// Is stored beside the last whole state and the changes since. For `KeptPresence(bytes:changes:)`.
    case change([UInt8])
}

extension PastTransition {
    /// Formatted lazily, because formatting would delay the message.
    package var logEntry: LogEntry {
        var fields = [
            "IBEACON_EVENT": event.rawValue, "IBEACON_REGION": name, "IBEACON_RID": rid,
            "IBEACON_TRACKER": trackerID ?? "",
        ]
        if let beacon {
            fields["IBEACON_UUID"] = "\(beacon.uuid)"
            fields["IBEACON_MAJOR"] = "\(beacon.major)"
            fields["IBEACON_MINOR"] = "\(beacon.minor)"
        }
        if let rssi { fields["IBEACON_RSSI"] = "\(rssi.dBm)" }
        let verb = (trackerName.map { "\($0) " } ?? "") + (isEnter ? "entered" : "left")
        let cause = beacon.map { "by beacon \($0)" } ?? "by the tracker's position"
        return LogEntry(.notice, "transition", "\(verb) \(name) (\(rid)) \(cause)", fields: fields)
    }
}

/// A line for the log.
package struct LogEntry: Hashable, Sendable {
    package let priority: LogPriority
    /// The kind of the line, for rate limits and for searching: `command-refused`.
    package let kind: String
    package let text: String
    /// Whose line it is, such as the base topic of a tracker: the rate limits of one do not hide the lines of another.
    package let scope: String
    /// Structured fields of the journal: `IBEACON_REGION` and its value.
    package let fields: [String: String]

    package init(
        _ priority: LogPriority, _ kind: String, _ text: String, of scope: String = "", fields: [String: String] = [:]
    ) {
        self.scope = scope
        self.priority = priority
        self.kind = kind
        self.text = text
        self.fields = fields
    }
}
