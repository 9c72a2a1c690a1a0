package import Base

/// Stands between the messages on `/cmd` and a service: each command waits for its turn, is admitted or refused, and is
/// counted. Each service has a gate. The two differ in the column of the table of commands (`CommandAction.rule`).
package struct CommandGate: Sendable {
    /// What the settings of a tracker allow.
    package struct Rights: Hashable, Sendable {
        private let obeysCommands: Bool
        private let allowsRemoteConfiguration: Bool
        private let needsEncryption: Bool

        /// - Parameters:
        ///   - obeysCommands: The setting `cmd`.
        ///   - allowsRemoteConfiguration: The setting `remoteConfiguration`.
        ///   - needsEncryption: Whether the tracker has an encryption key.
        package init(obeysCommands: Bool, allowsRemoteConfiguration: Bool, needsEncryption: Bool) {
            self.obeysCommands = obeysCommands
            self.allowsRemoteConfiguration = allowsRemoteConfiguration
            self.needsEncryption = needsEncryption
        }

        fileprivate func refusal(of received: ReceivedCommand, _ rule: CommandRule) -> CommandRefusal? {
            if !obeysCommands { return CommandRefusal(.disabled, "commands are switched off ('cmd' is false)") }
            if needsEncryption, !received.wasEncrypted {
                return CommandRefusal(.unencrypted, "it came unencrypted, and this tracker has an encryption key")
            }
            guard rule.needsRemoteConfiguration, !allowsRemoteConfiguration else { return nil }
            return CommandRefusal(.forbidden, "'remoteConfiguration' is false")
        }
    }

    package enum Admission: Hashable, Sendable {
        case admitted(Command)
        /// The broker had retained the message, and it was applied before.
        case appliedBefore
        case refused(CommandRefusal)
    }

    private let service: CommandService
    private var queue = CommandQueue()
    package private(set) var counts = CommandCounts()
    /// To be stored after each encrypted command that was carried out.
    package private(set) var obeyed: ObeyedEnvelopes

    /// - Parameter obeyed: The envelopes of commands that were obeyed before this start.
    package init(of service: CommandService, obeyed: ObeyedEnvelopes = ObeyedEnvelopes()) {
        self.service = service
        self.obeyed = obeyed
    }

    /// When the next command may be carried out; nil if none waits.
    package var due: MonotonicInstant? { queue.due }

    /// Puts a command into the queue. If an equal query waits, its answer is that of both.
    ///
    /// - Returns: Why the command is refused; nil if it is not refused.
    package mutating func receive(_ received: ReceivedCommand, at now: MonotonicInstant) -> CommandRefusal? {
        switch queue.add(received, at: now) {
        case .queued: return nil
        case .answeredByAnother:
            counts.countDone()
            return nil
        case .tooMany: return refuse(.overload, "too many commands are waiting")
        case .tooFast:
            return refuse(
                .overload, "commands come too fast; after \(CommandQueue.mostAtOnce) at once one is obeyed each second")
        }
    }

    /// Takes the next command from the queue, if it may be carried out now.
    ///
    /// - Parameter regions: The number of regions: a command may read or write each of them.
    package mutating func next(at now: MonotonicInstant, regions: Int) -> ReceivedCommand? {
        queue.next(at: now, regions: regions)
    }

    /// The trackers have other indices now.
    ///
    /// - Parameter newIndices: The new index of each tracker by its old one. Waiting commands of others are dropped.
    package mutating func moveTrackers(to newIndices: [Int: Int]) { queue.moveTrackers(to: newIndices) }

    /// Takes all commands from the queue, when the service ends.
    package mutating func drain() -> [ReceivedCommand] { queue.drain() }

    /// Decides whether the service carries out a command. A refusal is counted; the service counts what it carried out.
    ///
    /// - Parameter applied: The commands that were applied last on this topic.
    package mutating func admit(
        _ received: ReceivedCommand, _ rights: Rights, applied: AppliedCommands
    ) -> Admission {
        let admission = judge(received, rights, applied)
        if case .refused(let refusal) = admission { counts.countRefused(refusal.reason) }
        return admission
    }

    private func judge(
        _ received: ReceivedCommand, _ rights: Rights, _ applied: AppliedCommands
    ) -> Admission {
        let command: Command
        switch received.command {
        case .success(let decoded): command = decoded
        case .failure(let error): return .refused(CommandRefusal(error.refusalReason, "\(error)"))
        }
        let rule = command.action.rule
        let delivery = rule.delivery(to: service)
        guard delivery != .unsupported else {
            let text = "the \(service.rawValue) does not know '\(command.action.rawValue)'"
            return .refused(CommandRefusal(.unsupported, text))
        }
        if let refusal = rights.refusal(of: received, rule) { return .refused(refusal) }
        let wasObeyed = received.envelope.map(obeyed.contains) == true
        guard received.isRetained else {
            guard !wasObeyed else { return .refused(CommandRefusal(.repeated, Self.repeated)) }
            return .admitted(command)
        }
        guard delivery == .retainable else {
            return .refused(CommandRefusal(.retained, "the broker had retained it"))
        }
        return wasObeyed || received.digest.map(applied.contains) == true ? .appliedBefore : .admitted(command)
    }

    private static let repeated =
        "this encrypted message was obeyed before, or is not newer than one that was; to repeat a command, encrypt it again"

    /// Remembers the envelope of a command that is carried out, so that a repetition is refused.
    ///
    /// - Parameter epoch: The time of day, epoch seconds; nil if it is not known.
    /// - Returns: Whether `obeyed` has to be stored.
    package mutating func remember(_ received: ReceivedCommand, at epoch: Int64?) -> Bool {
        guard let envelope = received.envelope else { return false }
        obeyed.remember(envelope, at: epoch)
        return true
    }

    /// Counts a command that was carried out.
    package mutating func countDone() { counts.countDone() }

    /// Counts a command that cannot be carried out.
    package mutating func refuse(_ reason: CommandRefusal.Reason, _ text: String) -> CommandRefusal {
        counts.countRefused(reason)
        return CommandRefusal(reason, text)
    }

    /// The line of the log for a command that was applied before.
    package static func repetition(on topic: String) -> String {
        "the retained command on \(topic) was applied before, and is not applied again"
    }
}

extension CommandError {
    fileprivate var refusalReason: CommandRefusal.Reason {
        switch self {
        case .unknownAction, .unsupportedAction: .unsupported
        case .malformed, .notAnObject, .wrongType, .notWrapped, .encrypted, .missingAction, .badArgument: .malformed
        }
    }
}
