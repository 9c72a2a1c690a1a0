import Base
import Beacon
import Configuration
import Identities
import JSON
import OwnTracks
import Presence
import Regions

/// The trackers of the gateway, by their indices in the settings.
///
/// It knows what all of them listen for and who is inside, and decides what a decision of the presence engine or a change of
/// regions means for them.
package struct Trackers: Sendable {
    private var states: [TrackerState]

    init(_ states: [TrackerState]) { self.states = states }

    init(of settings: Configuration) {
        states = settings.trackers.map { TrackerState($0, monitoring: settings.monitoring) }
    }

    /// The trackers with what is stored of them.
    init(_ stored: StoredState, at now: MonotonicInstant) {
        states = stored.configuration.trackers.indices.map { TrackerState(at: $0, in: stored, at: now) }
    }

    // MARK: - What they listen for

    /// Regions of all trackers.
    var regionCount: Int { states.reduce(0) { $0 + $1.regions.regions.count } }

    var topics: [String] { states.map(\.topics.base) }

    var devices: [String] { states.map(\.configuration.deviceID) }

    /// What the regions listen for beside iBeacons, each once, for the radio.
    var identities: [Identity] {
        var known: Set<Identity> = []
        return states.flatMap { $0.regions.regions.compactMap(\.identity) }.filter { known.insert($0).inserted }
    }

    /// The beacon regions, with every default filled in.
    ///
    /// - Parameter phones: The UUIDs of phones and watches whose keys are known. Their regions are left later than those of
    ///   beacons.
    func monitoredRegions(by settings: Configuration, phones: Set<BeaconUUID>) -> [MonitoredRegion] {
        states.enumerated().flatMap { index, tracker in
            tracker.regions.regions.compactMap { region -> MonitoredRegion? in
                guard case .beacon(let pattern) = region.kind else { return nil }
                let (enter, leave) = region.thresholds(by: settings)
                var monitored = MonitoredRegion(
                    key: RegionKey(tracker: index, rid: region.rid),
                    pattern: pattern.cleared(of: settings.batteryMasks),
                    leaveRule: region.leaveRule ?? settings.leaveRule,
                    leavesLater: region.asksForLongerLeave,
                    enterRSSI: enter, leaveRSSI: leave)
                monitored.isOfPhone = phones.contains(pattern.uuid)
                return monitored
            }
        }
    }

    /// nil if the region does not exist any more.
    func region(_ key: RegionKey) -> Region? {
        states.indices.contains(key.tracker) ? states[key.tracker].regions[rid: key.rid] : nil
    }

    /// nil if the region does not exist any more.
    func crowdedRegion(_ key: RegionKey) -> CrowdedRegion? {
        region(key).map { CrowdedRegion(topic: states[key.tracker].topics.base, region: $0.displayName) }
    }

    /// The names of the regions that a beacon belongs to, one for each region: at most `Gateway.mostNamedRegions`.
    func names(of beacon: BeaconID, by engine: PresenceEngine) -> [String] {
        engine.regions(of: beacon, most: Gateway.mostNamedRegions).compactMap { region($0)?.displayName }
    }

    /// The same, each once.
    func distinctNames(of beacon: BeaconID, by engine: PresenceEngine) -> [String] {
        var known: Set<String> = []
        return names(of: beacon, by: engine).filter { known.insert($0).inserted }
    }

    /// When the next location of any tracker is due; nil: none is.
    func locationDue(by settings: Configuration) -> MonotonicInstant? {
        states.compactMap { $0.locationDue(by: settings) }.min()
    }

    /// When the next clear of any tracker is due; nil: none waits.
    var clearDue: MonotonicInstant? { states.compactMap(\.pendingClear?.due).min() }

    // MARK: - Presence

    /// A decision of the presence engine as a transition of a tracker; nil: its region no longer exists.
    func transition(_ decision: PresenceEngine.Effect, at now: MonotonicInstant) -> PendingTransition? {
        let (key, isEnter, beacon, rssi): (RegionKey, Bool, BeaconID, RSSI?)
        var reason: LeaveReason?
        switch decision {
        case .entered(let region, let sighting):
            (key, isEnter, beacon, rssi) = (region, true, sighting.beacon, sighting.rssi)
        case .left(let region, let last, let because):
            (key, isEnter, beacon, rssi, reason) = (region, false, last, nil, because)
        case .dropped: return nil
        }
        guard states.indices.contains(key.tracker) else { return nil }
        let regions = states[key.tracker]
        guard let region = (isEnter ? nil : regions.former)?[rid: key.rid] ?? regions.regions[rid: key.rid] else {
            return nil
        }
        return PendingTransition(
            key: key, isEnter: isEnter, region: region, beacon: beacon, rssi: rssi, instant: now, leaveReason: reason)
    }

    /// Changes the tracker of a transition.
    ///
    /// - Returns: the circles that the tracker crosses by it: it is elsewhere while no beacon is near.
    mutating func apply(_ transition: PendingTransition, standing: Position, at now: MonotonicInstant)
        -> [PendingTransition]
    {
        let index = transition.key.tracker
        guard states.indices.contains(index) else { return [] }
        let before = states[index].position(standing: standing)
        states[index].apply(transition)
        guard states[index].position(standing: standing) != before else { return [] }
        return crossCircles(of: index, standing: standing, at: now)
    }

    /// The circle transitions of a tracker after a change of its position or regions.
    mutating func crossCircles(of index: Int, standing: Position, at now: MonotonicInstant) -> [PendingTransition] {
        states[index].crossCircles(standing: standing).map { region, isEnter in
            PendingTransition(
                key: RegionKey(tracker: index, rid: region.rid), isEnter: isEnter, region: region, beacon: nil,
                rssi: nil, instant: now, leaveReason: nil)
        }
    }

    /// The occupancy as a command that does not listen knows it. Before circles are crossed: a tracker with `away` is at the gateway only
    /// while it is inside.
    mutating func restore(_ occupancy: [[ExactString: Occupancy]]) {
        for (index, regions) in occupancy.enumerated() where states.indices.contains(index) {
            states[index].restore(regions)
        }
    }

    /// Expresses the begins of occupancies and absences by the wall clock, if it is known.
    mutating func makeBeginsExact(by clock: WallClock, at now: MonotonicInstant) {
        for index in states.indices { states[index].makeBeginsExact(by: clock, at: now) }
    }

    /// Forgets what is kept of regions that no longer exist.
    mutating func forgetRemovedRegions() { for index in states.indices { states[index].forgetRemovedRegions() } }

    mutating func endChanges() { for index in states.indices { states[index].endChange() } }

    // MARK: - States that are withheld

    /// The devices of trackers whose states are withheld.
    func hiddenDevices(by settings: Configuration, at now: MonotonicInstant) -> Set<ExactString> {
        Set(states.indices.filter { states[$0].hidesStates(by: settings, at: now) }.map(device))
    }

    /// Empties the states that are withheld: the broker may have them since a time with another mode or other settings,
    /// and would keep sending them.
    ///
    /// Another tracker of the same device, of which `config check` warns, may show the state of a region of the same id.
    ///
    /// - Parameter hidden: Devices whose states were withheld before as well.
    func withdrawalsOfHiddenStates(
        besides hidden: Set<ExactString>, by settings: Configuration, at now: MonotonicInstant
    ) -> [RegionAnnouncement] {
        let isHidden = states.map { $0.hidesStates(by: settings, at: now) }
        let showing = Dictionary(grouping: states.indices.filter { !isHidden[$0] }, by: device)
        return states.indices.flatMap { index -> [RegionAnnouncement] in
            guard isHidden[index], !hidden.contains(device(of: index)) else { return [] }
            let others = showing[device(of: index)] ?? []
            let rids = states[index].regions.regions.filter(\.isBeacon).map(\.rid).filter { rid in
                !others.contains { states[$0].regions[rid: rid]?.isBeacon == true }
            }
            let device = states[index].configuration.deviceID
            return rids.map { .withdrawal(device: device, tracker: index, rid: $0) }
        }
    }

    private func device(of index: Int) -> ExactString { ExactString(states[index].configuration.deviceID) }

    /// Switches the monitoring mode of a tracker.
    ///
    /// - Returns: What is stored, and the states that are announced or withdrawn; nothing if the tracker has this mode.
    mutating func switchMonitoring(
        of index: Int, to mode: MonitoringMode, by settings: Configuration, at now: MonotonicInstant
    ) -> (stored: [Gateway.Effect], announcements: [RegionAnnouncement]) {
        guard states[index].monitoring != mode else { return ([], []) }
        let hidden = hiddenDevices(by: settings, at: now)
        let wasHidden = states[index].hidesStates(by: settings, at: now)
        states[index].switchMonitoring(to: mode)
        let announcements =
            wasHidden
            ? RegionAnnouncement.states(of: states[index].regions.regions, tracker: index)
            : withdrawalsOfHiddenStates(besides: hidden, by: settings, at: now)
        return ([states[index].storedMonitoring(settings.monitoring)], announcements)
    }

    // MARK: - Regions

    /// Begins to merge the regions of the settings into those of the trackers. The change lasts until `endChanges`.
    ///
    /// - Parameter spared: The indices of trackers whose regions stay as they are.
    /// - Returns: `refused`: the number of regions for which there is no room.
    mutating func mergeConfiguredRegions(by messages: Messages, besides spared: Set<Int>) -> (
        effects: [Gateway.Effect], announcements: [RegionAnnouncement], refused: UInt64
    ) {
        var (effects, announced, refused): ([Gateway.Effect], [RegionAnnouncement], UInt64) = ([], [], 0)
        var total = regionCount
        for index in states.indices where !spared.contains(index) {
            let changes = states[index].configuration.waypoints.changes
            let merge = states[index].merging(changes, total: total, epoch: messages.epoch)
            effects += states[index].keep(merge.rids)
            guard !merge.difference.isEmpty else { continue }
            guard !merge.isRefused else {
                refused += merge.refused
                effects.append(merge.refusal)
                continue
            }
            total = merge.total
            states[index].replaceRegions(by: merge.regions)
            effects.append(.regions(topic: states[index].topics.base, merge.regions))
            announced += announcements(of: merge.difference, tracker: index, by: messages.settings)
        }
        return (effects, announced, refused)
    }

    /// The announcements after a change of a tracker's regions.
    func announcements(of difference: RegionDifference, tracker: Int, by settings: Configuration)
        -> [RegionAnnouncement]
    {
        RegionAnnouncement.after(
            difference, of: tracker, device: states[tracker].configuration.deviceID,
            publishesWaypoints: settings.broker.publishesWaypoints)
    }

    // MARK: - Locations

    /// The present locations: the broker has forgotten the session, and perhaps what it retained. With
    /// `cleanSession` it forgets the session with each connection; then they are not published more often than once a minute.
    mutating func locationsAgain(by messages: Messages) -> [Gateway.Effect] {
        let broker = messages.settings.broker
        // A server of HTTP has no sessions, and retains nothing.
        guard broker.retainsLocations, broker.endpoint == nil else { return [] }
        var effects: [Gateway.Effect] = []
        for index in states.indices
        where states[index].position(standing: messages.settings.position).isKnown {
            let isFrequent = states[index].lastLocation.duration(to: messages.now) < .seconds(60)
            guard !broker.cleanSession || !isFrequent else { continue }
            effects += states[index].location(.periodic, by: messages)
        }
        return effects
    }
}

extension Trackers: RandomAccessCollection {
    package var startIndex: Int { states.startIndex }
    package var endIndex: Int { states.endIndex }

    package internal(set) subscript(index: Int) -> TrackerState {
        get { states[index] }
        // In place: a copy of a tracker would copy all its regions.
        _modify { yield &states[index] }
    }
}
