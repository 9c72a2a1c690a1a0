package import Base
import Beacon
package import Configuration
import JSON
import OwnTracks
import Presence
import Regions

/// All decisions of the gateway: sightings, commands, edits and time in; messages and state to store out.
///
/// `handle` is the only mutating entrance. The gateway reads no clock, opens no file and has no socket, so that every
/// behaviour can be replayed. Its state may be read at any time.
///
/// It decides what an input means: who may ask for what, and what the answer is. What happens to trackers and their regions is
/// decided by `Tracking`. Functions return effects, in the order in which they are carried out.
package struct Gateway: Sendable {
    package private(set) var configuration: Configuration
    package private(set) var wallClock: WallClock
    private(set) var tracking: Tracking
    private(set) var commands = Commands()
    private var edits = RegionEdits()
    private var served = ServedDevices()
    private(set) var trial = SettingsTrial()
    package private(set) var phones = Phones()
    /// Members of the answer to `status` that the service provided, and when it started.
    private var about: [String: JSONValue] = [:]
    private var startedAt = MonotonicInstant.zero
    /// When the next turn of a part is due. Stored, because it is read after each sighting.
    private var turnDue: MonotonicInstant?
    /// The instant of the last input.
    private var latest = MonotonicInstant.zero
    /// Whether the stored state was restored. Before that, storing anything would overwrite it.
    package private(set) var isStarted = false

    /// Regions of all trackers together. Ten thousand of a large site take about 20 MB; many commands, each within
    /// its own limits, must not fill the machine.
    package static let mostRegions = Configuration.mostRegions

    /// - Parameter explainsTransitions: Whether each transition is explained in the debug log.
    package init(configuration: Configuration, wallClock: WallClock, explainsTransitions: Bool) {
        self.configuration = configuration
        self.wallClock = wallClock
        tracking = Tracking(by: configuration, explainsTransitions: explainsTransitions)
    }

    /// When the next `tick` is needed; nil while nothing is pending.
    package var nextDeadline: MonotonicInstant? {
        guard let turnDue else { return tracking.engine.nextDeadline }
        return min(turnDue, tracking.engine.nextDeadline ?? turnDue)
    }

    /// Handles one input at `instant`. Time does not go backwards: an instant before the previous one (of a report that
    /// waited in a socket) is replaced by the previous one.
    ///
    /// - Returns: one decision. Everything that it stores belongs into one transaction.
    package mutating func handle(_ input: Input, at instant: MonotonicInstant) -> [Effect] {
        let now = max(instant, latest)
        latest = now
        let effects = decide(input, at: now)
        // A sighting or reading without effects, the usual case, changes no queue.
        switch input {
        case .sighting, .telemetry: if effects.isEmpty { return effects }
        default: break
        }
        defer { turnDue = [tracking.turnDue(by: configuration), commands.due, trial.due].compactMap(\.self).min() }
        return effects.isEmpty ? effects : tracking.withPresence(effects, by: wallClock, at: now)
    }

    private mutating func decide(_ input: Input, at now: MonotonicInstant) -> [Effect] {
        switch input {
        case .sighting(let sighting): return hear(sighting, at: now)
        case .telemetry(let telemetry): return tracking.record(telemetry, at: now)
        case .phones(let uuids): return tracking.setPhones(uuids, by: messages)
        case .listening(let receiver, let isListening):
            return tracking.carryOut(tracking.hear(.listening(receiver, isListening), at: now), by: messages)
        case .scanDuty(let receiver, let duty):
            return tracking.carryOut(tracking.hear(.scanDuty(receiver, duty), at: now), by: messages)
        case .absent(let duration):
            return SilenceClock.report(absence: duration)
                + tracking.carryOut(tracking.hear(.slept(duration), absent: duration, at: now), by: messages)
        case .tick: return tick(at: now)
        case .start(let stored): return start(with: stored, at: now)
        case .checkpoint: return tracking.checkpoint(by: wallClock, at: now)
        case .stopping: return stop(at: now)
        case .wallClock(let clock):
            tracking.setClock(clock, isStep: !clock.isCloseTo(wallClock), at: now)
            wallClock = clock
            return []
        case .command(let received):
            guard trackers.indices.contains(received.tracker) else { return [] }
            return commands.receive(received, on: trackers[received.tracker].topics.command, at: now)
        case .regionEdits(let edits): return merge(edits, at: now)
        case .request(let request): return carryOut(request)
        case .settings(.inForce(let isReachable)): return isReachable ? keepSettings(at: now) : []
        case .settings(let outcome):
            return trial.handle(outcome, over: configuration, of: tracking, counting: &commands, at: now)
        case .phoneKeys(let event):
            let effects = phones.handle(event, over: configuration, by: wallClock, at: now)
            return effects + tracking.setPhones(phones.uuids, by: messages)
        case .configuration(let configuration, let modes): return reconfigure(configuration, modes)
        case .writeLost:
            tracking.presenceLost()
            return []
        case .stateLost: return storeEverything()
        case .brokerConnected(let isNew):
            return keepSettings(at: now) + tracking.connected(isNewSession: isNew, by: messages)
        case .homeAssistantStarted: return tracking.homeAssistantStarted(by: messages)
        case .requestRefused(let topic):
            return commands.refuse(.overload, "requests come too fast", on: topic, at: now)
        }
    }

    /// What makes messages at this input.
    private var messages: Messages { Messages(settings: configuration, clock: wallClock, now: latest) }

    // MARK: - Sightings and time

    private mutating func hear(_ sighting: Sighting, at now: MonotonicInstant) -> [Effect] {
        let decisions = tracking.hear(sighting, at: now)
        // The settings are not copied for a sighting that changes nothing, the usual case.
        let effects = decisions.isEmpty ? [] : tracking.carryOut(decisions, by: messages)
        guard configuration.ranging, let heard = tracking.range(sighting, at: now) else { return effects }
        return effects + messages.ranging(heard, of: trackers)
    }

    /// Lets silence count, and carries out everything that is due.
    private mutating func tick(at now: MonotonicInstant) -> [Effect] {
        var effects = tracking.tick(by: messages)
        effects += trial.tick(counting: &commands, at: now)
        while let command = commands.next(at: now, regions: trackers.regionCount) {
            effects += obey(command, at: now)
        }
        return effects + tracking.publishDue(by: messages)
    }

    // MARK: - Commands

    /// Carries out a command, or logs why it is refused.
    private mutating func obey(_ received: ReceivedCommand, at now: MonotonicInstant) -> [Effect] {
        // The trackers may have changed since.
        guard trackers.indices.contains(received.tracker) else { return [] }
        switch commands.admit(received, to: trackers[received.tracker], by: configuration, at: now) {
        case .refused(let log): return log
        // It is remembered again, so that later live commands do not push it out.
        case .appliedBefore(let log): return log + remember(received)
        case .admitted(let command):
            // A retained command that is not applied now may be applied when the broker sends it again.
            let envelope =
                received.isRetained ? [] : commands.rememberEnvelope(of: received, at: messages.epoch)
            return carryOut(command, of: received, at: now) + envelope
        }
    }

    private mutating func carryOut(
        _ command: OwnTracks.Command, of received: ReceivedCommand, at now: MonotonicInstant
    ) -> [Effect] {
        let (index, tracker) = (received.tracker, trackers[received.tracker])
        if case .setConfiguration(let changes, let waypoints) = command {
            guard !trial.isRunning else {
                let reason = "setConfiguration: other settings are still on trial"
                return commands.refuse(.configuration, reason, on: tracker.topics.command, at: now)
            }
            // Counted when the outcome is known.
            return [.checkSettings(changes, waypoints: waypoints, topic: tracker.topics.base)]
        }
        if command == .reportLocation, let reason = tracker.reasonNotToReport(by: configuration, at: now) {
            return commands.refuse(.unavailable, reason, on: tracker.topics.command, at: now)
        }
        commands.countDone()
        switch command {
        case .setWaypoints(let reading):
            let (effects, isMerged) = setWaypoints(reading, of: index, at: now)
            // A refused one is tried again when the broker sends it again: there may be room by then.
            return isMerged ? effects + remember(received) : effects
        case .clearWaypoints: return tracking.clear(index, by: messages)
        case .waypoints: return [messages.waypoints(of: tracker)]
        case .reportLocation: return tracking.location(of: index, .requested, by: messages)
        case .status: return [status(of: tracker)]
        case .dump: return [messages.dump(of: tracker)]
        // Handled above. Each command is listed, so that the compiler asks what a new one does.
        case .setConfiguration: return []
        }
    }

    /// Carries out what the broker counts as delivered and does not send again. New settings would need a trial.
    private mutating func obeyAtEnd(_ received: ReceivedCommand, at now: MonotonicInstant) -> [Effect] {
        guard case .success(.setConfiguration) = received.command else { return obey(received, at: now) }
        let topic = trackers.indices.contains(received.tracker) ? trackers[received.tracker].topics.command : nil
        return commands.refuse(.unavailable, "the service is about to end", on: topic, at: now)
    }

    private mutating func remember(_ received: ReceivedCommand) -> [Effect] {
        tracking.remember(received.digest, of: received.tracker)
            + (received.isRetained ? commands.rememberEnvelope(of: received, at: messages.epoch) : [])
    }

    /// Merges the regions of a command, and logs their mistakes.
    ///
    /// - Returns: `isMerged` is false if there would be too many regions. Then none is merged, and the refusal is recorded.
    private mutating func setWaypoints(_ reading: WaypointsReading, of index: Int, at now: MonotonicInstant) -> (
        effects: [Effect], isMerged: Bool
    ) {
        var effects = commands.report(reading, of: trackers[index], at: now)
        tracking.countRefused(reading)
        if !reading.keys.isEmpty { effects += phones.take(reading.keys, by: wallClock, at: now) }
        let (merging, refusal) = tracking.merge(reading.changes, of: index, by: messages)
        commands.record(refusal, of: "setWaypoints", on: trackers[index].topics.command, at: now)
        return (effects + merging, refusal == nil)
    }

    private func status(of tracker: TrackerState) -> Effect {
        var totals = counters.json.object ?? [:]
        totals["sightingsDropped"] = .integer(Int64(clamping: droppedSightings))
        return messages.status(of: tracker, about: about, startedAt: startedAt, counters: .object(totals))
    }

    // MARK: - Requests and edits

    private mutating func carryOut(_ request: Request) -> [Effect] {
        guard trackers.indices.contains(request.tracker) else { return [] }
        switch request {
        case .changeRegions(let tracker, let changes):
            return tracking.merge(changes, of: tracker, by: messages).effects
        case .reportLocation(let tracker, let pointOfInterest):
            if let reason = reasonToRefuse(request) { return [.log(LogEntry(.warning, "place", reason))] }
            return tracking.location(of: tracker, .manual, pointOfInterest: pointOfInterest, by: messages)
        case .setMonitoring(let tracker, let mode):
            return tracking.switchMonitoring(of: tracker, to: mode, by: messages)
        }
    }

    /// Why a request would change and publish nothing; nil: it is carried out.
    package func reasonToRefuse(_ request: Request) -> String? { request.reasonToRefuse(trackers, messages) }

    /// Merges edits of the command line like the regions of a command.
    private mutating func merge(_ new: [RegionEdit], at now: MonotonicInstant) -> [Effect] {
        let (taken, waiting) = edits.take(new, of: trackers.topics)
        var effects: [Effect] = []
        for edits in taken {
            let (merging, refusal) = tracking.merge(edits.changes, of: edits.tracker, by: messages)
            // The command has ended, and cannot be told.
            let topic = trackers[edits.tracker].topics.base
            commands.record(refusal, of: "regions of the command line", on: topic, at: now)
            effects += merging
            effects.append(edits.mark)
        }
        return effects + waiting
    }

    // MARK: - Settings

    /// Stores the settings on trial, and merges the regions that came with them.
    private mutating func keepSettings(at now: MonotonicInstant) -> [Effect] {
        guard case (let kept, var effects)? = trial.succeed() else { return [] }
        commands.countDone()
        if let topic = kept.topic, let tracker = trackers.firstIndex(where: { $0.topics.base.hasSameBytes(as: topic) })
        {
            for reading in kept.waypoints { effects += setWaypoints(reading, of: tracker, at: now).effects }
        }
        return effects
    }

    /// Applies another configuration. Regions and presence stay with their trackers.
    ///
    /// - Parameter modes: As of `Input.configuration`.
    private mutating func reconfigure(_ new: Configuration, _ modes: [ExactString: MonitoringMode]?) -> [Effect] {
        let former = configuration
        let effects = tracking.finishClears(by: messages)
        configuration = new
        let (changes, newIndices) = tracking.reconfigure(from: former, modes: modes, served, by: messages)
        if let newIndices { commands.moveTrackers(to: newIndices) }
        // A tracker may exist now for edits that wait.
        return effects + changes + [.rereadEdits]
    }

    // MARK: - Start and end

    /// Restores the stored state.
    private mutating func start(with stored: StoredState, at now: MonotonicInstant) -> [Effect] {
        isStarted = true
        startedAt = now
        configuration = stored.configuration
        trial = SettingsTrial(kept: stored.remoteSettings)
        phones = Phones(heard: stored.phonesHeard, at: now)
        commands = Commands(obeyed: stored.obeyedEnvelopes)
        about = stored.about
        served = ServedDevices(on: stored.hardware)
        return tracking.start(with: stored, served, by: messages)
    }

    private mutating func stop(at now: MonotonicInstant) -> [Effect] {
        guard isStarted else { return [] }
        var effects: [Effect] = []
        for received in commands.drain() { effects += obeyAtEnd(received, at: now) }
        return effects + tracking.stop(by: messages)
    }

    /// Stores everything, because the store has a new file.
    private mutating func storeEverything() -> [Effect] {
        edits.forget()
        var effects: [Effect] = [.log(LogEntry(.warning, "state", "the whole state is written again"))]
        effects += tracking.storeAgain(by: configuration)
        effects += trial.stored + [commands.storedEnvelopes]
        return effects + served.stored(trackers) + served.storedHardware + tracking.storedLists
    }
}
