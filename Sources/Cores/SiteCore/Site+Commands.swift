import Base
import OwnTracks
import Regions

extension Site {
    /// Queues a command, and carries out the commands that are due. A retained command waits until it is known whether another
    /// service is active: that one has carried it out.
    mutating func receive(_ received: ReceivedCommand, at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard !received.isRetained || role != .listening else { return heldCommand = received }
        if let refusal = gate.receive(received, at: now) { report(refusal, &effects) }
        carryOutDueCommands(at: now, &effects)
    }

    /// Goes on with a retained command once it is known whether another service is active.
    mutating func releaseCommand(at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard role != .listening, let held = heldCommand else { return }
        heldCommand = nil
        receive(held, at: now, &effects)
    }

    mutating func carryOutDueCommands(at now: MonotonicInstant, _ effects: inout [Effect]) {
        while let received = gate.next(at: now, regions: regions.regions.count) {
            obey(received, at: now, &effects)
        }
    }

    /// Carries out a command, or logs why it is refused.
    private mutating func obey(_ received: ReceivedCommand, at now: MonotonicInstant, _ effects: inout [Effect]) {
        let command: Command
        switch gate.admit(received, commandRights, applied: appliedCommands) {
        case .refused(let refusal): return report(refusal, &effects)
        case .appliedBefore:
            effects.append(.log(.info, CommandGate.repetition(on: commandTopic)))
            // The command stays among the latest, however many live commands follow it.
            effects += remember(received)
            return
        case .admitted(let admitted): command = admitted
        }
        guard role == .active || !received.isRetained else {
            // It is old: what it said may have been changed since, in the list of all services.
            effects += remember(received)
            return effects.append(
                .log(.info, "the retained command on \(commandTopic) is left to the active service"))
        }
        switch command {
        case .setWaypoints(let reading):
            for problem in reading.problems { effects.append(.log(.warning, "setWaypoints: \(problem)")) }
            change(tags: reading.changes, remember(received), at: now, &effects)
        case .clearWaypoints: change(tags: regions.regions.map { .remove(rid: $0.rid) }, at: now, &effects)
        // The gate admits none of these. They are listed, so that the compiler asks where a new command belongs.
        case .reportLocation, .waypoints, .setConfiguration, .dump, .status: return
        }
        gate.countDone()
    }

    private mutating func remember(_ received: ReceivedCommand) -> [Effect] {
        appliedCommands.remember(received.digest) ? [.store(.appliedCommands(appliedCommands))] : []
    }

    func report(_ refusal: CommandRefusal, _ effects: inout [Effect]) {
        effects.append(.log(.warning, refusal.logLine(on: commandTopic), once: "command-refused"))
    }

    private var commandTopic: String {
        settings.addresses(ofSite: settings.site ?? "").base + "/cmd"
    }
}
