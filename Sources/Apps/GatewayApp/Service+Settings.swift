import Base
package import Configuration
import Gateway
package import JSON
import OwnTracks
package import Runtime
package import Shell
import Storage
import System

/// The settings of a `setConfiguration`, and the regions that came with them.
struct SettingsRequest {
    let changes: JSONValue
    /// The regions in the same command.
    let waypoints: WaypointsReading?
    /// The base topic of the tracker that got the command.
    let topic: String
}

/// A valid configuration on probation: it is in force, and it is kept only if the broker accepts a connection with it.
struct PendingConfiguration {
    /// The previous settings, which return if the broker does not accept a connection.
    let before: Configuration
    /// The monitoring modes, by base topic, that return with them; none if the mode is not on trial.
    let modes: [ExactString: MonitoringMode]
    /// All members that differ from the file, earlier kept ones included.
    let changes: JSONValue
    /// Regions that came with the settings; they are merged when the settings are kept.
    let waypoints: [WaypointsReading]
    /// The base topic that the tracker that got the command has with these settings; nil: they do not contain it.
    let topic: String?
    /// Ends the trial.
    let timer: any ServiceTimer
}

extension Service {
    package func adopt(_ new: Settings) -> Reload {
        rollBack(because: "the configuration file was read again")
        var new = new
        let kept = app.core.remoteSettings
        let remaining = new.restore(kept, log)
        app.settings = new
        if remaining != kept { app.handle(.settings(.remaining(remaining)), at: host.now) }
        return Reload(from: app.core.configuration, to: new.configuration, in: .gateway)
    }

    private func putInForce(_ configuration: Configuration, modes: [ExactString: MonitoringMode] = [:]) {
        putInForce(Reload(from: app.core.configuration, to: configuration, in: .gateway), modes: modes)
    }

    package func putInForce(_ reload: Reload) { putInForce(reload, modes: [:]) }

    /// Applies a configuration, with a new connection if its settings for the broker differ.
    ///
    /// - Parameter modes: As of `Input.configuration`.
    private func putInForce(_ reload: Reload, modes: [ExactString: MonitoringMode]) {
        let configuration = reload.configuration
        let formerDevice = app.core.configuration.trackers[0].deviceID
        app.settings.configuration = configuration
        keys.update(configuration)
        // The core starts with these settings when the stored state is read.
        guard app.core.isStarted else { return }
        home.noteFormerDevice(formerDevice)
        // First, because the transitions of the change come under the new positions of the trackers.
        status.replaceTrackers(by: configuration.trackers.map(\.topics.base))
        app.handle(.configuration(configuration, modes: modes), at: host.now)
        radio.prepare()
        phones.refresh()
        proxies.refresh()
        guard reload.needsConnection else {
            app.links.broker.subscribe(to: filters)
            feed.refresh()
            return home.refresh()
        }
        side.close(waits: false)
        app.disconnect()
        app.connect()
    }

    // MARK: - Remote settings

    /// Tries the settings of a `setConfiguration`.
    func reconfigure(_ request: SettingsRequest) {
        guard pending == nil else {
            log.warning("setConfiguration refused: another one is being tried")
            return refuseSettings(because: "another one is being tried")
        }
        let merged = RemoteSettings.merge(
            request.changes, over: app.core.remoteSettings ?? ["_type": "configuration"], file: app.settings.json)
        var candidate = app.settings
        let remote: RemoteSettings
        do throws(ConfigurationError) { remote = try candidate.apply(merged) } catch {
            for problem in error.problems { log.warning("setConfiguration refused: \(problem)") }
            return refuseSettings(because: error.problems.map { "\($0)" }.joined(separator: "; "))
        }
        let before = configuration
        let modes = candidate.configuration.monitoring == before.monitoring ? [] : Array(app.core.trackers)
        let timer = host.timer { [unowned self] _ in
            rollBack(because: "no \(before.broker.receiver) within \(decimal(before.remoteTrial)) s")
        }
        timer.arm(after: before.remoteTrial)
        // Regions are merged once, and not again at every start.
        pending = PendingConfiguration(
            before: before,
            modes: Dictionary(modes.map { (ExactString($0.topics.base), $0.monitoring) }) { $1 },
            changes: merged.without("waypoints"),
            waypoints: [remote.waypoints, request.waypoints].compactMap { $0 },
            topic: topic(of: request, in: candidate.configuration), timer: timer)
        log.notice("setConfiguration: trying new settings")
        putInForce(candidate.configuration)
        if app.links.broker.isConnected || candidate.configuration.broker.isOffline { keepPendingConfiguration() }
    }

    /// The base topic that the tracker of a request has with other settings: they may name it otherwise, and elsewhere.
    private func topic(of request: SettingsRequest, in new: Configuration) -> String? {
        let before = app.core.trackers.map(\.topics.base)
        let position = before.firstIndex { $0.hasSameBytes(as: request.topic) }
        return zip(new.trackers, app.core.origins(of: new.trackers)).first { position != nil && $1 == position }?
            .0.topics.base
    }

    private func refuseSettings(because reason: String) {
        app.handle(.settings(.refused(reason: reason)), at: host.now)
    }

    /// The broker accepted the connection with the new settings: they stay, with the regions that came with them.
    func keepPendingConfiguration() {
        guard let kept = pending else { return }
        pending = nil
        kept.timer.disarm()
        awaitsKeeping = true
        app.handle(.settings(.kept(kept.changes, waypoints: kept.waypoints, topic: kept.topic)), at: host.now)
    }

    private func rollBack(because reason: String) {
        guard let refused = pending else { return }
        pending = nil
        refused.timer.disarm()
        log.error("setConfiguration: \(reason); back to the old settings")
        putInForce(refused.before, modes: refused.modes)
        refuseSettings(because: reason)
    }
}

extension Settings {
    /// Puts the kept settings of a `setConfiguration` over those of the file, which was just read, as far as the file allows
    /// it. The log says which settings come from them, and which are forgotten.
    ///
    /// - Parameter kept: nil: there are none.
    /// - Returns: The settings that stay kept; nil: none. What does not apply now is forgotten, so that it does not come back
    ///   with a later file.
    package mutating func restore(_ kept: JSONValue?, _ log: Log) -> JSONValue? {
        guard let kept else { return nil }
        func forget(_ names: [String], because reason: String, _ priority: LogPriority = .notice) {
            guard !names.isEmpty else { return }
            log.write(priority, "forgot from setConfiguration: \(names.joined(separator: ", ")): \(reason)")
        }
        guard fileConfiguration.allowsRemoteConfiguration else {
            forget(RemoteSettings.names(of: kept, beside: json), because: "'remoteConfiguration' is false")
            return nil
        }
        let (stay, yielded) = RemoteSettings.yielding(kept, to: json)
        forget(yielded, because: "the file has changed since")
        guard let stay else { return nil }
        let names = RemoteSettings.names(of: stay, beside: json)
        guard apply(stay, log) != nil else {
            forget(names, because: "not valid with the file", .warning)
            return nil
        }
        remoteMembers = names
        if let text = remoteMembersText { log.notice(text) }
        return stay
    }

    /// Merges the settings of a `setConfiguration` over those of the file.
    ///
    /// - Returns: nil, with the reasons in the log, if the result is not valid.
    package mutating func apply(_ changes: JSONValue, _ log: Log) -> RemoteSettings? {
        do throws(ConfigurationError) { return try apply(changes) } catch {
            for problem in error.problems { log.warning("setConfiguration refused: \(problem)") }
            return nil
        }
    }

    /// The same.
    ///
    /// - Throws: if the result is not valid.
    fileprivate mutating func apply(_ changes: JSONValue) throws(ConfigurationError) -> RemoteSettings {
        let remote = try RemoteSettings(
            applying: changes, to: json, hostName: Settings.hostName, files: SecretFile.files(beside: path))
        configuration = remote.configuration
        return remote
    }
}

extension JSONValue {
    fileprivate func without(_ member: String) -> JSONValue {
        .object((object ?? [:]).filter { $0.key != member })
    }
}
