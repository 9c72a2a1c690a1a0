package import Base
import Beacon
package import Configuration
import JSON
import OwnTracks
import Presence
import Regions

extension Gateway {
    /// Applies another configuration. Regions and presence stay with their trackers.
    ///
    /// - Parameter modes: As of `Input.configuration`.
    mutating func reconfigure(
        _ new: Configuration, _ modes: [ExactString: MonitoringMode], at now: MonotonicInstant
    ) -> [Effect] {
        var effects = finishClears(at: now)
        let origins = origins(of: new.trackers)
        let hidden = hiddenDevices(at: now)
        var states: [TrackerState] = []
        var returned: [Int] = []
        for (settings, origin) in zip(new.trackers, origins) {
            guard let origin else {
                var state = TrackerState(settings, monitoring: new.monitoring)
                if let former = removed.take(settings.topics.base) {
                    state = TrackerState(settings, monitoring: new.monitoring, continuing: former)
                    state.makeBeginsExact(by: wallClock, at: now)
                    // The store may be a new one since.
                    effects += [.regions(topic: state.topics.base, state.regions), state.storedAppliedCommands]
                    effects.append(state.storedMonitoring(new.monitoring))
                    returned.append(states.count)
                }
                state.lastLocation = now
                states.append(state)
                continue
            }
            let old = trackers[origin]
            // A mode that a region switched to stays, unless the new settings change the mode.
            let monitoring =
                modes[settings.topics.base]
                ?? (new.monitoring == configuration.monitoring ? old.monitoring : new.monitoring)
            let state = old.reconfigured(settings, monitoring: monitoring)
            // Regions and mode are stored under the topic of the tracker.
            let hasMoved = old.topics != state.topics
            if hasMoved { effects += [.regions(topic: state.topics.base, old.regions), state.storedAppliedCommands] }
            if hasMoved { effects += Self.forgotten(topic: old.topics.base, setting: new.monitoring) }
            if hasMoved || new.monitoring != configuration.monitoring {
                effects.append(state.storedMonitoring(new.monitoring))
            }
            states.append(state)
        }
        let abandoned = abandonedStates(origins, new.trackers)
        renameTrackers(origins)
        let kept = Set(origins.compactMap(\.self))
        let crowdedOut = removed.keep(
            trackers.indices.filter { !kept.contains($0) }.map {
                RemovedTracker(trackers[$0], setting: configuration.monitoring)
            })
        let devices = servedDevices
        configuration = new
        trackers = states
        ranging = RangingThrottle(interval: new.rangingInterval)
        effects += forgotten(crowdedOut) + resume(returned, at: now) + mergeConfiguredRegions(at: now)
        effects += trimRemoved()
        effects += publish(abandoned, at: now) + announce(at: now, isAgain: false, hidden: hidden)
        // These devices are first served here. With the same devices the hardware stays: this may be a copied card.
        if let hardware, devices != servedDevices { effects.append(.value(key: Self.servedHardwareKey, hardware)) }
        // A tracker may exist now for edits that wait.
        return effects + [
            .value(key: Self.servedTopicsKey, servedTopics), .value(key: Self.servedDevicesKey, servedDevices),
            .value(key: Self.removedTopicsKey, removed.topicsBytes), .rereadEdits,
        ]
    }

    /// Under this key the service stores the topics of removed trackers, as a JSON array for its next start. What is stored
    /// under any other topic was left by a version of the program that did not empty the former topic of a tracker.
    package static let removedTopicsKey = "removed topics"

    /// Forgets the earliest removed trackers where there are too many regions, in the store too.
    mutating func trimRemoved() -> [Effect] {
        let topics = removed.trim(toRegions: Self.mostRegions - regionCount)
        guard !topics.isEmpty else { return [] }
        return forgotten(topics) + [.value(key: Self.removedTopicsKey, removed.topicsBytes)]
    }

    func forgotten(_ topics: [String]) -> [Effect] {
        topics.flatMap { Self.forgotten(topic: $0, setting: configuration.monitoring) }
    }

    /// Empties what is stored under a topic that a tracker no longer has. Another tracker may get this topic later.
    ///
    /// - Parameter setting: The setting `monitoring` in force.
    static func forgotten(topic: String, setting: MonitoringMode) -> [Effect] {
        [
            .regions(topic: topic, RegionSet()),
            .value(key: AppliedCommands.storeKey(of: topic), AppliedCommands().bytes),
            .monitoring(topic: topic, KeptMonitoring(setting, setting: setting)),
        ]
    }

    /// Whoever was inside regions of trackers that return is inside again, without an enter, until silence counts.
    ///
    /// This comes before the regions of the configuration are merged, because that may end an occupancy.
    private mutating func resume(_ returned: [Int], at now: MonotonicInstant) -> [Effect] {
        var occupied: [(region: RegionKey, beacon: BeaconID)] = []
        for position in returned {
            for (rid, occupancy) in trackers[position].occupancy.sorted(by: { $0.key < $1.key }) {
                occupied.append((RegionKey(tracker: position, rid: rid.text), occupancy.beacon))
            }
        }
        guard !occupied.isEmpty else { return [] }
        let effects = monitor(at: now)
        let left = engine.resume(occupied: occupied, at: now)
        return effects + carryOut(left, at: now)
    }

    /// For each tracker of other settings the position of the present tracker that it continues.
    package func origins(of new: [TrackerConfiguration]) -> [Int?] {
        Self.origins(of: new.map(\.topics.base), among: trackers.map(\.topics.base), returning: removed.topics)
    }

    /// For each topic of a new tracker the position of the old tracker that it continues: the old tracker with the same
    /// topic, else the old tracker at the same position if its topic no longer exists (it got another topic).
    ///
    /// - Parameter returning: The topics of removed trackers. A tracker with one of these continues that one.
    package static func origins(of new: [String], among old: [String], returning: Set<ExactString>) -> [Int?] {
        let (after, before) = (new.map { ExactString($0) }, old.map { ExactString($0) })
        let positions = Dictionary(before.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }
        let present = Set(after)
        return after.indices.map { position in
            if let same = positions[after[position]] { return same }
            guard before.indices.contains(position), !present.contains(before[position]),
                !returning.contains(after[position])
            else { return nil }
            return position
        }
    }

    /// Renames the keys of the engine, and the positions of trackers in all that waits: transitions, announcements and
    /// commands.
    private mutating func renameTrackers(_ origins: [Int?]) {
        guard origins.count != trackers.count || origins.enumerated().contains(where: { $0.offset != $0.element })
        else { return }
        var positions: [Int: Int] = [:]
        for (position, origin) in origins.enumerated() { if let origin { positions[origin] = position } }
        engine.rename { key in
            // A removed tracker gets a unique key. Its leaves are not published.
            RegionKey(tracker: positions[key.tracker] ?? -1 - key.tracker, rid: key.rid)
        }
        transitions.replace { transition in
            var renamed = transition
            guard let position = positions[transition.key.tracker] else { return nil }
            renamed.key = RegionKey(tracker: position, rid: transition.key.rid)
            return renamed
        }
        announcements.replace { $0.moved(to: positions) }
        commands.moveTrackers(to: positions)
    }

    /// Withdrawals of the retained states of trackers that were removed, or have another device now.
    private func abandonedStates(_ origins: [Int?], _ new: [TrackerConfiguration]) -> [RegionAnnouncement] {
        let successors = Dictionary(origins.enumerated().compactMap { new, old in old.map { ($0, new) } }) { first, _ in
            first
        }
        return trackers.indices.flatMap { position -> [RegionAnnouncement] in
            let device = trackers[position].configuration.deviceID
            let successor = successors[position]
            guard successor.map({ new[$0].deviceID.hasSameBytes(as: device) }) != true else { return [] }
            return Self.withdrawals(of: trackers[position].regions, device: device, sender: successor)
        }
    }

    /// Withdrawals of the retained states of trackers that were removed, or got another device, while the service did not
    /// run. On a copied card these states belong to a gateway that still runs, so hardware that is not known to be the same withdraws nothing.
    func abandonedStates(before stored: StoredState) -> [RegionAnnouncement] {
        guard stored.isOnSameHardware == true else { return [] }
        let topics = stored.topics.isEmpty ? trackers.map(\.topics.base) : stored.topics
        return zip(StoredState.texts(stored.servedTopics), StoredState.texts(stored.servedDevices)).flatMap {
            topic, device -> [RegionAnnouncement] in
            let successor = topics.firstIndex { $0.hasSameBytes(as: topic) }
            guard let successor, trackers.indices.contains(successor) else {
                let former = stored.removed.first { $0.topic.hasSameBytes(as: topic) }
                return former.map { Self.withdrawals(of: $0.regions, device: device, sender: nil) } ?? []
            }
            guard !trackers[successor].configuration.deviceID.hasSameBytes(as: device) else { return [] }
            return Self.withdrawals(of: trackers[successor].regions, device: device, sender: successor)
        }
    }

    /// - Parameter sender: The position of the tracker that sends them; nil: it is no more.
    private static func withdrawals(of regions: RegionSet, device: String, sender: Int?) -> [RegionAnnouncement] {
        regions.regions.filter(\.isBeacon).map { .withdrawal(device: device, tracker: sender ?? 0, rid: $0.rid) }
    }
}

extension StoredState {
    /// Whether this hardware served the devices; nil: not known.
    package var isOnSameHardware: Bool? { servedHardware.flatMap { served in hardware.map { $0 == served } } }

    /// Whether this may be a copy of the state of another gateway that still runs: both the hardware and the gateway's device differ. A
    /// gateway that was moved and renamed looks the same.
    var isCopy: Bool {
        guard isOnSameHardware == false, let served = Self.texts(servedDevices).first,
            let own = configuration.trackers.first
        else { return false }
        return !own.deviceID.hasSameBytes(as: served)
    }

    /// The `deviceId` with which the gateway ran last; nil: it has not run, or an earlier version did.
    package var servedDevice: String? { Self.texts(servedDevices).first }

    /// The texts of a stored JSON array.
    fileprivate static func texts(_ bytes: [UInt8]?) -> [String] {
        bytes.flatMap { try? JSONValue(parsing: $0) }?.array?.compactMap(\.string) ?? []
    }
}
