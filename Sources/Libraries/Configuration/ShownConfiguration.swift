import Base
package import JSON
import OwnTracks

extension Configuration {
    /// The settings in force as a configuration, with every member, and secrets hidden. If it has no secrets, loading
    /// it gives these settings again.
    package var shown: JSONValue {
        var members: [String: JSONValue] = ["_type": "configuration"]
        for setting in Setting.all { members[setting.name] = setting.shown(self) }
        members["auth"] = .bool(broker.username != nil || trackers[0].username == nil)
        return .object(members)
    }

    /// Whether the file itself contains a secret, so that other users must not read it.
    package var holdsSecret: Bool {
        broker.password.inline != nil || broker.endpoint?.login != nil || rooms?.encryptionKey.inline != nil
            || trackers.contains { $0.encryptionKey.inline != nil || !$0.waypoints.keys.isEmpty }
    }
}
