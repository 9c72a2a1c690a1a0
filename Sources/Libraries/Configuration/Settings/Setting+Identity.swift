import JSON
import OwnTracks
import Regions

extension Setting {
    /// `TrackerReader` reads the identities.
    static let identity: [Setting] = [
        identity("tid", "\"KI\"", "Tracker id. Without it: the last two characters of the topic, upper case.") {
            .string($0.trackerID)
        },
        identity("deviceId", "\"kitchen\"", "%d in the topic. Without it: the name of this computer.") {
            .string($0.deviceID)
        },
        identity(
            "name", "\"Anna\"", "What Home Assistant calls it: sensor.anna_kitchen_rssi. Without it: user and device."
        ) { .text($0.name) },
        identity(
            "pubTopicBase", "\"owntracks/%u/%d\"", isDefault: true,
            "%u is the user (or \"user\"), %d the device. Commands are read from …/cmd."
        ) { .string($0.topics.base) },
        identity(
            "encryptionKey", "\"…\"",
            "Encrypts what is sent as OwnTracks does; at most 32 bytes. With it, plain commands",
            "are refused. Better in a file that only the service can read: encryptionKeyFile."
        ) {
            // "" and not null, which would take the key of the top level.
            .string($0.encryptionKey?.description ?? "")
        },
        identity("encryptionKeyFile", "\"/etc/ibeacon-gateway/key\"") { .text($0.encryptionKeyFile) },
        identity(
            "waypoints", "[]", isDefault: true, "Regions, merged by rid at every start and reload:",
            "{_type: \"waypoint\", rid: \"keys\", desc: \"Keys:UUID:1:2\", tst: 1700000000}"
        ) {
            .array(
                $0.waypoints.changes.compactMap { change in
                    if case .set(let region, _) = change { region.waypoint() } else { nil }
                })
        },
        setting(
            "trackers", "[]", "Further identities on the same radio, one for each keyfob or person. Each has tid,",
            "username, deviceId, name, pubTopicBase, away, encryptionKey and waypoints of its own, and",
            "takes what it leaves out, but for the name, from here (write waypoints: [] for none)."
        ) { .array($0.trackers.dropFirst().map { .object($0.shown) }) },
        example(
            "card", "{name: \"Kitchen\"}", "A name and a face (base64 of a picture), published on …/info.",
            read: { $1.card = $0.card() },
            shown: { $0.card.map { ["name": .text($0.name), "face": .text($0.face)] } ?? .null }),
    ]

    /// Members that make up an identity. What a tracker leaves out it takes from the top level, but for `name`.
    static let identityNames = all.filter { $0.shownOfTracker != nil }.map(\.name)
}

extension TrackerConfiguration {
    /// The identity as an element of `trackers`.
    fileprivate var shown: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        for setting in Setting.all {
            if let value = setting.shownOfTracker?(self), value != .null { members[setting.name] = value }
        }
        return members
    }
}

extension MemberReader {
    fileprivate mutating func card() -> Card? {
        guard var inner = inner("card", "{name: 'Kitchen', face: 'base64 of a picture'}") else { return nil }
        let card = Card(name: inner.text("name"), face: inner.text("face"))
        inner.refuseUnknown(known: ["name", "face"])
        add(inner.problems)
        return card
    }
}
