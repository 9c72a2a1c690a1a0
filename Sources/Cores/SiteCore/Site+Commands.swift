import Base
import OwnTracks
import Regions

extension Site {
    /// Queues a command, and carries out the commands that are due. A retained `setWaypoints` waits until it is known whether
    /// another service is active: that one has carried it out. Commands that come later wait behind it.
    mutating func receive(_ received: ReceivedCommand, at now: MonotonicInstant, _ effects: inout [Effect]) {
        if received.isRetained, case .success(.setWaypoints) = received.command { hasRetainedCommand = true }
        if let refusal = gate.receive(received, at: now) { report(refusal, &effects) }
        carryOutDueCommands(at: now, &effects)
    }

    /// Whether the commands in the queue wait until it is known whether another service is active.
    var holdsCommands: Bool { hasRetainedCommand && role == .listening && !isForemost }

    /// Whether this service is active, or would be if a person had answered its question. Then it carries out a retained command,
    /// too: its tags may be what the person wants, and otherwise the commands behind it would wait until the question is answered.
    private var isForemost: Bool { role == .active || (siteList.offer != nil && election?.isHeldBack == true) }

    mutating func carryOutDueCommands(at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard !holdsCommands else { return }
        defer { hasRetainedCommand = hasRetainedCommand && gate.due != nil }
        while let received = gate.next(at: now, regions: regions.regions.count) {
            obey(received, at: now, &effects)
        }
    }

    /// Carries out what the broker counts as delivered and does not send again. A retained command comes again, and must not undo the ones
    /// behind it then: it is carried out before them, unless another service may have done so.
    mutating func carryOutLastCommands(at now: MonotonicInstant, _ effects: inout [Effect]) {
        let isAlone = election?.other == nil
        for received in gate.drain() where isAlone || !received.isRetained {
            obey(received, isAlone: isAlone, at: now, &effects)
        }
    }

    /// Carries out a command, or logs why it is refused.
    ///
    /// - Parameter isAlone: Whether a retained command is carried out although this service is not active.
    private mutating func obey(
        _ received: ReceivedCommand, isAlone: Bool = false, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        let command: Command
        switch gate.admit(received, commandRights, applied: appliedCommands) {
        case .refused(let refusal): return report(refusal, &effects)
        case .appliedBefore:
            effects.append(.log(.info, CommandGate.repetition(on: commandTopic)))
            // The command stays among the latest, however many live commands follow it.
            effects += remember(received, at: now)
            return
        case .admitted(let admitted):
            command = admitted
            if !received.isRetained { effects += rememberEnvelope(of: received, at: now) }
        }
        guard isForemost || isAlone || !received.isRetained else {
            // It is old: what it said may have been changed since, in the list of all services.
            effects += remember(received, at: now)
            return effects.append(
                .log(.info, "the retained command on \(commandTopic) is left to the active service"))
        }
        switch command {
        case .setWaypoints(let reading):
            for problem in reading.problems + reading.remarks {
                effects.append(.log(.warning, "setWaypoints: \(problem)", once: "waypoint-refused"))
            }
            // It is tried again when the broker sends it again: there may be room by then.
            if let text = refusal(of: reading.changes) { return report(gate.refuse(.unavailable, text), &effects) }
            change(tags: reading.changes, remember(received, at: now), at: now, &effects)
        case .clearWaypoints: change(tags: regions.regions.map { .remove(rid: $0.rid) }, at: now, &effects)
        // The gate admits none of these. They are listed, so that the compiler asks where a new command belongs.
        case .reportLocation, .waypoints, .setConfiguration, .dump, .status: return
        }
        gate.countDone()
    }

    private mutating func remember(_ received: ReceivedCommand, at now: MonotonicInstant) -> [Effect] {
        let envelope = received.isRetained ? rememberEnvelope(of: received, at: now) : []
        return (appliedCommands.remember(received.digest) ? [.store(.appliedCommands(appliedCommands))] : []) + envelope
    }

    private mutating func rememberEnvelope(of received: ReceivedCommand, at now: MonotonicInstant) -> [Effect] {
        gate.remember(received, at: wallClock.isKnown ? epoch(at: now) : nil)
            ? [.store(.obeyedEnvelopes(gate.obeyed))] : []
    }

    func report(_ refusal: CommandRefusal, _ effects: inout [Effect]) {
        effects.append(.log(.warning, refusal.logLine(on: commandTopic), once: "command-refused"))
    }

    private var commandTopic: String {
        settings.addresses(ofSite: settings.site ?? "").base + "/cmd"
    }
}
