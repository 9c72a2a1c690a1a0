import Base
import Configuration
import JSON
import OwnTracks

/// Requests of the status page and Home Assistant, and the outcome of remote settings.
extension Gateway {
    /// Under this key the service stores the settings that came by `setConfiguration`.
    package static let remoteSettingsKey = "remote configuration"

    mutating func carryOut(_ request: Request, at now: MonotonicInstant) -> [Effect] {
        switch request {
        case .changeRegions(let tracker, let changes):
            return trackers.indices.contains(tracker) ? merge(changes, of: tracker, at: now).effects : []
        case .reportLocation(let tracker, let pointOfInterest):
            guard trackers.indices.contains(tracker) else { return [] }
            guard isPlaceKnown(of: tracker) else {
                return [.log(LogEntry(.warning, "place", "no location is published: \(Self.placeIsUnknown)"))]
            }
            return location(of: tracker, trigger: .manual, pointOfInterest: pointOfInterest, at: now)
        case .setMonitoring(let tracker, let mode):
            guard trackers.indices.contains(tracker) else { return [] }
            var effects: [Effect] = []
            switchMonitoring(of: tracker, to: mode.rawValue, &effects, at: now)
            return effects
        }
    }

    /// Counts a `setConfiguration` by its outcome, and stores settings that are kept with the regions that came with
    /// them. Stores which settings are still kept beside a file that was read.
    mutating func finish(_ outcome: SettingsOutcome, at now: MonotonicInstant) -> [Effect] {
        switch outcome {
        case .refused(let reason):
            // The service has logged the reason.
            let refusal = commands.refuse(.configuration, "setConfiguration: \(reason)")
            refusals.add(refusal.text, on: trackers[0].topics.command, at: now)
            return []
        case .kept(let settings, let waypoints, let topic):
            commands.countDone()
            remoteSettings = settings
            var effects: [Effect] = [.value(key: Self.remoteSettingsKey, settings.bytes)]
            if let topic, let tracker = trackers.firstIndex(where: { $0.topics.base.hasSameBytes(as: topic) }) {
                effects += waypoints.flatMap { setWaypoints($0, of: tracker, at: now).effects }
            }
            return effects
        case .remaining(let settings):
            remoteSettings = settings
            return [
                settings.map { .value(key: Self.remoteSettingsKey, $0.bytes) } ?? .forget(key: Self.remoteSettingsKey)
            ]
        }
    }
}
