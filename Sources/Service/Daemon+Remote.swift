import Base
import Beacon
package import Configuration
import Gateway
package import JSON
import OwnTracks
package import Runtime
import Storage
import System

/// Settings that somebody sent, and what came with them.
struct SettingsRequest {
    let changes: JSONValue
    /// Regions that stood beside the settings.
    let waypoints: WaypointsReading?
    /// The tracker that was asked.
    let tracker: Int
}

/// Settings from afar: checked whole, tried, and kept only if the broker can still be reached.
struct Trial {
    let before: Configuration
    /// All that differs from the file, what was kept earlier included.
    let changes: JSONValue
    /// Regions that came with the settings: merged when those are kept.
    let waypoints: [WaypointsReading]
    let tracker: Int
    let timer: LoopTimer
}

extension Daemon {
    /// Tries settings that came from afar.
    func reconfigure(_ request: SettingsRequest) {
        guard trial == nil else {
            log.warning("setConfiguration refused: another one is being tried")
            return refuseSettings()
        }
        let merged = (gateway.remoteSettings ?? ["_type": "configuration"]).merging(request.changes)
        var candidate = settings
        guard let remote = candidate.apply(merged, log) else { return refuseSettings() }
        let before = settings.configuration
        do throws(SystemError) {
            let timer = try loop.timer { [unowned self] _ in rollBack() }
            try timer.arm(after: before.remoteTrial)
            // Regions are merged once, and not again at every start.
            trial = Trial(
                before: before, changes: merged.without("waypoints"),
                waypoints: [remote.waypoints, request.waypoints].compactMap { $0 }, tracker: request.tracker,
                timer: timer)
        } catch {
            log.error("setConfiguration refused: \(error)")
            return refuseSettings()
        }
        log.notice("setConfiguration: trying new settings")
        put(candidate.configuration)
        if isBrokerConnected || candidate.configuration.broker.isOffline { keep() }
    }

    private func refuseSettings() { take(.settings(.refused), at: Clocks.now()) }

    /// The broker accepted the connection with the new settings: they stay, with the regions that came with them.
    func keep() {
        guard let trial else { return }
        self.trial = nil
        trial.timer.disarm()
        let outcome = SettingsOutcome.kept(trial.changes, waypoints: trial.waypoints, tracker: trial.tracker)
        take(.settings(outcome), at: Clocks.now())
        log.notice("setConfiguration: the new settings are kept")
    }

    private func rollBack() {
        guard let trial else { return }
        self.trial = nil
        let time = decimal(trial.before.remoteTrial)
        log.error("setConfiguration: no broker within \(time) s; back to the old settings")
        put(trial.before)
        refuseSettings()
    }

    /// At the start: puts settings that were kept over those of the file as it is today.
    ///
    /// - Returns: The settings that were kept; nil if there are none, or if they are not valid with the file.
    func restoreRemoteSettings(_ bytes: [UInt8]?) -> JSONValue? {
        guard let bytes, let changes = try? JSONValue(parsing: bytes), settings.apply(changes, log) != nil else {
            return nil
        }
        ciphers.update(settings.configuration)
        commandReader.update(settings.configuration)
        return changes
    }
}

extension Settings {
    /// Puts settings from afar over those of the file.
    ///
    /// - Returns: nil, with the reasons in the log, if the whole would not be valid.
    package mutating func apply(_ changes: JSONValue, _ log: Log) -> RemoteSettings? {
        do throws(ConfigurationError) {
            let remote = try RemoteSettings(applying: changes, to: json, hostName: Settings.hostName)
            var configuration = remote.configuration
            configuration.takeSecrets(from: self.configuration)
            self.configuration = configuration
            return remote
        } catch {
            for problem in error.problems { log.warning("setConfiguration refused: \(problem)") }
            return nil
        }
    }
}

extension Configuration {
    /// Secrets that stand in files of their own were read when the service started.
    fileprivate mutating func takeSecrets(from other: Configuration) {
        if broker.passwordFile != nil { broker.password = other.broker.password }
        for position in trackers.indices where trackers[position].encryptionKeyFile != nil {
            guard other.trackers.indices.contains(position) else { continue }
            trackers[position].encryptionKey = other.trackers[position].encryptionKey
        }
    }
}

extension JSONValue {
    /// The members of both objects; of those in both, the other's.
    fileprivate func merging(_ other: JSONValue) -> JSONValue {
        .object((object ?? [:]).merging(other.object ?? [:]) { _, new in new })
    }

    fileprivate func without(_ member: String) -> JSONValue {
        .object((object ?? [:]).filter { $0.key != member })
    }
}
