import Base
package import Configuration
import Gateway
package import JSON
import OwnTracks
package import Runtime
package import Shell
import Storage
import System

extension Service {
    package func adopt(_ new: Settings) -> Reload {
        app.handle(.settings(.fileChanges), at: host.now)
        var new = new
        let kept = app.core.remoteSettings
        let remaining = new.restore(kept, log)
        app.settings = new
        if remaining != kept { app.handle(.settings(.remaining(remaining)), at: host.now) }
        return Reload(from: app.core.configuration, to: new.configuration, in: .gateway)
    }

    package func putInForce(_ reload: Reload) { putInForce(reload, modes: nil) }

    /// Applies a configuration, with a new connection if its settings for the broker differ.
    ///
    /// - Parameter modes: As of `Input.configuration`.
    private func putInForce(_ reload: Reload, modes: [ExactString: MonitoringMode]?) {
        let configuration = reload.configuration
        let formerDevice = app.core.configuration.trackers[0].deviceID
        app.settings.configuration = configuration
        keys.update(configuration)
        // The core starts with these settings when the stored state is read.
        guard app.core.isStarted else { return }
        home.noteFormerDevice(formerDevice)
        status.settingsChange()
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

    /// Checks the settings of a `setConfiguration`.
    ///
    /// - Parameters:
    ///   - waypoints: The regions in the same command.
    ///   - topic: The base topic of the tracker that got the command.
    func check(_ changes: JSONValue, _ waypoints: WaypointsReading?, topic: String) {
        let merged = RemoteSettings.merge(
            changes, over: app.core.remoteSettings ?? ["_type": "configuration"], file: app.settings.json)
        var checked = app.settings
        let remote: RemoteSettings
        do throws(ConfigurationError) { remote = try checked.apply(merged) } catch {
            let reasons = error.problems.map(\.description)
            return app.handle(.settings(.invalid(reasons: reasons, topic: topic)), at: host.now)
        }
        let candidate = SettingsCandidate(
            configuration: checked.configuration, changes: merged.without("waypoints"),
            waypoints: [remote.waypoints, waypoints].compactMap { $0 }, topic: topic)
        app.handle(.settings(.valid(candidate)), at: host.now)
    }

    /// Puts the settings of a trial in force, or those from before it.
    ///
    /// - Parameter modes: As of `Input.configuration`.
    func putInForce(_ new: Configuration, modes: [ExactString: MonitoringMode]) {
        putInForce(Reload(from: app.core.configuration, to: new, in: .gateway), modes: modes)
        let isReachable = app.links.broker.isConnected || new.broker.isOffline
        app.handle(.settings(.inForce(isReachable: isReachable)), at: host.now)
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
