package import Base
package import OwnTracks

/// One identity: an OwnTracks device of its own.
package struct TrackerConfiguration: Hashable, Sendable {
    /// In every message.
    @ExactString package var trackerID: String
    /// `%u`; nil if none was given, and topics contain `user`.
    package var username: String?
    /// `%d`
    @ExactString package var deviceID: String
    /// What Home Assistant calls it; nil for user and device.
    package var name: String?
    package var topics: Topics
    /// Put into leave transitions instead of the gateway's own position.
    package var away: Position?
    /// At most `longestEncryptionKey` bytes.
    package var encryptionKey: SecretSetting
    /// Merged by `rid` at every start and reload.
    package var waypoints: WaypointsReading

    /// The default client id, as the apps make it: user and device, letters and digits only.
    var derivedClientID: String {
        let letters = ((username ?? "user") + deviceID).unicodeScalars.filter {
            switch $0 {
            case "0"..."9", "a"..."z", "A"..."Z": true
            default: false
            }
        }
        return letters.isEmpty ? "ibeacongateway" : String(String.UnicodeScalarView(letters))
    }

    /// Whether the topics follow from user and device.
    var hasDerivedTopics: Bool { topics.base.hasSameBytes(as: "owntracks/\(username ?? "user")/\(deviceID)") }

    /// The default room of a gateway.
    var derivedRoom: String { String(deviceID.prefix(64)) }
}
