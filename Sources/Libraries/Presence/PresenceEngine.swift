public import Base
public import Beacon
import Regions

/// Decides which regions are occupied: sightings and the passing of time in, enter and leave out.
///
/// A region is entered when any beacon that matches it is near, and left when all are gone. It reads no
/// clock: time comes with each input, and absence counts only while listening. A sighting costs the same
/// however many beacons and regions there are, and a tick as much as there are beacons that may be due.
public struct PresenceEngine: Sendable {
    /// What the engine is told.
    public enum Input: Sendable {
        /// A beacon was heard.
        case sighting(Sighting)
        /// These are the regions from now on. The state of a region stays if its key and pattern stay. An occupied
        /// region that is removed is left first.
        case regions([MonitoredRegion])
        /// A receiver began or ceased to listen.
        case listening(Receiver, Bool)
        /// While the receiver listens, its radio is on for this share of the time, 0 … 1.
        case scanDuty(Receiver, Double)
        /// The machine was suspended for this long, up to now. Must come before anything else after waking.
        case slept(Duration)
        /// Time passed; a deadline may be due.
        case tick
    }

    /// What the engine decides.
    public enum Effect: Hashable, Sendable {
        /// The first beacon of the region is near.
        case entered(RegionKey, by: Sighting)
        /// The last beacon of the region is gone.
        case left(RegionKey, last: BeaconID, because: LeaveReason)
        /// A beacon of this region was not remembered, because there are too many. At most once a minute.
        case dropped(RegionKey)
    }

    var clock = ListeningClock()
    /// The regions by index: their keys, their patterns, and what a sighting needs.
    var keys: [RegionKey] = []
    var patterns: [BeaconPattern] = []
    var rules: [RegionRule] = []
    var indexes = RegionTable([])
    /// The number of near beacons, by index of the region.
    var nearCount: [Int32] = []
    var tracked: [TrackedBeacon] = []
    /// The links and memberships that are not a beacon's first.
    var links: [Link] = []
    /// What the receivers of a beacon know together, on the clock that runs while any receiver listens: one model for
    /// each beacon of several receivers, if receivers decide jointly.
    var joints: [ArrivalModel] = []
    var memberships: [RegionPresence] = []
    var table = BeaconTable()
    var index = RegionIndex([])
    /// The UUIDs of which a beacon slowed down: at most as many as the regions name.
    var slowingUUIDs: Set<BeaconUUID> = []
    /// Whether any region has a threshold.
    var hasThresholds = false
    /// How many beacons of each region may be remembered.
    var places: PlaceAccounts
    /// Whether a beacon may have left since room was last made for others.
    var mayMakeRoom = true
    /// When room was last made, in nanoseconds.
    private var roomMade = Int64.min / 2
    /// The first entry has the earliest deadline.
    var queue = DeadlineQueue()
    /// The memory of the list that `expire` makes; empty between inputs.
    var dueScratch: [Int32] = []
    /// The beacons that became near or far somewhere since the state was last stored, some more than once; nil: the
    /// whole state has to be stored.
    var changedBeacons: [BeaconID]?

    /// Places for beacons that no region names.
    let mostStrangers: Int
    /// The number of receivers remembered of one beacon, at least 2. Lowering it forgets no receiver.
    package var mostReceivers: Int
    /// Whether several receivers together may let a beacon leave.
    let decidesJointly: Bool
    /// Whether a beacon belongs to one region alone, the one that names it most exactly.
    let isExclusive: Bool

    /// An engine without regions, for which no receiver listens yet.
    public init() { self.init(decidesJointly: true) }

    /// - Parameters:
    ///   - mostStrangers: Places for beacons that no region names. Benchmarks use other bounds than the default.
    ///   - mostReceivers: The number of receivers remembered of one beacon, at least 2: see `linkThatGivesWay`.
    ///   - decidesJointly: Whether several receivers together may let a beacon leave. This needs receivers whose
    ///     silence is certain at once.
    ///   - isExclusive: Whether a beacon belongs to one region alone: see `mostExactRegion`.
    package init(
        mostStrangers: Int = PresenceTiming.mostStrangers, mostReceivers: Int = PresenceTiming.mostReceivers,
        decidesJointly: Bool = true, isExclusive: Bool = false
    ) {
        self.mostReceivers = max(2, mostReceivers)
        (self.decidesJointly, self.isExclusive) = (decidesJointly, isExclusive)
        self.mostStrangers = min(mostStrangers, BeaconTable.mostPlaces)
        places = PlaceAccounts([], places: self.mostStrangers)
    }

    /// Beacons that are remembered now.
    package var trackedBeacons: Int { tracked.count }

    /// When `tick` has something to decide, as far as is known now; nil while nothing is pending.
    public var nextDeadline: MonotonicInstant? {
        queue.earliest == .max ? nil : MonotonicInstant(nanoseconds: queue.earliest)
    }

    /// Sightings of beacons that match a region and were not remembered, because there are too many.
    package private(set) var droppedSightings: UInt64 = 0
    /// The first region of the beacon that was turned away last, and when that was.
    package internal(set) var lastTurnedAway: (region: RegionKey, instant: MonotonicInstant)?
    /// When `Effect.dropped` may come again, in nanoseconds.
    private var nextNotice = Int64.min

    /// Handles one input at `now`, which never lies before the previous instant.
    public mutating func handle(_ input: Input, at now: MonotonicInstant) -> [Effect] {
        // Sleep is handled before the deadlines: a deadline within it is not due.
        if case .slept(let duration) = input { clock.sleep(duration) }
        var effects: [Effect] = []
        if now.nanoseconds >= queue.earliest { expire(at: now, &effects) }
        switch input {
        case .sighting(let sighting): hear(sighting, at: now, &effects)
        case .tick: break
        case .slept: expireAll(at: now, &effects)
        case .regions(let new): replaceRegions(by: new, at: now, &effects)
        case .listening(let receiver, let isListening):
            clock.set(receiver, isListening: isListening, at: now)
            expireAll(at: now, &effects)
        case .scanDuty(let receiver, let duty):
            changeDuty(of: receiver, to: Float(duty), at: now)
            expireAll(at: now, &effects)
        }
        return effects
    }

    /// Whether any beacon of the region is near.
    public func isOccupied(_ key: RegionKey) -> Bool {
        indexes.index(of: key, in: keys).map { nearCount[$0] > 0 } ?? false
    }

    /// The index of a region among those in force.
    package func index(of key: RegionKey) -> Int? { indexes.index(of: key, in: keys) }

    /// The index of the region that names the beacon exactly (the last of several), else of the first that it
    /// belongs to. It changes nothing: a function that is not mutating would be called with a copy of the engine.
    package mutating func mostExactRegion(of beacon: BeaconID) -> Int? { index.mostExactMatch(of: beacon) }

    // MARK: Hearing

    private mutating func hear(_ sighting: Sighting, at now: MonotonicInstant, _ effects: inout [Effect]) {
        let (listened, duty, hasBegun) = clock.hear(by: sighting.receiver, at: now)
        if hasBegun { expireAll(at: now, &effects) }
        // The table is searched here, because a non-mutating function of the engine would be called with a copy of it.
        let known = table.place(of: sighting.beacon, in: tracked)
        guard let place = known ?? track(sighting, listened: listened, duty: duty, at: now, &effects) else { return }
        let heard = hear(sighting, of: place, listened: listened, duty: duty, at: now)
        if heard.isSlowDown { expectSlowDown(of: sighting.beacon.uuid) }
        let own = tracked[place].ownMembership
        if !hasThresholds, own.isNear, own.next < 0 {
            // The usual case: the beacon is inside its only region and stays there.
            schedule(place, at: now.nanoseconds &+ rules[Int(own.region)].leaveTimeout(learned: heard.leaveTimeout))
        } else {
            judge(place, sighting, listened: listened, heard, at: now, &effects)
        }
    }

    /// Decides from a sighting in which regions the beacon is near.
    private mutating func judge(
        _ place: Int, _ sighting: Sighting, listened: Int64, _ heard: ArrivalModel.Heard,
        at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        var index = tracked[place].membership
        guard index >= 0 else { return }
        let dwell = Self.dwell(interval: heard.interval)
        let level = hasThresholds ? bestLevel(of: place, at: now) : nil
        var next = Int64.max
        while index >= 0 {
            var member = membership(index, of: place)
            if !member.isNear || hasThresholds {
                judgeRegion(index, of: place, level: level, sighting, listened, dwell: dwell, at: now, &effects)
                member = membership(index, of: place)
            }
            if member.isNear {
                var left = rules[Int(member.region)].leaveTimeout(learned: heard.leaveTimeout)
                if let fade = member.fadeDeadline(dwell: dwell) { left = min(left, fade &- listened) }
                next = min(next, now.nanoseconds &+ left)
            }
            index = Int(member.next)
        }
        schedule(place, at: next)
    }

    /// Updates the link of the receiver that heard the beacon, or makes it.
    ///
    /// - Returns: leave timeout and interval of the link, in seconds.
    @inline(__always)
    private mutating func hear(
        _ sighting: Sighting, of place: Int, listened: Int64, duty: Float, at now: MonotonicInstant
    ) -> ArrivalModel.Heard {
        guard tracked[place].ownLink.receiver.index == sighting.receiver.index else {
            return hearElsewhere(sighting, of: place, listened: listened, duty: duty, at: now)
        }
        let isShared = tracked[place].joint >= 0 && isNewAdvertisement(of: place, at: now)
        let isReturn = hasThresholds && isReturn(of: place, to: tracked[place].ownLink.model, at: listened)
        let heard = tracked[place].ownLink.model.hear(
            at: listened, rssi: sighting.rssi, duty: duty, isReturn: isReturn)
        return isShared ? hearJointly(heard, of: place, at: now) : heard
    }

    /// Decides from a sighting whether the beacon is near in one region.
    private mutating func judgeRegion(
        _ index: Int, of place: Int, level: Float?, _ sighting: Sighting, _ listened: Int64, dwell: Int64,
        at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        var member = membership(index, of: place)
        let region = Int(member.region)
        if member.receiver != sighting.receiver.index,
            let crossingTime = member.crossingTime(at: clock.time(of: Receiver(index: member.receiver), at: now))
        {
            // The level is that of all receivers. So the dwell goes on, whichever of them hears the beacon.
            member.setCrossing(for: crossingTime, by: sighting.receiver.index, at: listened)
        }
        let isNear = member.judge(
            level: level, of: rules[region], at: listened, by: sighting.receiver.index, dwell: dwell)
        setMembership(index, of: place, to: member)
        guard isNear != member.isNear else { return }
        if isNear {
            recordChange(of: tracked[place].beacon)
            if comeNear(index, of: place) { effects.append(.entered(keys[region], by: sighting)) }
        } else {
            leave(index, of: place, because: .signal, &effects)
        }
    }

    /// The beacon is near in the region from now on. The counterpart of `leave`.
    ///
    /// - Returns: Whether it is the first beacon there.
    @discardableResult mutating func comeNear(_ index: Int, of place: Int) -> Bool {
        var member = membership(index, of: place)
        let region = Int(member.region)
        member.set(near: true)
        setMembership(index, of: place, to: member)
        tracked[place].nearCount += 1
        nearCount[region] += 1
        return nearCount[region] == 1
    }

    /// Begins to remember a beacon if it matches a region and there is room.
    private mutating func track(
        _ sighting: Sighting, listened: Int64, duty: Float, at now: MonotonicInstant, _ effects: inout [Effect]
    ) -> Int? {
        guard index.hasMatch(of: sighting.beacon) else { return nil }
        guard mayFindPlaces(for: sighting.beacon, at: now) else {
            turnAway(index.mostExactMatch(of: sighting.beacon), at: now, &effects)
            return nil
        }
        let wanted = matches(of: sighting.beacon)
        guard tracked.count < BeaconTable.mostPlaces, reservePlaces(for: wanted, at: now) else {
            turnAway(wanted.first.map { Int($0) }, at: now, &effects)
            return nil
        }
        let model = newModel(sighting.rssi, of: sighting.beacon, listened: listened, duty: duty)
        add(
            TrackedBeacon(
                beacon: sighting.beacon, ownLink: Link(model: model, receiver: sighting.receiver),
                ownMembership: makeMemberships(in: wanted)))
        return tracked.count - 1
    }

    func newModel(_ rssi: RSSI?, of beacon: BeaconID, listened: Int64, duty: Float) -> ArrivalModel {
        ArrivalModel(at: listened, rssi: rssi, duty: duty, slowsDown: slowingUUIDs.contains(beacon.uuid))
    }

    /// Whether places for a beacon of very many regions are to be looked for. The list of its regions would be made for each of its
    /// sightings, and in vain if there cannot be enough places.
    private func mayFindPlaces(for beacon: BeaconID, at now: MonotonicInstant) -> Bool {
        let count = index.matchCount(of: beacon)
        return count <= Self.manyRegions || places.mayHaveRoom(forRegions: count)
            || (mayMakeRoom && now.nanoseconds - roomMade >= Self.roomInterval)
    }

    private static var manyRegions: Int { 256 }

    /// Reserves places for a beacon of these regions. If there are too few, beacons that are nowhere near are
    /// forgotten: first those whose rhythm is not known, then all but those heard last. A beacon that is near keeps its
    /// place.
    private mutating func reservePlaces(for wanted: [Int32], at now: MonotonicInstant) -> Bool {
        if places.reserve(for: wanted) { return true }
        // This visits all beacons, so it is not done for each invented identity.
        guard mayMakeRoom, now.nanoseconds - roomMade >= Self.roomInterval else { return false }
        roomMade = now.nanoseconds
        let isNamed = places.isNamed(wanted)
        forgetAbsent(areNamed: isNamed, sparing: .max, at: now)
        if places.reserve(for: wanted) { return true }
        forgetAbsent(areNamed: isNamed, sparing: mostStrangers / 32, at: now)
        if places.reserve(for: wanted) { return true }
        mayMakeRoom = false
        return false
    }

    /// Nanoseconds after which room may be made again.
    private static var roomInterval: Int64 { 1_000_000_000 }

    private mutating func turnAway(_ first: Int?, at now: MonotonicInstant, _ effects: inout [Effect]) {
        droppedSightings += 1
        guard let first else { return }
        let key = keys[first]
        lastTurnedAway = (key, now)
        guard now.nanoseconds >= nextNotice else { return }
        nextNotice = now.nanoseconds &+ 60_000_000_000
        effects.append(.dropped(key))
    }

    mutating func add(_ beacon: TrackedBeacon) {
        tracked.appendSparingly(beacon)
        table.insert(beacon.beacon, at: tracked.count - 1) { tracked[$0].beacon }
    }

    /// The regions that a beacon belongs to, in their order.
    func matches(of beacon: BeaconID) -> [Int32] {
        if isExclusive { return index.mostExactMatch(of: beacon).map { [Int32($0)] } ?? [] }
        return index.matches(of: beacon, most: .max)
    }

    /// Makes memberships in these regions, chained in their order. All but the first are appended to the list.
    ///
    /// - Returns: the first, or `.none`.
    mutating func makeMemberships(in found: [Int32]) -> RegionPresence {
        guard let first = found.first else { return .none }
        var own = RegionPresence(region: first)
        if found.count > 1 { own.next = Int32(truncatingIfNeeded: memberships.count) }
        for (offset, region) in found.dropFirst().enumerated() {
            var member = RegionPresence(region: region)
            if offset + 2 < found.count { member.next = Int32(truncatingIfNeeded: memberships.count + 1) }
            memberships.appendSparingly(member)
        }
        return own
    }

    mutating func recordChange(of beacon: BeaconID) {
        guard let count = changedBeacons?.count else { return }
        if count < PresenceTiming.mostChangedBeacons { changedBeacons?.append(beacon) } else { changedBeacons = nil }
    }

    /// The best level among the receivers that have not given the beacon up.
    private func bestLevel(of place: Int, at now: MonotonicInstant) -> Float? {
        var best: Float?
        var next = tracked[place].link
        while next >= 0 {
            let link = link(next, of: place)
            let model = link.model
            let end = model.lastHeard &+ Int64(model.leaveTimeout * 1e9)
            if let level = model.trend.level,
                clock.instant(at: end, of: link.receiver, now: now) > now.nanoseconds
            {
                best = max(best ?? level, level)
            }
            next = Int(link.next)
        }
        return best
    }

    /// A beacon slowed down. All beacons of its UUID are held for this case, because they are probably of one product.
    /// It visits all beacons, once for each UUID.
    mutating func expectSlowDown(of uuid: BeaconUUID) {
        guard slowingUUIDs.insert(uuid).inserted else { return }
        for place in tracked.indices where tracked[place].beacon.uuid == uuid {
            tracked[place].ownLink.model.expectSlowDown(duty: clock.duty(of: tracked[place].ownLink.receiver))
            var index = Int(tracked[place].ownLink.next)
            while index >= 0 {
                links[index].model.expectSlowDown(duty: clock.duty(of: links[index].receiver))
                index = Int(links[index].next)
            }
            let joint = Int(tracked[place].joint)
            if joint >= 0 { joints[joint].expectSlowDown(duty: clock.leastDuty, isJoint: true) }
        }
    }

    private mutating func changeDuty(of receiver: Receiver, to duty: Float, at now: MonotonicInstant) {
        clock.setDuty(duty, of: receiver, at: now)
        let duty = clock.duty(of: receiver)
        for place in tracked.indices where tracked[place].ownLink.receiver == receiver {
            tracked[place].ownLink.model.decide(duty: duty)
        }
        for index in links.indices where links[index].receiver == receiver {
            links[index].model.decide(duty: duty)
        }
        for index in joints.indices { joints[index].decide(duty: clock.leastDuty, isJoint: true) }
    }
}
