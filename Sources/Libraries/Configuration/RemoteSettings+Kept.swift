import Base
package import JSON

/// Settings that a `setConfiguration` left, beside a file that may have changed since. Whoever wrote last wins.
extension RemoteSettings {
    /// Takes those out of kept settings whose value in the file has changed since they came. How to reach the broker is
    /// one value: the port that a person writes is meant for the host in the file.
    ///
    /// - Parameters:
    ///   - kept: The result of `merge`.
    ///   - file: The members of the configuration file.
    /// - Returns: The settings that stay; nil: none. And the names of those that do not, as of `names`.
    package static func yielding(_ kept: JSONValue, to file: JSONValue) -> (stay: JSONValue?, yielded: [String]) {
        var members = kept.object ?? [:]
        // An earlier program noted nothing. Its settings stay, and this file is noted for them.
        let notes = members[fileNotes] ?? .null
        let yielded = members.filter { name, _ in notes[name].map { $0 != note(of: name, in: file) } ?? false }
        for name in yielded.keys { members[name] = nil }
        if members["password"] == nil { members[passwordPlace] = nil }
        let hasSettings = members.keys.contains { !$0.hasPrefix("_") }
        return (hasSettings ? noting(file, in: members) : nil, names(of: .object(yielded), beside: file))
    }

    /// The settings to which kept ones give another value than the file, in the order of the default file.
    package static func names(of kept: JSONValue, beside file: JSONValue) -> [String] {
        Setting.all.map(\.name).filter { name in kept[name].map { !isSame($0, file[name]) } ?? false }
    }

    /// Notes in kept settings what the file says instead of each.
    static func noting(_ file: JSONValue, in kept: [String: JSONValue]) -> JSONValue {
        var members = kept
        // Regions are not kept with the settings.
        let names = kept.keys.filter { !$0.hasPrefix("_") && $0 != "waypoints" }
        members[fileNotes] = .object(Dictionary(uniqueKeysWithValues: names.map { ($0, note(of: $0, in: file)) }))
        return .object(members)
    }

    /// A digest of the file's value for each kept member.
    private static let fileNotes = "_file"

    /// How to reach the broker, and as whom.
    private static let connection = [
        "mode", "url", "host", "port", "tls", "username", "password", "auth", "usePassword",
    ]

    /// Of secrets, too, so it is not the value.
    private static func note(of name: String, in file: JSONValue) -> JSONValue {
        let values = (connection.contains(name) ? connection : [name]).map { file[$0] ?? .null }
        let digest = SHA1.digest(of: JSONValue.array(values).bytes)
        return .string(digest.prefix(2).map { hexadecimal(UInt64($0), digits: 8) }.joined())
    }
}
