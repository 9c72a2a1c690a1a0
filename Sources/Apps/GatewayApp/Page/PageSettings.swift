import Base
import Configuration
import JSON
import OwnTracks
import Regions
import Shell
import System

/// The settings that people change on the page: Home Assistant's discovery, the place, `leaveAfter`, and the names of the
/// trackers. They are tried and kept as those of `setConfiguration`, and need `remoteConfiguration`.
struct PageSettings {
    /// Those in force, and the file.
    let settings: Settings
    /// The stored settings of `setConfiguration`; nil: none.
    let kept: JSONValue?

    private static let typed: JSONValue = ["_type": "configuration"]

    /// Why nothing can be changed now; nil: it can.
    var obstacle: String? {
        guard settings.configuration.allowsRemoteConfiguration else {
            return "the page may not change settings: write remoteConfiguration: true into the configuration file"
        }
        guard settings.configuration.obeysCommands else {
            return "the page may not change settings: 'cmd' is false in the configuration file"
        }
        return isOnTrial ? "other settings are being tried; try again in a moment" : nil
    }

    /// Whether settings are in force that are not kept yet, because the broker has not accepted a connection with them.
    var isOnTrial: Bool {
        let stored = kept.map { result(of: $0) } ?? .success(settings.fileConfiguration)
        return (try? stored.get()).map(Self.form) != Self.form(settings.configuration)
    }

    // MARK: What is shown

    /// What the dialog of the page shows.
    ///
    /// - Parameter refused: How often commands were refused, and the last reason, by which the page learns that the
    ///   settings that it sent were put back.
    func json(refused: (count: UInt64, reason: String?)) -> JSONValue {
        [
            "settings": Self.form(settings.configuration), "obstacle": obstacle.map { .string($0) } ?? .null,
            "isOnTrial": .bool(isOnTrial), "refused": .integer(Int64(clamping: refused.count)),
            "reason": refused.reason.map { .string($0) } ?? .null,
        ]
    }

    private static func form(_ configuration: Configuration) -> JSONValue {
        let place = configuration.position.isKnown ? configuration.position.coordinates : nil
        return [
            "discovery": .bool(configuration.homeAssistant.discovery),
            "lat": place.map { .degrees($0.latitude) } ?? .null, "lon": place.map { .degrees($0.longitude) } ?? .null,
            "leaveAfter": configuration.leaveRule.json,
            "names": .array(configuration.trackers.map { $0.name.map { .string($0) } ?? .null }),
            "devices": .array(configuration.trackers.map { .string($0.deviceID) }),
        ]
    }

    // MARK: What is changed

    /// The changes that `setConfiguration` is asked for: what differs from the settings in force.
    ///
    /// - Parameter body: What the page sent: some of the members of the form. null means the default.
    /// - Returns: nil if nothing differs.
    /// - Throws: `Failure` with the reason, for the user.
    func changes(by body: JSONValue) throws(Failure) -> JSONValue? {
        if let obstacle { throw Failure(.badData, obstacle) }
        let shown = Self.form(settings.configuration)
        var changes: [String: JSONValue] = [:]
        for (member, value) in body.object ?? [:] where value != shown[member] {
            switch member {
            case "discovery":
                let prefix = settings.configuration.homeAssistant.prefix
                changes["homeAssistant"] = ["discovery": value, "prefix": .string(prefix)]
            case "lat", "lon", "leaveAfter": changes[member] = value
            case "names": try rename(value.array ?? [], &changes)
            default: throw Failure(.badData, "'\(member)' cannot be changed here")
            }
        }
        guard !changes.isEmpty else { return nil }
        if changes.keys.contains(where: { ["lat", "lon"].contains($0) }) {
            let place = ["lat", "lon"].map { changes[$0] ?? shown[$0] ?? .null }
            guard place[0] == .null || place[1] != .null, place[1] == .null || place[0] != .null else {
                throw Failure(.badData, "give both latitude and longitude, or none")
            }
        }
        changes["_type"] = "configuration"
        let result = result(of: RemoteSettings.merge(.object(changes), over: kept ?? Self.typed, file: settings.json))
        if case .failure(let error) = result {
            throw Failure(.badData, error.problems.map { "\($0)" }.joined(separator: "; "))
        }
        return .object(changes)
    }

    /// The first tracker has its name at the top level, the others in `trackers`.
    private func rename(_ names: [JSONValue], _ changes: inout [String: JSONValue]) throws(Failure) {
        let trackers = settings.configuration.trackers
        guard names.count == trackers.count else {
            throw Failure(.badData, "the trackers have changed since; open the settings again")
        }
        let old = trackers.map { $0.name.map { JSONValue.string($0) } ?? .null }
        if names[0] != old[0] { changes["name"] = names[0] }
        guard names.dropFirst() != old.dropFirst() else { return }
        var elements = (kept?["trackers"] ?? settings.json["trackers"])?.array ?? []
        guard elements.count == trackers.count - 1 else {
            throw Failure(.badData, "the trackers have changed since; open the settings again")
        }
        for (index, name) in names.dropFirst().enumerated() {
            guard case .object(var members) = elements[index] else { continue }
            members["name"] = name == .null ? nil : name
            elements[index] = .object(members)
        }
        changes["trackers"] = .array(elements)
    }

    /// The file with these settings over it.
    private func result(of remote: JSONValue) -> Result<Configuration, ConfigurationError> {
        Result { () throws(ConfigurationError) in
            try RemoteSettings(
                applying: remote, to: settings.json, hostName: Settings.hostName,
                files: SecretFile.files(beside: settings.path)
            ).configuration
        }
    }
}
