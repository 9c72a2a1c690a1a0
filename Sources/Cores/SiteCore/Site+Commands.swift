import Base
import OwnTracks
import Regions

extension Site {
    /// Carries out a command, or logs why it is refused.
    mutating func obey(_ received: ReceivedCommand, at now: MonotonicInstant, _ effects: inout [Effect]) {
        let command: Command
        switch received.command {
        case .success(let read): command = read
        case .failure(let unread): return refuse(received, unread.reason, &effects)
        }
        let admission = command.admission(
            to: .rooms, isRetained: received.isRetained, digest: received.digest, applied: appliedCommands)
        switch admission {
        case .refused(let reason): return refuse(received, reason, &effects)
        case .appliedBefore:
            effects.append(.log(.info, CommandAdmission.repetition(on: received.topic)))
            // It stays among the latest, however many live commands follow it.
            effects += remember(received)
            return
        case .carriedOut: counters.commands += 1
        }
        switch command {
        case .setWaypoints(let reading):
            for problem in reading.problems { effects.append(.log(.warning, "setWaypoints: \(problem)")) }
            change(tags: reading.changes, remember(received), at: now, &effects)
        case .clearWaypoints: change(tags: regions.regions.map { .remove(rid: $0.rid) }, at: now, &effects)
        case .reportLocation, .waypoints, .dump, .status, .setConfiguration: break
        }
    }

    private mutating func remember(_ received: ReceivedCommand) -> [Effect] {
        appliedCommands.remember(received.digest) ? [.store(.appliedCommands(appliedCommands))] : []
    }

    private mutating func refuse(_ received: ReceivedCommand, _ reason: String, _ effects: inout [Effect]) {
        counters.commandsRefused += 1
        effects.append(
            .log(.warning, CommandAdmission.refusal(on: received.topic, reason), once: "command-refused"))
    }
}
