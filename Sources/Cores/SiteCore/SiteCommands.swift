import Base
import OwnTracks
import Regions

/// The commands on the service's `/cmd`: which of them wait, which are admitted, and what is remembered of them.
///
/// A retained `setWaypoints` waits until it is known whether another service is active: that one has carried it out. Commands that come
/// later wait behind it. The site carries out what `admit` lets through.
struct SiteCommands: Sendable {
    private let topic: String
    private var rights: CommandGate.Rights
    private var gate = CommandGate(of: .rooms)
    /// Commands that the broker may send again because it retains them.
    private var applied = AppliedCommands()
    /// Whether a retained `setWaypoints` may be in the queue.
    private var hasRetained = false

    init(_ settings: SiteSettings) {
        topic = settings.addresses(ofSite: settings.site ?? "").base + "/cmd"
        rights = settings.commandRights
    }

    mutating func restore(_ stored: StoredSite) {
        applied = stored.appliedCommands
        gate = CommandGate(of: .rooms, obeyed: stored.obeyedEnvelopes)
    }

    /// The configuration was read again.
    mutating func setRights(_ rights: CommandGate.Rights) { self.rights = rights }

    /// Counts of what became of the commands.
    var counts: CommandCounts { gate.counts }

    var storedApplied: Site.Effect { .store(.appliedCommands(applied)) }

    var storedEnvelopes: Site.Effect { .store(.obeyedEnvelopes(gate.obeyed)) }

    // MARK: - The queue

    /// When the next command may be carried out; nil if none waits.
    ///
    /// - Parameter isUndecided: Whether it is still unknown if another service is active.
    func due(isUndecided: Bool) -> MonotonicInstant? { hasRetained && isUndecided ? nil : gate.due }

    /// Puts a command into the queue.
    mutating func receive(_ received: ReceivedCommand, at now: MonotonicInstant, _ effects: inout [Site.Effect]) {
        if received.isRetained, case .success(.setWaypoints) = received.command { hasRetained = true }
        if let refusal = gate.receive(received, at: now) { report(refusal, &effects) }
    }

    /// The next command that may be carried out now; nil if there is none.
    ///
    /// - Parameter regions: The number of regions: a command may read or write each of them.
    mutating func next(isUndecided: Bool, regions: Int, at now: MonotonicInstant) -> ReceivedCommand? {
        guard !(hasRetained && isUndecided) else { return nil }
        let next = gate.next(at: now, regions: regions)
        if next == nil { hasRetained = hasRetained && gate.due != nil }
        return next
    }

    /// Takes from the queue what the broker counts as delivered and does not send again. A retained command comes again, and must not undo
    /// the ones behind it then: it is carried out before them, unless another service may have done so.
    ///
    /// - Parameter isAlone: Whether no other service may have carried it out.
    mutating func drain(isAlone: Bool) -> [ReceivedCommand] { gate.drain().filter { isAlone || !$0.isRetained } }

    // MARK: - Admission

    /// Decides whether a command is carried out, and logs why it is not.
    ///
    /// - Parameter takesRetained: Whether this service carries out a retained command; else the active service does.
    /// - Returns: nil if it is not carried out.
    mutating func admit(
        _ received: ReceivedCommand, takesRetained: Bool, _ clock: WallClock, at now: MonotonicInstant,
        _ effects: inout [Site.Effect]
    ) -> Command? {
        switch gate.admit(received, rights, applied: applied) {
        case .refused(let refusal):
            report(refusal, &effects)
            return nil
        case .appliedBefore:
            effects.append(.log(.info, CommandGate.repetition(on: topic)))
            // The command stays among the latest, however many live commands follow it.
            effects += remember(received, clock, at: now)
            return nil
        case .admitted(let command):
            if !received.isRetained { effects += rememberEnvelope(of: received, clock, at: now) }
            guard takesRetained || !received.isRetained else {
                // It is old: what it said may have been changed since, in the list of all services.
                effects += remember(received, clock, at: now)
                effects.append(.log(.info, "the retained command on \(topic) is left to the active service"))
                return nil
            }
            return command
        }
    }

    /// Remembers a command that is applied. Only `setWaypoints` may come again, retained.
    mutating func remember(
        _ received: ReceivedCommand, _ clock: WallClock, at now: MonotonicInstant
    ) -> [Site.Effect] {
        guard case .success(.setWaypoints) = received.command else { return [] }
        let envelope = received.isRetained ? rememberEnvelope(of: received, clock, at: now) : []
        return (applied.remember(received.digest) ? [storedApplied] : []) + envelope
    }

    private mutating func rememberEnvelope(
        of received: ReceivedCommand, _ clock: WallClock, at now: MonotonicInstant
    ) -> [Site.Effect] {
        gate.remember(received, at: clock.isKnown ? clock.epochSeconds(at: now) : nil) ? [storedEnvelopes] : []
    }

    /// Counts a command that was carried out.
    mutating func countDone() { gate.countDone() }

    /// Refuses a command that cannot be carried out, or read.
    mutating func refuse(_ reason: CommandRefusal.Reason, _ text: String, _ effects: inout [Site.Effect]) {
        report(gate.refuse(reason, text), &effects)
    }

    private func report(_ refusal: CommandRefusal, _ effects: inout [Site.Effect]) {
        effects.append(.log(.warning, refusal.logLine(on: topic), once: "command-refused"))
    }
}
