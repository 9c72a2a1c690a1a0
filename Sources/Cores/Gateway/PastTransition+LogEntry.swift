import Base
import Beacon
package import Regions

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
