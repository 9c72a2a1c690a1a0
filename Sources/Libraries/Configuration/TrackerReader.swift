import Base
import JSON
import OwnTracks
import Regions

/// Reads one identity, at the top level or in `trackers`.
struct TrackerReader {
    /// The most characters of a name; Home Assistant makes entity ids of it.
    static let longestName = 80

    var reader: MemberReader
    private let hostName: String
    private let base: NumberBase
    /// The regions of the top level, for a tracker without its own.
    private let inherited: WaypointsReading

    init(
        _ reader: MemberReader, hostName: String, base: NumberBase, inherited: WaypointsReading = WaypointsReading()
    ) {
        self.inherited = inherited
        self.reader = reader
        self.hostName = hostName
        self.base = base
    }

    /// A reader for an element of `trackers`. Members that it omits come from the top level.
    static func reader(
        for own: [String: JSONValue], path: String, below top: MemberReader
    ) -> MemberReader {
        let own = Setting.currentNames(own)
        var checked = MemberReader(own, files: top.files, path: path)
        checked.refuseUnknown(known: Setting.identityNames, topLevel: Set(Setting.names))
        var merged = own.filter { $0.value != .null }
        var inherited: Set<String> = []
        // A tracker's own key, even an empty one, replaces both ways to give one at the top level.
        let hasOwnKey = merged["encryptionKey"] != nil || merged["encryptionKeyFile"] != nil
        for name in Setting.identityNames where merged[name] == nil && !(hasOwnKey && name.hasPrefix("encryptionKey")) {
            // Two devices with the same name could not be distinguished.
            guard name != "name" else { continue }
            guard let value = top.members[name] else { continue }
            merged[name] = value
            inherited.insert(name)
        }
        var reader = MemberReader(merged, files: top.files, path: path, inherited: inherited)
        reader.add(checked.problems)
        return reader
    }

    mutating func read(_ warnings: inout [ConfigurationProblem]) -> TrackerConfiguration {
        let username = reader.text("username")
        let deviceID = reader.text("deviceId") ?? hostName
        let topics = topics(username: username, deviceID: deviceID)
        let trackerID = reader.text("tid") ?? topics.trackerID
        if trackerID.count > 2, !reader.inherited.contains("tid") {
            warn("tid", "phones show two characters; '\(shortened(trackerID))' has more", &warnings)
        }
        if topics.levels < 3, !reader.inherited.contains("pubTopicBase") {
            warn(
                "pubTopicBase", "'\(shortened(topics.base))' has fewer than three levels; the Recorder ignores it",
                &warnings)
        }
        return TrackerConfiguration(
            trackerID: trackerID, username: username, deviceID: deviceID, name: name(), topics: topics,
            away: away(&warnings),
            encryptionKey: reader.secret("encryptionKey", mostBytes: Configuration.longestEncryptionKey),
            waypoints: waypoints(&warnings))
    }

    private mutating func name() -> String? {
        reader.read(
            "name", "a text of 1 to \(Self.longestName) characters, with a letter or digit, without control characters"
        ) {
            guard let name = $0.string, (1...Self.longestName).contains(name.unicodeScalars.count) else { return nil }
            let properties = name.unicodeScalars.lazy.map(\.properties)
            // Home Assistant makes entity ids of letters and digits.
            guard properties.contains(where: { $0.isAlphabetic || $0.numericType != nil }),
                !properties.contains(where: { [.control, .format].contains($0.generalCategory) })
            else { return nil }
            return name
        }
    }

    private mutating func topics(username: String?, deviceID: String) -> Topics {
        let template = reader.text("pubTopicBase") ?? "owntracks/%u/%d"
        // The apps take "user" for a user without a name.
        do throws(TopicError) {
            return try Topics(template: template, user: username ?? "user", device: deviceID)
        } catch {
            let topic = "\(template) with user '\(username ?? "user")' and device '\(deviceID)'"
            reader.complain("pubTopicBase", "\(shortened(topic)): \(error)")
            return .placeholder
        }
    }

    private mutating func away(_ warnings: inout [ConfigurationProblem]) -> Position? {
        guard var inner = reader.inner("away", "{lat: 0.0, lon: 0.0, acc: 10}") else { return nil }
        let latitude = inner.number("lat", -90...90, ", in degrees")
        let longitude = inner.number("lon", -180...180, ", in degrees")
        for name in ["lat", "lon"] where inner.value(name) == nil {
            inner.complain(name, "it is missing")
        }
        let accuracy = ConfigurationReader.accuracy(&inner, &warnings)
        inner.refuseUnknown(known: ["lat", "lon", "acc"])
        if !reader.inherited.contains("away") { reader.add(inner.problems) }
        return Position(
            coordinates: Coordinates(latitude: latitude ?? 0, longitude: longitude ?? 0), accuracy: accuracy ?? 10)
    }

    /// A region that cannot be used does not affect the others, so it is a warning and not an error.
    private mutating func waypoints(_ warnings: inout [ConfigurationProblem]) -> WaypointsReading {
        guard let value = reader.value("waypoints") else { return WaypointsReading() }
        guard !reader.inherited.contains("waypoints") else { return inherited }
        do throws(WaypointsError) {
            let reading = try WaypointsReading(value, base: base, acceptsKeys: true)
            for problem in reading.problems + reading.remarks { warn("waypoints", problem.description, &warnings) }
            return reading
        } catch {
            reader.complain("waypoints", error.description)
            return WaypointsReading()
        }
    }

    private func warn(_ name: String, _ reason: String, _ warnings: inout [ConfigurationProblem]) {
        warnings.append(ConfigurationProblem(member: reader.path + name, reason: reason))
    }
}
