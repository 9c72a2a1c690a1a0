import Base
package import Beacon
package import JSON
package import Regions

extension LeaveRule {
    package static let allowed = "'auto' or a number of seconds from 1 to 86400"

    /// `"auto"`, or seconds from 1 to 86,400 (a day).
    package init?(_ value: JSONValue) {
        if value == "auto" {
            self = .auto
        } else if let seconds = value.asNumber, (1...86_400).contains(seconds) {
            self = .after(.milliseconds(Int64((seconds * 1000).rounded())))
        } else {
            return nil
        }
    }

    package var json: JSONValue {
        switch self {
        case .auto: "auto"
        case .after(let duration): seconds(duration)
        }
    }
}

extension RSSI {
    package static let allowed = "a whole number of dBm from -127 to 20"

    /// dBm, −127 … 20.
    package init?(_ value: JSONValue) {
        guard let dBm = value.asInteger, (-127...20).contains(dBm) else { return nil }
        self.init(reported: Int8(truncatingIfNeeded: dBm))
    }
}

/// A duration as a number of seconds: without a fraction if it has none.
package func seconds(_ duration: Duration) -> JSONValue {
    .plain(duration.inSeconds)
}
