package import Base
import Beacon
package import Configuration
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
        /// Check these members over the settings in force, with these regions of the tracker that got the command, which has this base
        /// topic. The input `settings` reports whether they are valid.
        case checkSettings(JSONValue, waypoints: WaypointsReading?, topic: String)
        /// Put these settings in force, with a new connection to the broker if theirs differ, and report that (`SettingsOutcome.inForce`).
        /// `modes`: as of `Input.configuration`.
        indirect case putInForce(Configuration, modes: [ExactString: MonitoringMode])
        /// The settings on trial stay. Their value is stored with this decision.
        case settingsKept
        /// Change the file of the keys of phones, and report the end (`PhoneKeyEvent.stored`, `notStored`). There is one change at a time.
        case storePhoneKeys(PhoneKeyChange)
        /// The keys of phones in force (`Phones.inForce`) may be other ones: the radio needs them. `areOthers`: those of the file are.
        case phonesInForce(areOthers: Bool)
        /// Publish these keys as the list of this gateway, sealed with the site's key, and report it (`PhoneKeyEvent.published`). Without a
        /// connection nothing is published or reported.
        case publishPhoneList(PhoneKeys)
        /// Write this to the log.
        case log(LogEntry)

        /// The line for the log.
        package var logEntry: LogEntry? {
            switch self {
            case .record(let record): record.logEntry
            case .log(let entry): entry
            case .publish, .recordLocation, .regions, .monitoring, .presence, .checkpoint, .editsTaken, .value, .forget,
                .rereadEdits, .checkSettings, .putInForce, .settingsKept, .storePhoneKeys, .phonesInForce,
                .publishPhoneList:
                nil
            }
        }
    }
}
