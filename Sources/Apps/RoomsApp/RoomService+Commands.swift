import Base
import Configuration
import Messaging
import OwnTracks
import Regions
import RoomMessages
import Runtime
import Shell
import SiteProtocol
import Storage

/// What became of the commands on `/cmd`.
struct SiteCommands {
    /// Commands that were carried out, since the start.
    var done: UInt64 = 0
    /// Commands that were refused: not understood, unknown here, retained, or unencrypted although the site has a key.
    var refused: UInt64 = 0
    /// Commands that the broker may send again because it retains them.
    var applied = AppliedCommands()
}

extension RoomService {
    private var appliedKey: String { AppliedCommands.storeKey(of: identity.topics.base) }

    /// Stores the commands that were applied.
    var appliedCommands: StoreChange { .value(key: appliedKey, conversation.commands.applied.bytes) }

    func restoreAppliedCommands(from snapshot: StoreSnapshot) {
        conversation.commands.applied = AppliedCommands(bytes: snapshot.values[ExactString(appliedKey)] ?? [])
    }

    /// Carries out a command, or logs why it is refused.
    func obey(_ message: ReceivedMessage) {
        let payload: [UInt8]
        do throws(SealError) {
            payload = try door.seal.opened(command: message.payload)
        } catch {
            return refuse(message, "\(error)")
        }
        let command: Command
        do throws(CommandError) {
            command = try Command(parsing: payload, base: settings.configuration.numberBase)
        } catch {
            return refuse(message, "\(error)")
        }
        let digest = CommandDigest(of: message.payload).command(at: 0)
        let admission = command.admission(
            to: .rooms, isRetained: message.retained, digest: digest, applied: conversation.commands.applied)
        switch admission {
        case .refused(let reason): return refuse(message, reason)
        case .appliedBefore:
            log.info(CommandAdmission.repetition(on: message.topic))
            // It stays among the latest, however many live commands follow it.
            if conversation.commands.applied.remember(digest) { store.submit(.commit([appliedCommands])) }
            return
        case .carriedOut: conversation.commands.done += 1
        }
        switch command {
        case .setWaypoints(let reading):
            for problem in reading.problems { log.warning("setWaypoints: \(problem)") }
            let isNew = conversation.commands.applied.remember(digest)
            change(tags: reading.changes, isNew ? [appliedCommands] : [])
        case .clearWaypoints: change(tags: tags.regions.map { .remove(rid: $0.rid) })
        case .reportLocation, .waypoints, .dump, .status, .setConfiguration: break
        }
    }

    private func refuse(_ message: ReceivedMessage, _ reason: String) {
        conversation.commands.refused += 1
        log.once("command-refused", .warning, CommandAdmission.refusal(on: message.topic, reason))
    }
}
