package import Beacon
package import OwnTracks
internal import Presence
package import Regions

/// Everything the gateway decides: sightings, commands and time in; messages, records and changes out.
///
/// It reads no clock, opens no file and knows no socket, so that every behaviour can be replayed.
package struct Gateway: Sendable {
    package internal(set) var configuration: Configuration
    package internal(set) var trackers: [TrackerState]
    package internal(set) var counters = Counters()
    var engine = PresenceEngine()
    package internal(set) var wallClock: WallClock
    private var latest = MonotonicInstant.zero
    /// What `status` says of the program and the machine, besides what the gateway knows itself.
    package var about: [String: JSONValue] = [:]
    /// Whether each transition is explained in the debug log. Who reads no debug log saves the words.
    package let explainsTransitions: Bool
    /// The beacon regions in force and the way to find them: for ranging, which presence does not need.
    var monitored: [MonitoredRegion] = []
    var index = RegionIndex([])
    /// What is still to be told of regions.
    var notes = NoteQueue()
    var ranging: RangingThrottle
    /// So many changes of presence may still be kept beside the last whole of it.
    var changesLeft = 0
    /// Regions that somebody entered or left since presence was last kept.
    var changedRegions: [RegionKey] = []
    /// Whether the state of all regions was told since the start.
    private var hasAnnounced = false

    package init(configuration: Configuration, wallClock: WallClock, explainsTransitions: Bool = true) {
        self.configuration = configuration
        self.wallClock = wallClock
        self.explainsTransitions = explainsTransitions
        ranging = RangingThrottle(interval: configuration.rangingInterval)
        trackers = configuration.trackers.map { TrackerState($0, monitoring: configuration.monitoring) }
    }

    /// When `tick` has something to decide; nil while nothing is pending.
    package var nextDeadline: MonotonicInstant? {
        guard let due = notes.due else { return engine.nextDeadline }
        return min(due, engine.nextDeadline ?? due)
    }

    /// Takes one input at `now`. Time does not go backwards: an instant before the previous one (a report
    /// that waited in a socket) counts as that one.
    ///
    /// - Parameter moved: Called when a sighting or the time makes somebody come or go, before it is put into words:
    ///   who carries out the effects can use the meantime to get ready.
    package mutating func handle(_ input: Input, at instant: MonotonicInstant, moved: () -> Void = {}) -> [Effect] {
        let now = max(instant, latest)
        latest = now
        switch input {
        case .sighting(let sighting):
            counters.sightings += 1
            let effects = presence(.sighting(sighting), at: now, moved: moved)
            return configuration.ranging ? effects + range(sighting, at: now) : effects
        case .listening(let receiver, let isListening):
            return presence(.listening(receiver, isListening), at: now)
        case .scanDuty(let receiver, let duty):
            return presence(.scanDuty(receiver, duty), at: now)
        case .slept(let duration):
            return presence(.slept(duration), at: now)
        case .tick:
            return presence(.tick, at: now, moved: moved) + tellDueNotes(at: now)
        case .wallClock(let clock):
            // The times since which people are inside were kept by the other.
            if !clock.isCloseTo(wallClock) { forgetKeptPresence() }
            wallClock = clock
            return []
        case .command(let command):
            return presence(.tick, at: now) + obey(command, at: now)
        case .brokerConnected(let isNew):
            defer { hasAnnounced = true }
            return presence(.tick, at: now) + (isNew || !hasAnnounced ? announce(at: now, isAgain: hasAnnounced) : [])
        case .homeAssistantStarted:
            return presence(.tick, at: now) + announce(at: now, isAgain: true)
        case .configuration(let configuration):
            return presence(.tick, at: now) + reconfigure(configuration, at: now)
        }
    }

    /// Begins with the regions that were kept, and those of the configuration merged into them.
    ///
    /// - Parameters:
    ///   - stored: The regions of each tracker as the store has them.
    ///   - monitoring: The monitoring mode of each tracker, if it was switched.
    ///   - kept: Who was where, if that is known.
    ///   - isSameBoot: Whether instants in `kept` are of this boot's clock.
    ///   - now: The time.
    package mutating func start(
        stored: [RegionSet], monitoring: [MonitoringMode?] = [], kept: KeptPresence? = nil, isSameBoot: Bool = false,
        at now: MonotonicInstant
    ) -> [Effect] {
        for (tracker, regions) in stored.enumerated() where trackers.indices.contains(tracker) {
            trackers[tracker].regions = regions
        }
        for (tracker, mode) in monitoring.enumerated() where trackers.indices.contains(tracker) {
            trackers[tracker].monitoring = mode ?? trackers[tracker].monitoring
        }
        guard let kept else { return mergeConfiguredRegions(at: now) }
        // First as it was; what the configuration changes may make somebody leave.
        let effects = monitor(at: now) + restore(kept, isSameBoot: isSameBoot, at: now)
        return effects + mergeConfiguredRegions(at: now)
    }

    mutating func mergeConfiguredRegions(at now: MonotonicInstant) -> [Effect] {
        var effects: [Effect] = []
        var notes: [RegionNote] = []
        for tracker in trackers.indices {
            var regions = trackers[tracker].regions
            let difference = regions.apply(trackers[tracker].configuration.waypoints.changes)
            guard !difference.isEmpty else { continue }
            trackers[tracker].former = trackers[tracker].regions
            trackers[tracker].regions = regions
            effects.append(.regions(tracker: tracker, regions))
            notes += self.notes(of: difference, tracker: tracker)
        }
        let left = monitor(at: now)
        for tracker in trackers.indices { trackers[tracker].former = nil }
        return left + effects + tell(notes, at: now)
    }

    /// Tells the engine which regions there are now.
    mutating func monitor(at now: MonotonicInstant) -> [Effect] {
        monitored = monitoredRegions
        forgetKeptPresence()
        // Presence has an index of its own; this one would only cost memory.
        index = RegionIndex(configuration.ranging ? monitored.map(\.pattern) : [])
        return presence(.regions(monitored), at: now)
    }

    /// The beacon regions of all trackers, with every default filled in.
    private var monitoredRegions: [MonitoredRegion] {
        trackers.enumerated().flatMap { position, tracker in
            tracker.regions.regions.compactMap { region -> MonitoredRegion? in
                guard case .beacon(let pattern) = region.kind else { return nil }
                return MonitoredRegion(
                    key: RegionKey(tracker: position, rid: region.rid),
                    pattern: pattern,
                    leaveRule: region.leaveRule ?? configuration.leaveRule,
                    holdsLonger: region.asksForLongerLeave,
                    enterRSSI: region.enterRSSI ?? configuration.enterRSSI,
                    leaveRSSI: region.leaveRSSI ?? configuration.leaveRSSI)
            }
        }
    }

    /// Lets the presence engine decide, and turns what it decides into messages and records.
    mutating func presence(
        _ input: PresenceEngine.Input, at now: MonotonicInstant, moved: () -> Void = {}
    ) -> [Effect] {
        let decisions = engine.handle(input, at: now)
        guard !decisions.isEmpty else { return [] }
        moved()
        return carryOut(decisions, at: now)
    }

    /// Turns decisions into messages and records.
    mutating func carryOut(_ decisions: [PresenceEngine.Effect], at now: MonotonicInstant) -> [Effect] {
        var effects: [Effect] = []
        for decision in decisions {
            switch decision {
            case .entered(let key, let sighting):
                counters.enters += 1
                enter(key, by: sighting, at: now, &effects)
            case .left(let key, let beacon):
                counters.leaves += 1
                leave(key, last: beacon, at: now, &effects)
            }
        }
        return effects
    }
}
