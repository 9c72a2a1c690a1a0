package import Beacon
internal import Regions

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
        self.mostBeacons = mostBeacons
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
        let heard = hear(sighting, by: tracked[place].link, listened: listened, duty: duty)
        var position = tracked[place].membership
        guard position >= 0 else { return }
        let level = hasThresholds ? bestLevel(of: place, at: now) : nil
        while position >= 0 {
            let member = memberships[Int(position)]
            if !member.isNear || hasThresholds {
                judge(Int(position), of: place, level: level, sighting, listened, heard, &effects)
            }
            if memberships[Int(position)].isNear {
                var left = rules[Int(member.region)].hold(learned: links[heard].model.hold)
                if memberships[Int(position)].isFading,
                    let fade = memberships[Int(position)].fadeDeadline(dwell: dwell(of: links[heard].model))
                {
                    left = min(left, fade &- listened)
                }
                earliest = min(earliest, now.nanoseconds &+ left)
            }
            position = member.next
        }
    }

    /// Updates the link of the receiver that heard it, which is made if it is new.
    ///
    /// - Returns: the position of the link.
    private mutating func hear(_ sighting: Sighting, by first: Int32, listened: Int64, duty: Float) -> Int {
        var position = Int(first)
        var count = 1
        while links[position].receiver.index != sighting.receiver.index {
            let next = Int(links[position].next)
            if next < 0 {
                guard count < PresenceTiming.mostReceivers else { return position }
                links[position].next = Int32(truncatingIfNeeded: links.count)
                let model = ArrivalModel(at: listened, rssi: sighting.rssi, duty: duty)
                links.append(Link(model: model, receiver: sighting.receiver))
                return links.count - 1
            }
            position = next
            count += 1
        }
        links[position].model.hear(at: listened, rssi: sighting.rssi, duty: duty)
        return position
    }

    private mutating func judge(
        _ position: Int, of place: Int, level: Float?, _ sighting: Sighting, _ listened: Int64, _ link: Int,
        _ effects: inout [Effect]
    ) {
        let region = Int(memberships[position].region)
        let isNear = memberships[position].judge(
            level: level, of: rules[region], at: listened, by: sighting.receiver.index,
            dwell: dwell(of: links[link].model))
        guard isNear != memberships[position].isNear else { return }
        if isNear {
            memberships[position].set(near: true)
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
        let first = Int32(truncatingIfNeeded: memberships.count)
        appendMemberships(of: sighting.beacon)
        let model = ArrivalModel(at: listened, rssi: sighting.rssi, duty: duty)
        links.append(Link(model: model, receiver: sighting.receiver))
        add(TrackedBeacon(beacon: sighting.beacon, link: Int32(truncatingIfNeeded: links.count - 1), membership: first))
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

    /// Appends the memberships of a beacon, chained in the order of the regions.
    mutating func appendMemberships(of beacon: BeaconID) {
        let first = memberships.count
        var found: [Int32] = []
        index.forEachMatch(of: beacon) { found.append($0) }
        // The index answers by kind of pattern; effects come in the order of the regions.
        for (offset, region) in found.sorted().enumerated() {
            var member = RegionPresence(region: region)
            if offset + 1 < found.count { member.next = Int32(truncatingIfNeeded: first + offset + 1) }
            memberships.append(member)
        }
    }

    private mutating func note(mover: BeaconID) {
        guard let count = movers?.count else { return }
        if count < PresenceTiming.mostMovers { movers?.append(mover) } else { movers = nil }
    }

    // MARK: Leaving

    mutating func leave(_ position: Int, of place: Int, _ effects: inout [Effect]) {
        let region = Int(memberships[position].region)
        memberships[position].set(near: false)
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
            var position = Int(tracked[place].membership)
            while position >= 0 {
                if memberships[position].isNear {
                    let deadline = deadline(of: position, at: place, now: now)
                    if deadline <= now.nanoseconds {
                        leave(position, of: place, &effects)
                    } else {
                        earliest = min(earliest, deadline)
                    }
                }
                position = Int(memberships[position].next)
            }
        }
    }

    /// When a near beacon leaves a region if nothing is heard until then; `.max`: never, as nobody listens.
    ///
    /// It is gone when no receiver believes in it any more; one that does not listen keeps its belief for a while.
    func deadline(of position: Int, at place: Int, now: MonotonicInstant) -> Int64 {
        let member = memberships[position]
        var latest = Int64.min
        var fade = Int64.max
        var link = Int(tracked[place].link)
        while link >= 0 {
            let receiver = links[link].receiver
            let hold = rules[Int(member.region)].hold(learned: links[link].model.hold)
            let end = max(links[link].model.lastHeard, clock.silenceStart(of: receiver)) &+ hold
            latest = max(latest, clock.instant(at: end, of: receiver, now: now))
            if member.isFading, receiver.index == member.receiver, clock.isListening(receiver),
                let due = member.fadeDeadline(dwell: dwell(of: links[link].model))
            {
                fade = clock.instant(at: due, of: receiver, now: now)
            }
            link = Int(links[link].next)
        }
        return min(latest, fade)
    }

    /// Nanoseconds that a level must stand on the other side of a threshold.
    func dwell(of model: ArrivalModel) -> Int64 {
        let intervals = min(PresenceTiming.dwellIntervals * model.interval, PresenceTiming.capSeconds)
        return Int64(max(PresenceTiming.dwellSeconds, intervals) * 1e9)
    }

    /// The best level among the receivers that still believe in the beacon.
    private func bestLevel(of place: Int, at now: MonotonicInstant) -> Float? {
        var best: Float?
        var link = Int(tracked[place].link)
        while link >= 0 {
            let model = links[link].model
            let end = model.lastHeard &+ Int64(model.hold * 1e9)
            if let level = model.trend.level,
                clock.instant(at: end, of: links[link].receiver, now: now) > now.nanoseconds
            {
                best = max(best ?? level, level)
            }
            link = Int(links[link].next)
        }
        return best
    }

    private mutating func changeDuty(of receiver: Receiver, to duty: Float, at now: MonotonicInstant) {
        clock.setDuty(duty, of: receiver, at: now)
        let duty = clock.duty(of: receiver)
        for position in links.indices where links[position].receiver == receiver {
            links[position].model.decide(duty: duty)
        }
    }
}
