import Base
import Configuration
import OwnTracks
package import Regions

extension Gateway {
    /// Puts a command into the queue; a later tick carries it out. One turn of the loop delivers all messages of the
    /// broker's thread, but each large command needs a turn of its own.
    mutating func receive(_ received: ReceivedCommand, at now: MonotonicInstant) -> [Effect] {
        guard trackers.indices.contains(received.tracker) else { return [] }
        guard let refusal = commands.receive(received, at: now) else { return [] }
        return [report(refusal, of: received, at: now)]
    }

    mutating func carryOutDueCommands(at now: MonotonicInstant) -> [Effect] {
        var effects: [Effect] = []
        while let command = commands.next(at: now, regions: regionCount) { effects += obey(command, at: now) }
        return effects
    }

    /// Carries out what the broker counts as delivered and does not send again. New settings would need a trial.
    mutating func carryOutLastCommands(at now: MonotonicInstant) -> [Effect] {
        var effects: [Effect] = []
        for received in commands.drain() {
            guard case .success(.setConfiguration) = received.command else {
                effects += obey(received, at: now)
                continue
            }
            let refusal = commands.refuse(.unavailable, "the service is about to end")
            if trackers.indices.contains(received.tracker) { effects.append(report(refusal, of: received, at: now)) }
        }
        return effects
    }

    /// Regions of all trackers.
    var regionCount: Int { trackers.reduce(0) { $0 + $1.regions.regions.count } }

    /// Carries out a command, or logs why it is refused.
    private mutating func obey(_ received: ReceivedCommand, at now: MonotonicInstant) -> [Effect] {
        // The trackers may have changed since.
        guard trackers.indices.contains(received.tracker) else { return [] }
        let tracker = trackers[received.tracker]
        let rights = CommandGate.Rights(
            obeysCommands: configuration.obeysCommands,
            allowsRemoteConfiguration: configuration.allowsRemoteConfiguration,
            needsEncryption: tracker.configuration.encryptionKey != .absent)
        switch commands.admit(received, rights, applied: tracker.appliedCommands) {
        case .refused(let reason): return [report(reason, of: received, at: now)]
        case .appliedBefore:
            // It stays among the latest, however many live commands follow it.
            let text = CommandGate.repetition(on: tracker.topics.command)
            return [.log(LogEntry(.info, "command-repeated", text))] + remember(received, at: now)
        case .admitted(let command):
            // One that the broker retained, and that is not applied now, may be applied when it comes again.
            let envelope = received.isRetained ? [] : rememberEnvelope(of: received, at: now)
            return carryOut(command, of: received, at: now) + envelope
        }
    }

    private mutating func carryOut(
        _ command: OwnTracks.Command, of received: ReceivedCommand, at now: MonotonicInstant
    ) -> [Effect] {
        let tracker = received.tracker
        if case .setConfiguration(let changes, let waypoints) = command {
            // Counted when the service reports the outcome.
            return [.reconfigure(changes, waypoints: waypoints, topic: trackers[tracker].topics.base)]
        }
        if command == .reportLocation, let reason = reasonNotToReport(of: tracker, at: now) {
            let refusal = commands.refuse(.unavailable, reason)
            return [report(refusal, of: received, at: now)]
        }
        commands.countDone()
        switch command {
        case .setWaypoints(let reading):
            let (effects, isMerged) = setWaypoints(reading, of: tracker, at: now)
            // A refused one is tried again when the broker sends it again: there may be room by then.
            return isMerged ? effects + remember(received, at: now) : effects
        case .clearWaypoints: return clearWaypoints(of: tracker, at: now)
        case .waypoints: return [waypoints(of: tracker, at: now)]
        case .reportLocation: return location(of: tracker, trigger: .requested, at: now)
        case .status: return [status(of: tracker, at: now)]
        case .dump: return [dump(of: tracker, at: now)]
        // The gate admits no command of another service; `MessageTableTests` has a row for each of its own.
        default: return []
        }
    }

    /// Why no location can be published on request at present.
    private func reasonNotToReport(of tracker: Int, at now: MonotonicInstant) -> String? {
        guard mayPublish(.location(.requested), of: tracker, at: now) else {
            return "reportLocation is not answered in \(trackers[tracker].monitoring) mode"
        }
        return isPlaceKnown(of: tracker) ? nil : Self.placeIsUnknown
    }

    private mutating func remember(_ received: ReceivedCommand, at now: MonotonicInstant) -> [Effect] {
        let envelope = received.isRetained ? rememberEnvelope(of: received, at: now) : []
        guard trackers[received.tracker].appliedCommands.remember(received.digest) else { return envelope }
        return [trackers[received.tracker].storedAppliedCommands] + envelope
    }

    private mutating func rememberEnvelope(of received: ReceivedCommand, at now: MonotonicInstant) -> [Effect] {
        let epoch = wallClock.isKnown ? wallClock.epochSeconds(at: now) : nil
        return commands.remember(received, at: epoch) ? [storedEnvelopes] : []
    }

    var storedEnvelopes: Effect { .value(key: ObeyedEnvelopes.storeKey, commands.obeyed.bytes) }

    private mutating func report(
        _ refusal: CommandRefusal, of received: ReceivedCommand, at now: MonotonicInstant
    ) -> Effect {
        let topic = trackers[received.tracker].topics.command
        refusals.add(refusal.text, on: topic, at: now)
        return .log(LogEntry(.warning, "command-refused", refusal.logLine(on: topic), of: topic))
    }

    /// Merges the regions of a command, and logs their mistakes.
    ///
    /// - Returns: As `merge`.
    mutating func setWaypoints(
        _ reading: WaypointsReading, of tracker: Int, at now: MonotonicInstant
    ) -> (effects: [Effect], isMerged: Bool) {
        let topic = trackers[tracker].topics.base
        totals.waypointsRefused += UInt64(reading.problemCount)
        var effects = reading.problems.prefix(10).map { problem in
            Effect.log(LogEntry(.warning, "waypoint-refused", "setWaypoints: \(problem)", of: topic))
        }
        if reading.problemCount > 10 {
            let text = "setWaypoints: and \(reading.problemCount - 10) more"
            effects.append(.log(LogEntry(.warning, "waypoint-refused", text, of: "\(topic) more")))
        }
        for problem in reading.problems.prefix(10) {
            refusals.add("setWaypoints: \(problem)", on: trackers[tracker].topics.command, at: now)
        }
        // They are taken, and no beacon enters them.
        effects += reading.remarks.prefix(10).map { remark in
            Effect.log(LogEntry(.warning, "waypoint-remark", "setWaypoints: \(remark)", of: topic))
        }
        if reading.remarks.count > 10 {
            let text = "setWaypoints: and \(reading.remarks.count - 10) more remarks"
            effects.append(.log(LogEntry(.warning, "waypoint-remark", text, of: "\(topic) more")))
        }
        if !reading.keys.isEmpty { effects.append(.phoneKeys(reading.keys)) }
        let (merging, isMerged) = merge(reading.changes, of: tracker, at: now)
        return (effects + merging, isMerged)
    }

    /// Regions of all trackers together. Ten thousand of a large site take about 20 MB; many commands, each within
    /// its own limits, must not fill the machine.
    package static let mostRegions = Configuration.mostRegions

    /// Merges changes into a tracker's regions in one step.
    ///
    /// - Returns: `isMerged` is false if there would be too many regions. Then none is merged.
    mutating func merge(
        _ changes: [RegionChange], of tracker: Int, at now: MonotonicInstant
    ) -> (effects: [Effect], isMerged: Bool) {
        var regions = trackers[tracker].regions
        let changes = completed(changes, of: tracker, at: now)
        let set = regions.rids(setBy: changes)
        let difference = regions.apply(changes)
        let total = regionCount - trackers[tracker].regions.regions.count + regions.regions.count
        if let refusal = refusal(of: difference, total: total) { return ([refusal], false) }
        let told = difference.unmatched.prefix(10).map { removal in
            Effect.log(LogEntry(.notice, "waypoint-unmatched", "regions: \(removal)"))
        }
        return (told + keep(set, of: tracker) + replaceRegions(of: tracker, by: regions, difference, at: now), true)
    }

    /// Counts the new regions of a tracker if they are too many.
    ///
    /// - Parameter total: The number of regions that all trackers would have.
    /// - Returns: nil if there is room for them.
    mutating func refusal(of difference: RegionDifference, total: Int) -> Effect? {
        guard total > Self.mostRegions, !difference.inserted.isEmpty else { return nil }
        totals.waypointsRefused += UInt64(difference.inserted.count)
        let text = "this would make \(total) regions; at most \(Self.mostRegions) are allowed"
        return .log(LogEntry(.warning, "regions-refused", "regions: nothing is changed: \(text)"))
    }

    /// The changes, with missing members (such as time stamps) taken from the regions that they replace.
    func completed(_ changes: [RegionChange], of tracker: Int, at now: MonotonicInstant) -> [RegionChange] {
        let epoch = wallClock.isKnown ? wallClock.epochSeconds(at: now) : nil
        let regions = trackers[tracker].regions
        var latest: [ExactString: Region] = [:]
        return changes.map { change in
            guard case .set(let region, let isRIDDerived) = change else { return change }
            let completed = region.succeeding(latest[region.rid] ?? regions[rid: region.rid], now: epoch)
            latest[region.rid] = completed
            return .set(completed, isRIDDerived: isRIDDerived)
        }
    }

    /// Replaces a tracker's regions. An occupied region that is removed is left first.
    mutating func replaceRegions(
        of tracker: Int, by regions: RegionSet, _ difference: RegionDifference, at now: MonotonicInstant
    ) -> [Effect] {
        let text =
            "\(difference.inserted.count) new, \(difference.updated.count) changed, "
            + "\(difference.removed.count) removed; \(regions.regions.count) regions now"
        var effects: [Effect] = [.log(LogEntry(.info, "regions", "regions: \(text)"))]
        guard !difference.isEmpty else { return effects }
        // The transition of a region that is left because of the change has the old name.
        trackers[tracker].former = trackers[tracker].regions
        trackers[tracker].regions = regions
        effects += monitor(at: now) + crossCircles(of: [tracker], at: now)
        trackers[tracker].former = nil
        effects += trimRemoved()
        effects.append(.regions(topic: trackers[tracker].topics.base, regions))
        return effects + publish(announcements(of: difference, tracker: tracker), at: now)
    }

    private func waypoints(of tracker: Int, at now: MonotonicInstant) -> Effect {
        let cleared = trackers[tracker].pendingClear?.rids ?? []
        let regions = trackers[tracker].regions.regions.lazy.filter { !cleared.contains(ExactString($0.rid)) }
        return publish(
            .other, of: tracker, on: trackers[tracker].topics.waypoints,
            bytes: waypointsBytes(regions, base: configuration.numberBase), isTimeKnown: true, at: now)
    }
}

extension Region {
    package var isBeacon: Bool {
        if case .beacon = kind { true } else { false }
    }
}

extension TrackerState {
    /// Stores the applied commands.
    var storedAppliedCommands: Effect {
        .value(key: AppliedCommands.storeKey(of: topics.base), appliedCommands.bytes)
    }
}
