import Base
import Configuration
import OwnTracks
import Regions

/// What is stored of trackers, each under a key of its own.
extension TrackerState {
    /// Stores the mode in force.
    ///
    /// - Parameter setting: The setting in force.
    func storedMonitoring(_ setting: MonitoringMode) -> Gateway.Effect {
        .monitoring(topic: topics.base, KeptMonitoring(monitoring, setting: setting))
    }

    /// Stores the applied commands.
    var storedAppliedCommands: Gateway.Effect {
        .value(key: AppliedCommands.storeKey(of: topics.base), appliedCommands.bytes)
    }

    /// Stores what waits to be removed, in the decision that changes it: after a crash it is carried out.
    var storedClear: Gateway.Effect {
        let key = Gateway.pendingClearKey(of: topics.base)
        return pendingClear.map { .value(key: key, $0.bytes) } ?? .forget(key: key)
    }

    /// The effects that store everything.
    func stored(_ setting: MonitoringMode) -> [Gateway.Effect] {
        [.regions(topic: topics.base, regions), storedMonitoring(setting), storedAppliedCommands]
            + (pendingClear == nil ? [] : [storedClear])
    }

    /// Empties what is stored under a topic that a tracker no longer has. Another tracker may get this topic later.
    ///
    /// - Parameter setting: The setting `monitoring` in force.
    static func forgotten(topic: String, setting: MonitoringMode) -> [Gateway.Effect] {
        [
            .regions(topic: topic, RegionSet()),
            .value(key: AppliedCommands.storeKey(of: topic), AppliedCommands().bytes),
            .monitoring(topic: topic, KeptMonitoring(setting, setting: setting)),
            .forget(key: Gateway.pendingClearKey(of: topic)),
        ]
    }
}

extension Trackers {
    /// Stores what has another key or value since the settings changed while the service did not run: all state of a tracker
    /// with another topic, and a monitoring mode that gave way to the setting.
    func storedAnew(since stored: StoredState) -> [Gateway.Effect] {
        let setting = stored.configuration.monitoring
        return enumerated().flatMap { index, tracker -> [Gateway.Effect] in
            let hasMoved =
                stored.topics.indices.contains(index)
                && !stored.topics[index].hasSameBytes(as: tracker.topics.base)
            let kept = stored.monitoring.indices.contains(index) ? stored.monitoring[index] : nil
            var effects: [Gateway.Effect] = []
            if hasMoved {
                effects += [.regions(topic: tracker.topics.base, tracker.regions), tracker.storedAppliedCommands]
                effects += TrackerState.forgotten(topic: stored.topics[index], setting: setting)
            }
            if let kept, hasMoved || kept != KeptMonitoring(tracker.monitoring, setting: setting) {
                effects.append(tracker.storedMonitoring(setting))
            }
            return effects
        }
    }
}
