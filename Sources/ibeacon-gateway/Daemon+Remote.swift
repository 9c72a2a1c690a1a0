internal import Beacon
internal import Gateway
internal import OwnTracks
internal import Runtime
internal import Storage

/// Settings from afar: checked whole, tried, and kept only if the broker can still be reached.
struct Trial {
    let before: Configuration
    let changes: JSONValue
    let timer: LoopTimer
}

extension Daemon {
    static let remoteKey = "remote configuration"
    /// How long the broker may take with new settings before the old ones come back.
    static let trialTime: Duration = .seconds(60)

    /// Tries settings that came from afar.
    func reconfigure(_ changes: JSONValue) {
        guard trial == nil else { return log.warning("setConfiguration refused: another one is being tried") }
        let merged = (remoteChanges ?? ["_type": "configuration"]).merging(changes)
        var candidate = settings
        guard candidate.apply(merged, log) else { return }
        let before = settings.configuration
        do throws(SystemError) {
            let timer = try loop.timer { [unowned self] _ in rollBack() }
            try timer.arm(after: Self.trialTime)
            trial = Trial(before: before, changes: merged, timer: timer)
        } catch {
            return log.error("setConfiguration refused: \(error)")
        }
        put(candidate.configuration)
        log.notice("setConfiguration: trying new settings")
        if isBrokerConnected || candidate.configuration.broker.isOffline { keep() }
    }

    /// The broker took us with the new settings: they stay.
    func keep() {
        guard let trial else { return }
        self.trial = nil
        trial.timer.disarm()
        remoteChanges = trial.changes
        store?.submit(.commit(token: nextCommit, [.value(key: Self.remoteKey, trial.changes.bytes)]))
        nextCommit += 1
        log.notice("setConfiguration: the new settings are kept")
    }

    private func rollBack() {
        guard let trial else { return }
        self.trial = nil
        log.error("setConfiguration: no broker within \(decimal(Self.trialTime)) s; back to the old settings")
        put(trial.before)
    }

    /// At the start: what was kept, over what the file says today.
    func restoreRemoteChanges(_ bytes: [UInt8]?) {
        guard let bytes, let changes = try? JSONValue(parsing: bytes), settings.apply(changes, log) else { return }
        remoteChanges = changes
        gateway = Gateway(configuration: settings.configuration, wallClock: gateway.wallClock)
        ciphers.update(settings.configuration)
    }
}

extension Settings {
    /// Puts settings from afar over those of the file.
    ///
    /// - Returns: false, with the reasons in the log, if the whole would not be valid.
    @discardableResult
    mutating func apply(_ changes: JSONValue, _ log: Log) -> Bool {
        do throws(ConfigurationError) {
            let remote = try RemoteSettings(applying: changes, to: json, hostName: Settings.hostName)
            var configuration = remote.configuration
            configuration.takeSecrets(from: self.configuration)
            self.configuration = configuration
            return true
        } catch {
            for problem in error.problems { log.warning("setConfiguration refused: \(problem)") }
            return false
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
}
