import Base
import JSON
import OwnTracks
import Regions

extension Setting {
    /// `TrackerReader` reads the identities.
    static let identity: [Setting] = [
        identity(
            "tid", .gateway(.live), "\"KI\"",
            "Tracker id. Without it: the last two characters of the topic, upper case."
        ) { tracker, _ in .string(tracker.trackerID) }
        .own { $0.trackers[0].hasDerivedID ? .null : .string($0.trackers[0].trackerID) },
        identity(
            "deviceId", .both(.reconnect), "\"kitchen\"",
            "%d in the topic. Without it: the name of this computer."
        ) { tracker, _ in .string(tracker.deviceID) },
        identity(
            "name", .gateway(.live), "\"Anna\"",
            """
            What Home Assistant calls the tracker, 1 to \(TrackerReader.longestName) characters with a letter or
            digit: `"Anna"` gives `sensor.anna_kitchen_rssi`. Without it: user and device.
            """
        ) { tracker, _ in .text(tracker.name) },
        identity(
            "pubTopicBase", .gateway(.reconnect), "\"owntracks/%u/%d\"", isDefault: true,
            """
            %u is the user (or "user"), %d the device. Commands are read from this topic with /cmd after it.
            """
        ) { tracker, _ in .string(tracker.topics.base) }
        .own { $0.trackers[0].hasDerivedTopics ? .null : .string($0.trackers[0].topics.base) },
        identity(
            "encryptionKey", .gateway(.live), "\"…\"",
            """
            Encrypts messages as OwnTracks does; at most 32 bytes. With it, plain commands are refused. Better in a
            file that only the service can read: `encryptionKeyFile`.
            """
        ) { tracker, _ in
            // "" and not null, which would take the key of the top level.
            .string(tracker.encryptionKey.inline?.description ?? "")
        }
        .secrets { [$0.trackers[0].encryptionKey.inline] },
        identity(
            "encryptionKeyFile", .gateway(.live), "\"/etc/ibeacon-gateway/key\"",
            """
            A file whose first line is the key. Without it and `encryptionKey`: the systemd credential
            `ibeacon-gateway.encryptionKey`.
            """
        ) { tracker, _ in
            .text(tracker.encryptionKey.path)
        }
        .secrets { [$0.trackers[0].encryptionKey.inFile] },
        identity(
            "waypoints", .gateway(.live), "[]", isDefault: true,
            """
            Regions, merged by rid at every start and reload, such as `{_type: "waypoint", rid: "keys", desc:
            "Keys:UUID:1:2", tst: 1700000000}`.
            """
        ) { tracker, base in .waypoints(tracker.waypoints.changes, base: base) },
        setting(
            "trackers", .gateway(.live), "[]",
            """
            Further identities on the same radio, one for each keyfob or person. Each has \(list(identityNames)) of
            its own, and takes what it leaves out, but for `name`, from the top level (write `waypoints: []` for
            none). Over HTTP (`mode` 3) a change needs a new connection.
            """
        ) { configuration in
            .array(configuration.trackers.dropFirst().map { .object($0.shown(base: configuration.numberBase)) })
        }
        .own { configuration in
            .array(configuration.trackers.dropFirst().map { .object(configuration.ownMembers(of: $0)) })
        }
        .secrets { configuration in
            configuration.trackers.dropFirst().map { tracker in
                tracker.encryptionKey == configuration.trackers[0].encryptionKey ? nil : tracker.encryptionKey.secret
            }
        },
        example(
            "card", .gateway(.live), "{name: \"Kitchen\"}",
            "A name and a face (base64 of a picture), published on /info.",
            read: { $1.card = $0.card() },
            shown: { $0.card.map { ["name": .text($0.name), "face": .text($0.face)] } ?? .null }),
    ]

    /// Members that make up an identity. Those that a tracker omits come from the top level, except `name`.
    static let identityNames = all.filter { $0.shownOfTracker != nil }.map(\.name)
}

extension TrackerConfiguration {
    /// The identity as an element of `trackers`.
    fileprivate func shown(base: NumberBase) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        for setting in Setting.all {
            if let value = setting.shownOfTracker?(self, base), value != .null { members[setting.name] = value }
        }
        return members
    }

    fileprivate var hasDerivedID: Bool { trackerID.hasSameBytes(as: topics.trackerID) }
}

extension Configuration {
    /// The members of a tracker that do not come from the top level or from other members.
    fileprivate func ownMembers(of tracker: TrackerConfiguration) -> [String: JSONValue] {
        let top = trackers[0].shown(base: numberBase)
        var members = tracker.shown(base: numberBase).filter { name, value in top[name]?.bytes != value.bytes }
        if tracker.hasDerivedID { members["tid"] = nil }
        if tracker.hasDerivedTopics { members["pubTopicBase"] = nil }
        return members
    }
}

extension JSONValue {
    /// A list of waypoints. Removals are not part of it.
    static func waypoints(_ changes: [RegionChange], base: NumberBase) -> JSONValue {
        .array(
            changes.compactMap { change in
                if case .set(let region, _) = change { region.waypoint(base: base) } else { nil }
            })
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
