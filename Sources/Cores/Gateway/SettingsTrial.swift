import Base
import Configuration
import JSON
import OwnTracks

/// The trial of the settings of a `setConfiguration`. They are put in force, and stay only if the broker accepts a connection with them.
///
/// The service checks settings (`Gateway.Effect.checkSettings`) and puts them in force (`Gateway.Effect.putInForce`). What becomes of them
/// is decided here, and which settings are kept beside the file. There is one trial at a time.
struct SettingsTrial: Sendable {
    /// Settings on trial.
    struct Pending: Sendable {
        /// All members that differ from the file, earlier kept ones included.
        let changes: JSONValue
        /// Regions that came with the settings. They are merged once, when the settings are kept, and not again at every start.
        let waypoints: [WaypointsReading]
        /// The base topic that the tracker that got the command has with these settings; nil: they do not contain it.
        let topic: String?
        /// The base topic that it had when it got the command.
        fileprivate let commanded: String
        /// The previous settings, which return if the trial fails.
        fileprivate let before: Configuration
        /// The monitoring modes, by base topic, that return with them; none if the mode is not on trial.
        fileprivate let modes: [ExactString: MonitoringMode]
        /// When the trial has failed unless the broker has accepted a connection.
        fileprivate let end: MonotonicInstant
    }

    private var pending: Pending?
    /// The stored settings, which replace those of the file; nil: none.
    private(set) var kept: JSONValue?

    /// - Parameter kept: The stored settings.
    init(kept: JSONValue? = nil) { self.kept = kept }

    var isRunning: Bool { pending != nil }

    /// When the trial has failed; nil if there is none.
    var due: MonotonicInstant? { pending?.end }

    /// Begins and ends the trial, and says which settings are still kept beside a file that was read.
    ///
    /// - Parameters:
    ///   - settings: Those in force.
    ///   - commands: Counts a `setConfiguration` that is refused.
    mutating func handle(
        _ outcome: SettingsOutcome, over settings: Configuration, of tracking: Tracking,
        counting commands: inout Commands, at now: MonotonicInstant
    ) -> [Gateway.Effect] {
        switch outcome {
        case .valid(let candidate): return begin(candidate, over: settings, of: tracking, at: now)
        case .invalid(let reasons, let topic):
            return commands.refuseSettings(because: reasons, of: topic, at: now)
        case .fileChanges:
            return fail(because: "the configuration file was read again", &commands, at: now)
        case .remaining(let settings):
            kept = settings
            return settings == nil ? [.forget(key: Gateway.remoteSettingsKey)] : stored
        // `succeed` is asked, because regions may come with the settings.
        case .inForce: return []
        }
    }

    /// The trial lasts as long as the settings so far say.
    private mutating func begin(
        _ candidate: SettingsCandidate, over before: Configuration, of tracking: Tracking, at now: MonotonicInstant
    ) -> [Gateway.Effect] {
        let modes = tracking.trackers.map { (ExactString($0.topics.base), $0.monitoring) }
        pending = Pending(
            changes: candidate.changes, waypoints: candidate.waypoints,
            topic: tracking.topic(of: candidate.topic, in: candidate.configuration.trackers),
            commanded: candidate.topic, before: before,
            modes: candidate.configuration.monitoring == before.monitoring ? [:] : Dictionary(modes) { $1 },
            end: now.advanced(by: before.remoteTrial))
        return [
            .log(LogEntry(.notice, "settings", "setConfiguration: trying new settings")),
            .putInForce(candidate.configuration, modes: [:]),
        ]
    }

    /// The broker accepted a connection with the settings, or none is wanted: they stay.
    ///
    /// - Returns: What stays; nil if nothing was on trial.
    mutating func succeed() -> (kept: Pending, effects: [Gateway.Effect])? {
        guard let succeeded = pending else { return nil }
        (pending, kept) = (nil, succeeded.changes)
        return (succeeded, stored + [.settingsKept])
    }

    /// Stores the kept settings, if there are any.
    var stored: [Gateway.Effect] { kept.map { [.value(key: Gateway.remoteSettingsKey, $0.bytes)] } ?? [] }

    /// Ends a trial for which the broker has accepted no connection in time.
    mutating func tick(counting commands: inout Commands, at now: MonotonicInstant) -> [Gateway.Effect] {
        guard let pending, pending.end <= now else { return [] }
        let reason = "no \(pending.before.broker.receiver) within \(seconds(pending.before.remoteTrial)) s"
        return fail(because: reason, &commands, at: now)
    }

    /// The settings so far return. Without a trial this does nothing.
    private mutating func fail(
        because reason: String, _ commands: inout Commands, at now: MonotonicInstant
    ) -> [Gateway.Effect] {
        guard let failed = pending else { return [] }
        pending = nil
        _ = commands.refuseSettings(because: [reason], of: failed.commanded, at: now)
        let text = CommandRefusal.logLine(
            of: "setConfiguration: \(reason); back to the old settings", on: Topics.command(below: failed.commanded))
        return [.log(LogEntry(.error, "settings", text)), .putInForce(failed.before, modes: failed.modes)]
    }
}
