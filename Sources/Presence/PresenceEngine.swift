package import Base
package import Beacon
import Regions

/// Decides who is inside: sightings and the passing of time in, enter and leave out.
///
/// A region is entered when any beacon that matches it is near, and left when all are gone. It reads no
/// clock: time comes with each input, and absence counts only while listening. A sighting costs the same
/// however many beacons and regions there are; only `tick` looks at all beacons.
package struct PresenceEngine: Sendable {
    package enum Input: Sendable {
        /// A beacon was heard.
        case sighting(Sighting)
        /// These are the regions from now on. State is kept for a region whose key and pattern stay;
        /// one that goes while inside is left first.
        case regions([MonitoredRegion])
        /// A receiver began or ceased to listen.
        case listening(Receiver, Bool)
        /// While it listens, the radio of this receiver is on for this share of the time, 0 … 1.
        case scanDuty(Receiver, Double)
        /// The machine was suspended for this long, up to now. Must come before anything else after waking.
        case slept(Duration)
        /// Time passed; a deadline may be due.
        case tick
    }

    package enum Effect: Hashable, Sendable {
        /// The first near beacon of the region.
        case entered(RegionKey, by: Sighting)
        /// The last beacon of the region is gone.
        case left(RegionKey, last: BeaconID)
    }

    var clock = ListeningClock()
    var regions: [MonitoredRegion] = [] {
        didSet { rules = regions.map(RegionRule.init) }
    }
    /// By position in `regions`.
    private(set) var rules: [RegionRule] = []
    var positions: [RegionKey: Int] = [:]
    var insideCount: [Int] = []
    var tracked: [TrackedBeacon] = []
    /// The links and memberships that are not a beacon's first.
    var links: [Link] = []
    var memberships: [RegionPresence] = []
    var table = BeaconTable()
    var index = RegionIndex([])
    /// Whether thresholds matter at all.
    var hasThresholds = false
    /// Whether a beacon may have gone since room was last made for others.
    var mayMakeRoom = true
    /// No deadline lies before this; `.max`: nothing is pending.
    private var earliest: Int64 = .max
    /// Who became near or far somewhere since the state was last kept, some more than once; nil: it has to be kept whole.
    var movers: [BeaconID]?

    /// Beacons that are remembered; more are heard and dropped.
    private let mostBeacons: Int

    /// - Parameter mostBeacons: Another bound than the one that ships, to measure what lies beyond it.
    package init(mostBeacons: Int = PresenceTiming.mostBeacons) {
        self.mostBeacons = min(mostBeacons, BeaconTable.mostPlaces)
    }

    /// Beacons that are remembered now.
    package var trackedBeacons: Int { tracked.count }

    /// When `tick` has something to decide, as far as is known now; nil while nothing is pending.
    package var nextDeadline: MonotonicInstant? {
        earliest == .max ? nil : MonotonicInstant(nanoseconds: earliest)
    }

    /// Sightings of beacons that some region wanted but that were not kept, because there are too many.
    package private(set) var droppedSightings: UInt64 = 0

    /// Takes one input at `now`, which never lies before the previous one.
    package mutating func handle(_ input: Input, at now: MonotonicInstant) -> [Effect] {
        // Sleep comes before the deadlines: what lies in it is not due.
        if case .slept(let duration) = input { clock.sleep(duration) }
        var effects: [Effect] = []
        if now.nanoseconds >= earliest { expire(at: now, &effects) }
        switch input {
        case .sighting(let sighting): hear(sighting, at: now, &effects)
        case .tick: break
        case .slept: expire(at: now, &effects)
        case .regions(let new): replaceRegions(by: new, at: now, &effects)
        case .listening(let receiver, let isListening):
            clock.set(receiver, isListening: isListening, at: now)
            expire(at: now, &effects)
        case .scanDuty(let receiver, let duty):
            changeDuty(of: receiver, to: Float(duty), at: now)
            expire(at: now, &effects)
        }
        return effects
    }

    /// Whether somebody is inside.
    package func isInside(_ key: RegionKey) -> Bool {
        positions[key].map { insideCount[$0] > 0 } ?? false
    }

    // MARK: Hearing

    private mutating func hear(_ sighting: Sighting, at now: MonotonicInstant, _ effects: inout [Effect]) {
        let (listened, duty) = clock.hear(by: sighting.receiver, at: now)
        // Not by a function of the engine that changes nothing: it would be called with a copy of the engine.
        let known = table.place(of: sighting.beacon, in: tracked)
        guard let place = known ?? track(sighting, listened: listened, duty: duty) else { return }
        let heard = hear(sighting, of: place, listened: listened, duty: duty)
        let own = tracked[place].ownMembership
        if !hasThresholds, own.isNear, own.next < 0, !own.isFading {
            // Nearly always so: it is inside its only region, and stays there.
            earliest = min(earliest, now.nanoseconds &+ rules[Int(own.region)].hold(learned: heard.hold))
        } else {
            judge(place, sighting, listened: listened, heard, at: now, &effects)
        }
    }

    /// What a sighting means for the regions of a beacon.
    private mutating func judge(
        _ place: Int, _ sighting: Sighting, listened: Int64, _ heard: (hold: Float, interval: Float),
        at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        var position = tracked[place].membership
        guard position >= 0 else { return }
        let dwell = Self.dwell(interval: heard.interval)
        let level = hasThresholds ? bestLevel(of: place, at: now) : nil
        while position >= 0 {
            var member = membership(position, of: place)
            if !member.isNear || hasThresholds {
                judge(position, of: place, level: level, sighting, listened, dwell: dwell, &effects)
                member = membership(position, of: place)
            }
            if member.isNear {
                var left = rules[Int(member.region)].hold(learned: heard.hold)
                if let fade = member.fadeDeadline(dwell: dwell) { left = min(left, fade &- listened) }
                earliest = min(earliest, now.nanoseconds &+ left)
            }
            position = Int(member.next)
        }
    }

    /// Updates the link of the receiver that heard it, which is made if it is new.
    ///
    /// - Returns: what the link says now, in seconds.
    @inline(__always)
    private mutating func hear(
        _ sighting: Sighting, of place: Int, listened: Int64, duty: Float
    ) -> (hold: Float, interval: Float) {
        guard tracked[place].ownLink.receiver.index == sighting.receiver.index else {
            return hearElsewhere(sighting, of: place, listened: listened, duty: duty)
        }
        return tracked[place].ownLink.model.hear(at: listened, rssi: sighting.rssi, duty: duty)
    }

    /// The same, if it was not the beacon's first receiver.
    private mutating func hearElsewhere(
        _ sighting: Sighting, of place: Int, listened: Int64, duty: Float
    ) -> (hold: Float, interval: Float) {
        var last = TrackedBeacon.own
        var position = Int(tracked[place].ownLink.next)
        var count = 1
        while position >= 0 {
            if links[position].receiver.index == sighting.receiver.index {
                return links[position].model.hear(at: listened, rssi: sighting.rssi, duty: duty)
            }
            last = position
            position = Int(links[position].next)
            count += 1
        }
        guard count < PresenceTiming.mostReceivers else {
            let model = link(last, of: place).model
            return (model.hold, model.interval)
        }
        let next = Int32(truncatingIfNeeded: links.count)
        if last == TrackedBeacon.own { tracked[place].ownLink.next = next } else { links[last].next = next }
        let model = ArrivalModel(at: listened, rssi: sighting.rssi, duty: duty)
        links.append(Link(model: model, receiver: sighting.receiver))
        return (model.hold, model.interval)
    }

    private mutating func judge(
        _ position: Int, of place: Int, level: Float?, _ sighting: Sighting, _ listened: Int64, dwell: Int64,
        _ effects: inout [Effect]
    ) {
        var member = membership(position, of: place)
        let region = Int(member.region)
        let isNear = member.judge(
            level: level, of: rules[region], at: listened, by: sighting.receiver.index, dwell: dwell)
        setMembership(position, of: place, to: member)
        guard isNear != member.isNear else { return }
        if isNear {
            member.set(near: true)
            setMembership(position, of: place, to: member)
            note(mover: tracked[place].beacon)
            tracked[place].nearCount += 1
            insideCount[region] += 1
            if insideCount[region] == 1 { effects.append(.entered(regions[region].key, by: sighting)) }
        } else {
            leave(position, of: place, &effects)
        }
    }

    /// Begins to remember a beacon, if a region wants it and there is room.
    private mutating func track(_ sighting: Sighting, listened: Int64, duty: Float) -> Int? {
        guard index.hasMatch(of: sighting.beacon) else { return nil }
        guard makeRoom() else {
            droppedSightings += 1
            return nil
        }
        let model = ArrivalModel(at: listened, rssi: sighting.rssi, duty: duty)
        add(
            TrackedBeacon(
                beacon: sighting.beacon, ownLink: Link(model: model, receiver: sighting.receiver),
                ownMembership: makeMemberships(of: sighting.beacon)))
        return tracked.count - 1
    }

    /// - Returns: whether there is room for one more beacon.
    private mutating func makeRoom() -> Bool {
        guard tracked.count >= mostBeacons else { return true }
        // Making room looks at all beacons: not again for each invented identity while none of them left.
        if mayMakeRoom { forgetAbsent() }
        mayMakeRoom = tracked.count < mostBeacons
        return mayMakeRoom
    }

    mutating func add(_ beacon: TrackedBeacon) {
        tracked.append(beacon)
        table.insert(beacon.beacon, at: tracked.count - 1) { tracked[$0].beacon }
    }

    /// Makes the memberships of a beacon, chained in the order of the regions. All but the first are appended to the list.
    ///
    /// - Returns: the first, or `.none`.
    mutating func makeMemberships(of beacon: BeaconID) -> RegionPresence {
        var found: [Int32] = []
        index.forEachMatch(of: beacon) { found.append($0) }
        // The index answers by kind of pattern; effects come in the order of the regions.
        found.sort()
        guard let first = found.first else { return .none }
        var own = RegionPresence(region: first)
        if found.count > 1 { own.next = Int32(truncatingIfNeeded: memberships.count) }
        for (offset, region) in found.dropFirst().enumerated() {
            var member = RegionPresence(region: region)
            if offset + 2 < found.count { member.next = Int32(truncatingIfNeeded: memberships.count + 1) }
            memberships.append(member)
        }
        return own
    }

    private mutating func note(mover: BeaconID) {
        guard let count = movers?.count else { return }
        if count < PresenceTiming.mostMovers { movers?.append(mover) } else { movers = nil }
    }

    // MARK: Leaving

    mutating func leave(_ position: Int, of place: Int, _ effects: inout [Effect]) {
        var member = membership(position, of: place)
        let region = Int(member.region)
        member.set(near: false)
        setMembership(position, of: place, to: member)
        note(mover: tracked[place].beacon)
        tracked[place].nearCount -= 1
        mayMakeRoom = true
        insideCount[region] -= 1
        if insideCount[region] == 0 { effects.append(.left(regions[region].key, last: tracked[place].beacon)) }
    }

    /// Takes out whoever is silent too long, and finds the next deadline.
    mutating func expire(at now: MonotonicInstant, _ effects: inout [Effect]) {
        earliest = .max
        for place in tracked.indices where tracked[place].nearCount > 0 {
            var position = tracked[place].membership
            while position >= 0 {
                let member = membership(position, of: place)
                if member.isNear {
                    let deadline = deadline(of: position, at: place, now: now)
                    if deadline <= now.nanoseconds {
                        leave(position, of: place, &effects)
                    } else {
                        earliest = min(earliest, deadline)
                    }
                }
                position = Int(member.next)
            }
        }
    }

    /// When a near beacon leaves a region if nothing is heard until then; `.max`: never, as nobody listens.
    ///
    /// It is gone when no receiver believes in it any more; one that does not listen keeps its belief for a while.
    @inline(__always)
    func deadline(of position: Int, at place: Int, now: MonotonicInstant) -> Int64 {
        let member = membership(position, of: place)
        var latest = Int64.min
        var fade = Int64.max
        var next = tracked[place].link
        while next >= 0 {
            let link = link(next, of: place)
            let receiver = link.receiver
            let hold = rules[Int(member.region)].hold(learned: link.model.hold)
            let end = max(link.model.lastHeard, clock.silenceStart(of: receiver)) &+ hold
            latest = max(latest, clock.instant(at: end, of: receiver, now: now))
            if member.isFading, receiver.index == member.receiver, clock.isListening(receiver),
                let due = member.fadeDeadline(dwell: Self.dwell(interval: link.model.interval))
            {
                fade = clock.instant(at: due, of: receiver, now: now)
            }
            next = Int(link.next)
        }
        return min(latest, fade)
    }

    /// Nanoseconds that a level must stand on the other side of a threshold.
    ///
    /// - Parameter interval: Seconds between advertisements.
    static func dwell(interval: Float) -> Int64 {
        let intervals = min(PresenceTiming.dwellIntervals * interval, PresenceTiming.capSeconds)
        return Int64(max(PresenceTiming.dwellSeconds, intervals) * 1e9)
    }

    /// The best level among the receivers that still believe in the beacon.
    private func bestLevel(of place: Int, at now: MonotonicInstant) -> Float? {
        var best: Float?
        var next = tracked[place].link
        while next >= 0 {
            let link = link(next, of: place)
            let model = link.model
            let end = model.lastHeard &+ Int64(model.hold * 1e9)
            if let level = model.trend.level,
                clock.instant(at: end, of: link.receiver, now: now) > now.nanoseconds
            {
                best = max(best ?? level, level)
            }
            next = Int(link.next)
        }
        return best
    }

    private mutating func changeDuty(of receiver: Receiver, to duty: Float, at now: MonotonicInstant) {
        clock.setDuty(duty, of: receiver, at: now)
        let duty = clock.duty(of: receiver)
        for place in tracked.indices where tracked[place].ownLink.receiver == receiver {
            tracked[place].ownLink.model.decide(duty: duty)
        }
        for position in links.indices where links[position].receiver == receiver {
            links[position].model.decide(duty: duty)
        }
    }
}
