package import Beacon
package import OwnTracks
internal import Presence
package import Regions

extension Gateway {
    /// Carries out a command, or says why not.
    mutating func obey(_ received: ReceivedCommand, at now: MonotonicInstant) -> [Effect] {
        guard trackers.indices.contains(received.tracker) else { return [] }
        let command: OwnTracks.Command
        switch received.command {
        case .success(let decoded): command = decoded
        case .failure(let error): return refuse(received, "\(error)")
        }
        if let reason = reasonToRefuse(command, received) { return refuse(received, reason) }
        counters.commands += 1
        switch command {
        case .setWaypoints(let reading): return setWaypoints(reading, of: received.tracker, at: now)
        case .clearWaypoints: return clearWaypoints(of: received.tracker, at: now)
        case .waypoints: return [waypoints(of: received.tracker, at: now)]
        case .reportLocation: return [location(of: received.tracker, trigger: .requested, at: now)]
        case .status: return [status(of: received.tracker, at: now)]
        case .dump: return [dump(of: received.tracker, at: now)]
        case .setConfiguration(let changes, let waypoints):
            return [.reconfigure(changes, waypoints: waypoints, tracker: received.tracker)]
        }
    }

    private func reasonToRefuse(_ command: OwnTracks.Command, _ received: ReceivedCommand) -> String? {
        guard configuration.obeysCommands else { return "commands are switched off ('cmd' is false)" }
        if trackers[received.tracker].configuration.encryptionKey != nil, !received.wasEncrypted {
            return "it came unencrypted, and this tracker has an encryption key"
        }
        if command.needsRemoteConfiguration, !configuration.allowsRemoteConfiguration {
            return "'remoteConfiguration' is false"
        }
        // A retained command comes again at every connection; setWaypoints alone bears that.
        if received.isRetained, !command.isSafeToRepeat { return "the broker had retained it" }
        return nil
    }

    private mutating func refuse(_ received: ReceivedCommand, _ reason: String) -> [Effect] {
        counters.commandsRefused += 1
        let topic = trackers[received.tracker].topics.command
        return [.log(LogEntry(.warning, "command-refused", "command on \(topic) refused: \(reason)"))]
    }

    /// Merges regions that came in a command, and tells what was wrong with them.
    package mutating func setWaypoints(
        _ reading: WaypointsReading, of tracker: Int, at now: MonotonicInstant
    ) -> [Effect] {
        counters.waypointsRefused += UInt64(reading.problemCount)
        var effects = reading.problems.prefix(10).map { problem in
            Effect.log(LogEntry(.warning, "waypoint-refused", "setWaypoints: \(problem)"))
        }
        if reading.problemCount > 10 {
            effects.append(
                .log(LogEntry(.warning, "waypoint-refused", "setWaypoints: and \(reading.problemCount - 10) more")))
        }
        return effects + change(reading.changes, of: tracker, at: now)
    }

    /// Regions of all trackers together. Ten thousand of a large site take about 20 MB; many commands, each within
    /// its own limits, must not fill the machine.
    package static let mostRegions = 50_000

    /// Merges changes into a tracker's regions, as one step; none of them if they would make too many.
    package mutating func change(_ changes: [RegionChange], of tracker: Int, at now: MonotonicInstant) -> [Effect] {
        var regions = trackers[tracker].regions
        let difference = regions.apply(changes)
        let others = trackers.reduce(0) { $0 + $1.regions.regions.count } - trackers[tracker].regions.regions.count
        guard others + regions.regions.count <= Self.mostRegions || difference.inserted.isEmpty else {
            counters.waypointsRefused += UInt64(difference.inserted.count)
            let text = "these would be \(others + regions.regions.count) regions; \(Self.mostRegions) are possible"
            return [.log(LogEntry(.warning, "regions-refused", "regions: nothing is changed: \(text)"))]
        }
        return replaceRegions(of: tracker, by: regions, difference, at: now)
    }

    private mutating func clearWaypoints(of tracker: Int, at now: MonotonicInstant) -> [Effect] {
        var regions = trackers[tracker].regions
        let difference = regions.removeAll()
        return replaceRegions(of: tracker, by: regions, difference, at: now)
    }

    /// Puts a tracker's new regions in force: whoever is inside one that goes leaves it first.
    private mutating func replaceRegions(
        of tracker: Int, by regions: RegionSet, _ difference: RegionDifference, at now: MonotonicInstant
    ) -> [Effect] {
        let text =
            "\(difference.inserted.count) new, \(difference.updated.count) changed, "
            + "\(difference.removed.count) removed; \(regions.regions.count) regions now"
        var effects: [Effect] = [.log(LogEntry(.info, "regions", "regions: \(text)"))]
        guard !difference.isEmpty else { return effects }
        // What is left by this still goes by its old name.
        trackers[tracker].former = trackers[tracker].regions
        trackers[tracker].regions = regions
        effects += monitor(at: now)
        trackers[tracker].former = nil
        effects.append(.regions(tracker: tracker, regions))
        return effects + tell(notes(of: difference, tracker: tracker), at: now)
    }

    private func waypoints(of tracker: Int, at now: MonotonicInstant) -> Effect {
        publish(
            .reply, of: tracker, on: trackers[tracker].topics.waypoints,
            bytes: waypointsBytes(trackers[tracker].regions.regions, base: configuration.numberBase), at: now)
    }
}

extension Region {
    var isBeacon: Bool {
        if case .beacon = kind { true } else { false }
    }
}

extension OwnTracks.Command {
    /// Whether carrying it out again, at any later time, changes nothing.
    fileprivate var isSafeToRepeat: Bool {
        if case .setWaypoints = self { true } else { false }
    }
}
