package import Base
package import Configuration
package import OwnTracks
import Presence
package import Regions

/// One identity on the radio: its configuration, its regions, which of them are occupied, and what waits to be published of it.
///
/// It decides what its transitions and its position mean for it, and whether an event of it may be published.
package struct TrackerState: Sendable {
    package private(set) var configuration: TrackerConfiguration
    package private(set) var regions = RegionSet()
    /// The previous regions, during a change: transitions that the change causes use their names.
    private(set) var former: RegionSet?
    /// The regions that a beacon occupies.
    package private(set) var occupancy: [ExactString: Occupancy] = [:]
    /// The circles that the tracker is in.
    package private(set) var circles: [ExactString: OccupancyBegin] = [:]
    /// When each beacon region that is now empty was left. Regions that were never occupied are not listed.
    private(set) var absences: [ExactString: OccupancyBegin] = [:]
    /// `rid`s of the circles as decided. The decision may not be carried out yet.
    private(set) var decidedCircles: Set<ExactString> = []
    /// The locations that follow the transitions of one second.
    private var locations = LocationBurst()
    /// The regions that a `clearWaypoints` is about to remove.
    private(set) var pendingClear: PendingClear?
    /// Commands that the broker may send again because it retains them.
    private(set) var appliedCommands = AppliedCommands()
    /// When the tracker's location was published last, or when the tracker was created.
    private(set) var lastLocation: MonotonicInstant
    /// The monitoring mode in force; `Name|1|2` regions switch it.
    package private(set) var monitoring: MonitoringMode

    init(_ configuration: TrackerConfiguration, monitoring: MonitoringMode, at now: MonotonicInstant = .zero) {
        self.configuration = configuration
        self.monitoring = monitoring
        lastLocation = now
    }

    /// A tracker with what is stored of it.
    ///
    /// - Parameter index: Of the tracker in the configuration.
    init(at index: Int, in stored: StoredState, at now: MonotonicInstant) {
        func element<Element>(of elements: [Element]) -> Element? {
            elements.indices.contains(index) ? elements[index] : nil
        }
        let setting = stored.configuration.monitoring
        let kept = element(of: stored.monitoring) ?? nil
        self.init(
            stored.configuration.trackers[index], monitoring: kept?.mode(for: setting) ?? setting, at: now)
        regions = element(of: stored.regions) ?? RegionSet()
        appliedCommands = element(of: stored.appliedCommands) ?? AppliedCommands()
        let rids = element(of: stored.pendingClears) ?? []
        pendingClear = rids.isEmpty ? nil : PendingClear(due: now, rids: rids)
    }

    /// A tracker that the settings contain again, with what it had.
    init(
        _ configuration: TrackerConfiguration, monitoring setting: MonitoringMode, continuing removed: RemovedTracker,
        by clock: WallClock, at now: MonotonicInstant
    ) {
        self.init(configuration, monitoring: removed.monitoring?.mode(for: setting) ?? setting, at: now)
        regions = removed.regions
        occupancy = removed.occupancy
        circles = removed.circles
        absences = removed.absences
        decidedCircles = Set(removed.circles.keys)
        appliedCommands = removed.appliedCommands
        makeBeginsExact(by: clock, at: now)
    }

    /// The same tracker with other settings. Its state stays.
    func reconfigured(_ configuration: TrackerConfiguration, monitoring: MonitoringMode) -> TrackerState {
        var state = self
        state.configuration = configuration
        state.monitoring = monitoring
        return state
    }

    package var topics: Topics { configuration.topics }

    // MARK: - What may be published

    /// Whether an event may be published at an instant. The only place that decides it: for transitions and
    /// their repetitions, locations that are due or shared, states, Home Assistant's entities, and readings. An event that is withheld is recorded
    /// nevertheless, if it is a transition.
    package func mayPublish(_ event: PublishedEvent, at instant: MonotonicInstant) -> Bool {
        monitoring.publishes(event)
    }

    /// Whether the states of the regions are withheld, because of the mode or the encryption key: content that
    /// is encrypted on one topic must not be readable on another, unless Home Assistant's discovery is on.
    func hidesStates(by settings: Configuration, at now: MonotonicInstant) -> Bool {
        !mayPublish(.regionState, at: now)
            || (configuration.encryptionKey != .absent && !settings.homeAssistant.discovery)
    }

    /// Why no location can be published on request at present.
    func reasonNotToReport(by settings: Configuration, at now: MonotonicInstant) -> String? {
        guard mayPublish(.location(.requested), at: now) else {
            return "reportLocation is not answered in \(monitoring) mode"
        }
        return position(standing: settings.position).isKnown ? nil : Self.placeIsUnknown
    }

    /// Why no location can be published.
    static let placeIsUnknown = "the place of this gateway is not set (lat, lon)"

    mutating func switchMonitoring(to mode: MonitoringMode) { monitoring = mode }

    // MARK: - Occupancy

    /// Since when a region is occupied, or the tracker is inside a circle; nil: neither.
    func begin(of rid: String) -> OccupancyBegin? { occupancy[rid]?.begin ?? circles[rid] }

    /// When a beacon region was last entered or left, over a restart, too; nil: that is not known.
    package func lastChange(of rid: String) -> MonotonicInstant? { (occupancy[rid]?.begin ?? absences[rid])?.since }

    /// Changes the occupancy by a transition. It may have waited while its region was removed: what is kept of a region asks
    /// whether the region is there.
    mutating func apply(_ transition: PendingTransition) {
        let rid = transition.key.rid
        let begin = OccupancyBegin(since: transition.instant)
        guard let beacon = transition.beacon else {
            circles[rid] = transition.isEnter ? begin : nil
            return
        }
        occupancy[rid] = transition.isEnter ? Occupancy(begin, beacon: beacon, rssi: transition.rssi) : nil
        let isEmpty = !transition.isEnter && regions[rid: rid]?.isBeacon == true
        absences[rid] = isEmpty ? begin : nil
    }

    /// Decides which circles the tracker has entered and left, by comparing the circles around its position with the
    /// previous ones. The leaves come first.
    mutating func crossCircles(standing: Position) -> [(region: Region, isEnter: Bool)] {
        let here = position(standing: standing)
        let around = here.isKnown ? regions.regions.filter { $0.contains(here.coordinates) } : []
        let inside = Set(around.map { ExactString($0.rid) })
        let before = decidedCircles
        guard inside != before else { return [] }
        decidedCircles = inside
        let left = (former ?? regions).regions.filter { before.contains($0.rid) && !inside.contains($0.rid) }
        return left.map { ($0, false) } + around.filter { !before.contains($0.rid) }.map { ($0, true) }
    }

    /// An occupied region, a circle or an absence from before the start.
    mutating func restore(_ kept: KeptPresence.Occupancy, since begin: OccupancyBegin) {
        if kept.isOutside {
            // Which regions still exist is known only after the configured ones have been merged.
            absences[kept.rid] = begin
        } else if let beacon = kept.beacon {
            occupancy[kept.rid] = Occupancy(begin, beacon: beacon, rssi: kept.rssi)
        } else if regions[rid: kept.rid]?.kind == .circular {
            circles[kept.rid] = begin
            decidedCircles.insert(ExactString(kept.rid))
        }
    }

    /// The occupancy as a command that does not listen knows it.
    mutating func restore(_ occupancy: [ExactString: Occupancy]) { self.occupancy = occupancy }

    /// The region is no longer occupied, and has no leave.
    mutating func forgetOccupancy(of rid: ExactString) { occupancy[rid] = nil }

    /// Forgets what is kept of regions that no longer exist.
    mutating func forgetRemovedRegions() {
        absences = absences.filter { regions[rid: $0.key.text]?.isBeacon == true }
    }

    /// Expresses the begins of occupancies and absences by the wall clock, if it is known.
    mutating func makeBeginsExact(by clock: WallClock, at now: MonotonicInstant) {
        occupancy = occupancy.mapValues { occupancy in
            Occupancy(occupancy.begin.exact(by: clock, at: now), beacon: occupancy.beacon, rssi: occupancy.rssi)
        }
        circles = circles.mapValues { $0.exact(by: clock, at: now) }
        absences = absences.mapValues { $0.exact(by: clock, at: now) }
    }

    /// The position of the tracker: the gateway's, or, while no beacon is near, the away position if one is set.
    ///
    /// After a leave, a location with the gateway's own coordinates would move the tracker back home.
    func position(standing: Position) -> Position {
        guard occupancy.isEmpty, let away = configuration.away else { return standing }
        return away
    }

    /// The regions that the tracker is in, in their order, at most as many as a location lists: the regions that a
    /// beacon occupies, and the circles around the tracker's position.
    ///
    /// In a crowd 32 locations follow one another. A search through all regions for each of them would take longer than
    /// all other work.
    func inside(standing: Position) -> [Region] {
        guard let former else {
            let most = Location.mostRegions
            // A few regions are looked up by `rid`. Of many, the first are found soon.
            guard occupancy.count + decidedCircles.count > most else {
                return regions.inOrder(decidedCircles.union(occupancy.keys)).filter { $0.kind != .follow }
            }
            var inside: [Region] = []
            for region in regions.regions where inside.count < most {
                let rid = ExactString(region.rid)
                guard occupancy[rid] != nil || decidedCircles.contains(rid) else { continue }
                if region.kind != .follow { inside.append(region) }
            }
            return inside
        }
        let here = position(standing: standing)
        // The occupancy still refers to the old regions; circles are the new ones.
        let occupied = former.regions.lazy.filter { occupancy[$0.rid] != nil && !isAround(here, $0) }
        let around = regions.regions.lazy.filter { isAround(here, $0) }
        let inside = Array(occupied.prefix(Location.mostRegions)) + around.prefix(Location.mostRegions)
        return Array(inside.prefix(Location.mostRegions))
    }

    /// Whether a region is a circle around a position.
    private func isAround(_ place: Position, _ region: Region) -> Bool {
        place.isKnown && region.contains(place.coordinates)
    }

    // MARK: - Changes of regions

    /// The changes, merged into the regions. Missing members (such as time stamps) are taken from the regions that they replace.
    ///
    /// - Parameters:
    ///   - total: The number of regions of all trackers.
    ///   - epoch: Seconds since 1970; nil: the time of day is not known.
    func merging(_ changes: [RegionChange], total: Int, epoch: Int64?) -> RegionMerge {
        var latest: [ExactString: Region] = [:]
        let completed = changes.map { change in
            guard case .set(let region, let isRIDDerived) = change else { return change }
            let completed = region.succeeding(latest[region.rid] ?? regions[rid: region.rid], now: epoch)
            latest[region.rid] = completed
            return .set(completed, isRIDDerived: isRIDDerived)
        }
        var merged = regions
        let difference = merged.apply(completed)
        return RegionMerge(
            regions: merged, difference: difference, rids: regions.rids(setBy: completed),
            total: total - regions.regions.count + merged.regions.count)
    }

    /// Begins a change: transitions that it causes have the old names, until it ends.
    mutating func replaceRegions(by new: RegionSet) {
        former = regions
        regions = new
    }

    mutating func endChange() { former = nil }

    /// Begins to remove all regions: those that the tracker is inside after `PendingClear.delay`.
    ///
    /// - Parameter occupied: The regions that presence holds for occupied.
    /// - Returns: The regions that stay until then.
    mutating func clear(occupied: Set<ExactString>, at now: MonotonicInstant) -> (RegionSet, RegionDifference) {
        let rids = Set(regions.regions.map { ExactString($0.rid) })
        let inside = rids.filter { rid in
            begin(of: rid.text) != nil || decidedCircles.contains(rid) || occupied.contains(rid)
        }
        pendingClear =
            inside.isEmpty ? nil : PendingClear(due: now.advanced(by: PendingClear.delay), rids: inside)
        return removing(rids.subtracting(inside))
    }

    /// Regions of a clear that are there again are not removed.
    mutating func keep(_ rids: Set<ExactString>) -> [Gateway.Effect] {
        guard var pending = pendingClear, !pending.rids.isDisjoint(with: rids) else { return [] }
        pending.rids.subtract(rids)
        pendingClear = pending.rids.isEmpty ? nil : pending
        return [storedClear]
    }

    /// Ends a clear.
    ///
    /// - Returns: The regions that stay; nil: no clear waits.
    mutating func finishClear() -> (RegionSet, RegionDifference)? {
        guard let pending = pendingClear else { return nil }
        pendingClear = nil
        return removing(pending.rids.filter { regions[rid: $0.text] != nil })
    }

    private func removing(_ rids: Set<ExactString>) -> (RegionSet, RegionDifference) {
        var remaining = regions
        let difference = remaining.apply(rids.sorted().map { .remove(rid: $0.text) })
        return (remaining, difference)
    }

    // MARK: - Commands

    /// Remembers a command that the broker may send again.
    ///
    /// - Parameter digest: nil: the command cannot be retained.
    mutating func remember(_ digest: CommandDigest?) -> [Gateway.Effect] {
        appliedCommands.remember(digest) ? [storedAppliedCommands] : []
    }

    // MARK: - Messages

    /// What is published of a transition: a line of history, its message, the location after it, the retained state.
    mutating func publish(_ transition: PendingTransition, by messages: Messages) -> [Gateway.Effect] {
        let (region, rid) = (transition.region, transition.key.rid)
        let record = messages.record(of: transition, self)
        // A shared location of an earlier second is published before this transition.
        var effects = locations.waits(before: record.timestamp) ? sharedLocation(by: messages) : []
        effects.append(.record(record))
        if mayPublish(.transition, at: messages.now) {
            effects.append(messages.transition(record, in: region, of: self))
            effects += location(after: record, by: messages)
        }
        // The state of a region that was removed since is withdrawn, and must not be published again.
        if let present = regions[rid: rid], present.isBeacon {
            effects += messages.state(of: present, self, at: record.happened)
        } else if region.isBeacon, former?[rid: rid] != nil {
            effects += messages.state(of: region, self, at: record.happened)
        }
        return effects
    }

    /// Publishes the location, if it may be published now: the position and the regions around it.
    mutating func location(
        _ trigger: Location.Trigger, pointOfInterest: String? = nil, cause: Location.Cause? = nil,
        by messages: Messages
    ) -> [Gateway.Effect] {
        lastLocation = messages.now
        guard mayPublish(.location(trigger), at: messages.now) else { return [] }
        return messages.location(trigger, pointOfInterest: pointOfInterest, cause: cause, of: self)
    }

    /// The location after a transition, or none if the tracker has sent many in this second.
    private mutating func location(after record: PastTransition, by messages: Messages) -> [Gateway.Effect] {
        guard position(standing: messages.settings.position).isKnown else { return [] }
        let nanoseconds = messages.clock.epochOffset &+ messages.now.nanoseconds
        let rest = 1_000_000_000 - (nanoseconds % 1_000_000_000 + 1_000_000_000) % 1_000_000_000
        let end = messages.now.advanced(by: .nanoseconds(rest))
        let trigger: Location.Trigger = record.beacon == nil ? .circle : .beacon
        guard locations.admits(second: record.timestamp, endsAt: end, trigger: trigger) else { return [] }
        return location(trigger, cause: Location.Cause(record.event, description: record.name), by: messages)
    }

    private mutating func sharedLocation(by messages: Messages) -> [Gateway.Effect] {
        locations.published()
        return location(locations.trigger, by: messages)
    }

    /// Publishes the shared and the periodic location, if they are due.
    mutating func publishDueLocations(by messages: Messages) -> [Gateway.Effect] {
        var effects: [Gateway.Effect] = []
        if let due = locations.due, due <= messages.now { effects += sharedLocation(by: messages) }
        if let due = periodicLocationDue(by: messages.settings), due <= messages.now {
            effects += location(.periodic, by: messages)
        }
        return effects
    }

    /// When the next shared or periodic location is due; nil: there is none.
    func locationDue(by settings: Configuration) -> MonotonicInstant? {
        [locations.due, periodicLocationDue(by: settings)].compactMap(\.self).min()
    }

    private func periodicLocationDue(by settings: Configuration) -> MonotonicInstant? {
        guard monitoring.publishes(.location(.periodic)), position(standing: settings.position).isKnown else {
            return nil
        }
        var interval = settings.ping
        if monitoring == .move, !(occupancy.isEmpty && circles.isEmpty), let other = settings.locatorInterval {
            interval = min(other, interval ?? other)
        }
        return interval.map { lastLocation.advanced(by: $0) }
    }
}
