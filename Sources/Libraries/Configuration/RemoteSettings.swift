import Base
package import JSON
package import OwnTracks
import Regions

/// The settings that `setConfiguration` requests, checked as a whole.
package struct RemoteSettings: Hashable, Sendable {
    /// The configuration with the changes, to be kept.
    package let json: JSONValue
    /// The same configuration, read.
    package let configuration: Configuration
    /// Regions that came with the settings, to be merged once. They are not part of `json`: if they were merged at
    /// every start, they would bring back what has been removed since.
    package let waypoints: WaypointsReading?

    /// Puts the members of `changes` over those of `current`. null removes a member, so that its default applies again.
    /// Other members stay. The files that the result names are read again: a tracker that comes with the changes has the
    /// key of the file that it inherits.
    ///
    /// - Throws: All errors of the result, including members that may not be changed. A local member with an unchanged
    ///   value is not an error.
    package init(
        applying changes: JSONValue, to current: JSONValue, hostName: String, files: ConfigurationFiles = .unread
    ) throws(ConfigurationError) {
        guard let changed = changes.object.map(Setting.currentNames), changes["_type"] == "configuration" else {
            let reason = "the configuration is not an object with _type 'configuration'"
            throw ConfigurationError(problems: [ConfigurationProblem(member: "", reason: reason)])
        }
        var members = Setting.currentNames(current.object ?? [:])
        let before = members
        var problems: [ConfigurationProblem] = []
        for (name, value) in changed.sorted(by: { $0.key < $1.key }) where name != "waypoints" {
            if name.hasPrefix("_"), name != "_type" { continue }
            let changedLocally = Setting.localNames.filter { path in
                if path == name { return !Self.isSame(value, before[name]) }
                // Inside an object, null is no absence: `rooms: {http: null}` takes the page away.
                return Self.member(path, of: name, value) != Self.member(path, of: name, before[name])
            }
            problems += changedLocally.sorted().map {
                ConfigurationProblem(member: $0, reason: "it cannot be set remotely; change the file")
            }
            if Setting.localNames.contains(name) || !changedLocally.isEmpty { continue }
            if name == "trackers", value != before[name], Self.holdsKeys(value) || Self.holdsKeys(before[name]) {
                let reason = "trackers with keys cannot be set remotely; change the file"
                problems.append(ConfigurationProblem(member: name, reason: reason))
                continue
            }
            if name == "rooms", value != before[name], Self.holdsKey(value) || Self.holdsKey(before[name] ?? .null) {
                let reason = "rooms with a key cannot be set remotely; change the file"
                problems.append(ConfigurationProblem(member: name, reason: reason))
                continue
            }
            members[name] = value == .null ? nil : value
        }
        if Self.isSealed(before), !Self.isSealed(members) {
            let reason = "it turns off TLS, which cannot be done remotely; change the file"
            problems.append(ConfigurationProblem(member: changed["url"] == nil ? "mode" : "url", reason: reason))
        }
        Self.withholdCredentials(&members, before: before, changed: changed)
        let json = JSONValue.object(members)
        configuration = try mapError({ ConfigurationError(problems: problems + $0.problems) }) {
            () throws(ConfigurationError) in
            try Configuration(json, hostName: hostName, files: files)
        }
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        self.json = json
        waypoints = try Self.waypoints(changed["waypoints"], base: configuration.numberBase)
    }

    /// Puts changes over earlier ones that are in force. Earlier credentials are dropped if the new changes lead to
    /// another broker.
    ///
    /// - Parameter file: The members of the configuration file.
    /// - Returns: The settings to keep, with a note of what the file says.
    package static func merge(_ changes: JSONValue, over earlier: JSONValue, file: JSONValue) -> JSONValue {
        let changed = changes.object ?? [:]
        var members = earlier.object ?? [:]
        let inForce = (file.object ?? [:]).merging(members) { $1 }
        if place(in: inForce) != place(in: inForce.merging(changed) { $1 }) {
            members["password"] = nil
            // The user name stays: it is part of the topics too, which another broker does not change.
            members["auth"] = nil
            members[passwordPlace] = nil
        }
        // What is noted with the settings does not come from afar.
        members.merge(changed.filter { !$0.key.hasPrefix("_") }) { $1 }
        if changed["password"] != nil { members[passwordPlace] = place(in: inForce.merging(changed) { $1 }) }
        return noting(file, in: members)
    }

    /// The broker of a password that came in changes, kept with it. The file may name another broker later.
    static let passwordPlace = "_passwordFor"

    /// A password belongs to the broker that it was configured for. Another host, port or address may be anyone's, and
    /// gets only what came with it.
    private static func withholdCredentials(
        _ members: inout [String: JSONValue], before: [String: JSONValue], changed: [String: JSONValue]
    ) {
        let belongsHere = changed[passwordPlace].map { $0 == place(in: members) } ?? true
        if !belongsHere { members["password"] = before["password"] }
        guard place(in: members) != place(in: before) else { return }
        members["passwordFile"] = nil
        if belongsHere, let password = changed["password"], password != .null, password != "" { return }
        members["password"] = nil
        if changed["username"]?.string == nil { members["auth"] = false }
    }

    /// Where these settings connect to, including defaults. Invalid members are refused elsewhere.
    private static func place(in members: [String: JSONValue]) -> JSONValue {
        let isTLS = members["tls"]?.asBool == true
        let host: JSONValue
        if case .array(let hosts)? = members["host"] {
            host = .array(hosts.map { .string($0.string?.lowercased() ?? "") })
        } else {
            host = .string(members["host"]?.string.flatMap { $0.isEmpty ? nil : $0.lowercased() } ?? "localhost")
        }
        let port = members["port"]?.asInteger ?? (isTLS ? 8883 : 1883)
        let url = members["mode"]?.asInteger == 3 ? members["url"]?.string ?? "" : ""
        return [host, .integer(port), .string(url)]
    }

    /// Whether the connection is encrypted.
    private static func isSealed(_ members: [String: JSONValue]) -> Bool {
        guard members["mode"]?.asInteger == 3 else { return members["tls"]?.asBool == true }
        return members["url"]?.string.flatMap { Endpoint($0) }?.isTLS == true
    }

    private static func waypoints(
        _ value: JSONValue?, base: NumberBase
    ) throws(ConfigurationError) -> WaypointsReading? {
        guard let value, value != .null else { return nil }
        return try mapError({
            ConfigurationError(
                problems: [ConfigurationProblem(member: "waypoints", reason: $0.description)])
        }) { () throws(WaypointsError) in
            try WaypointsReading(value, base: base)
        }
    }

    /// Absent, null and an empty string all mean "not set".
    static func isSame(_ a: JSONValue, _ b: JSONValue?) -> Bool {
        let isUnset = [JSONValue.null, ""].contains(a)
        guard let b, b != .null, b != "" else { return isUnset }
        return a == b || (a.asBool != nil && a.asBool == b.asBool)
    }

    /// The member with this path in the value of the setting `name`; nil if it is not there, or belongs to another setting.
    private static func member(_ path: String, of name: String, _ value: JSONValue?) -> JSONValue? {
        path.hasPrefix("\(name).") ? value?[String(path.dropFirst(name.utf8.count + 1))] : nil
    }

    private static func holdsKeys(_ trackers: JSONValue?) -> Bool {
        (trackers?.array ?? []).contains(where: holdsKey)
    }

    private static func holdsKey(_ json: JSONValue) -> Bool {
        json["encryptionKey"] != nil || json["encryptionKeyFile"] != nil || holdsPhoneKey(json["waypoints"] ?? .null)
    }

    /// Whether a description of a region has the key of a phone.
    private static func holdsPhoneKey(_ json: JSONValue) -> Bool {
        switch json {
        case .string(let text): RegionDescription.hasKey(text)
        case .array(let elements): elements.contains(where: holdsPhoneKey)
        case .object(let members): members.values.contains(where: holdsPhoneKey)
        default: false
        }
    }
}
