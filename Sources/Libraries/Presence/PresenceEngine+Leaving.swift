package import Base
package import Beacon

extension PresenceEngine {
    /// Nanoseconds. Beacons whose deadline comes within this time are examined, too. Otherwise each of a thousand
    /// beacons would wake the gateway separately, although it was heard in the meantime.
    private static var lookAhead: Int64 { 1_000_000_000 }

    mutating func leave(_ index: Int, of place: Int, because reason: LeaveReason, _ effects: inout [Effect]) {
        var member = membership(index, of: place)
        let region = Int(member.region)
        member.set(near: false)
        setMembership(index, of: place, to: member)
        recordChange(of: tracked[place].beacon)
        tracked[place].nearCount -= 1
        mayMakeRoom = true
        nearCount[region] -= 1
        guard nearCount[region] == 0 else { return }
        effects.append(.left(keys[region], last: tracked[place].beacon, because: reason))
    }

    /// Lets beacons leave that have been silent for too long. It examines only beacons that may be due.
    mutating func expire(at now: MonotonicInstant, _ effects: inout [Effect]) {
        var due: [Int32] = []
        // Reuses the same memory, so that a tick allocates none.
        swap(&due, &dueScratch)
        while let entry = queue.removeFirst(until: now.nanoseconds &+ Self.lookAhead) {
            guard tracked[Int(entry.place)].queued == entry.deadline else { continue }
            tracked[Int(entry.place)].queued = .max
            due.append(entry.place)
        }
        // Most of them were heard in the meantime.
        due.removeAll { postpone(Int($0), at: now) }
        // Effects come in the order in which the beacons were first heard.
        due.sort()
        for place in due { expire(Int(place), at: now, &effects) }
        due.removeAll(keepingCapacity: true)
        swap(&due, &dueScratch)
        while let entry = queue.first, tracked[Int(entry.place)].queued != entry.deadline {
            _ = queue.removeFirst(until: entry.deadline)
        }
    }

    /// The same for all beacons, with new deadlines: no deadline is valid after the clock, the scan duty or the regions
    /// changed.
    mutating func expireAll(at now: MonotonicInstant, _ effects: inout [Effect]) {
        queue.removeAll()
        for place in tracked.indices {
            tracked[place].queued = .max
            expire(place, at: now, &effects)
        }
    }

    /// Queues the next deadline of a beacon, unless the beacon leaves a region now.
    ///
    /// - Returns: false if the beacon leaves a region now.
    private mutating func postpone(_ place: Int, at now: MonotonicInstant) -> Bool {
        guard tracked[place].nearCount > 0 else { return true }
        var next = Int64.max
        var index = tracked[place].membership
        while index >= 0 {
            let member = membership(index, of: place)
            if member.isNear { next = min(next, deadline(of: index, at: place, now: now)) }
            index = Int(member.next)
        }
        guard next > now.nanoseconds else { return false }
        schedule(place, at: next)
        return true
    }

    /// Lets a beacon leave the regions for which it has been silent for too long, and queues its next deadline.
    private mutating func expire(_ place: Int, at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard tracked[place].nearCount > 0 else { return }
        var next = Int64.max
        var index = tracked[place].membership
        while index >= 0 {
            let member = membership(index, of: place)
            if member.isNear {
                let deadline = deadline(of: index, at: place, now: now)
                if deadline <= now.nanoseconds {
                    let silence = self.deadline(of: index, at: place, now: now, fades: false)
                    leave(index, of: place, because: silence <= now.nanoseconds ? .silence : .signal, &effects)
                } else {
                    next = min(next, deadline)
                }
            }
            index = Int(member.next)
        }
        schedule(place, at: next)
    }

    /// Makes sure that a beacon is examined at `deadline` or earlier, in nanoseconds; `.max` if that is not necessary.
    @inline(__always)
    mutating func schedule(_ place: Int, at deadline: Int64) {
        // A later deadline waits until the queued one has come, so that a sighting costs one comparison.
        if deadline < tracked[place].queued { queueEarlier(place, at: deadline) }
    }

    @inline(never)
    private mutating func queueEarlier(_ place: Int, at deadline: Int64) {
        tracked[place].queued = deadline
        queue.insert(place, at: deadline)
        // Stale entries are few, unless a sender changes a beacon's rhythm on purpose.
        if queue.count > 2 * tracked.count + 64 { requeue() }
    }

    /// Builds the queue again from the valid entries, because too many are stale, or because the beacons have new
    /// places.
    mutating func requeue() {
        queue.removeAll()
        for place in tracked.indices where tracked[place].queued < .max {
            queue.insert(place, at: tracked[place].queued)
        }
    }

    /// Nanoseconds that the receiver has listened until `now`.
    package mutating func listened(by receiver: Receiver, at now: MonotonicInstant) -> Int64 {
        clock.time(of: receiver, at: now)
    }

    /// Time that the receiver has listened beyond this many nanoseconds does not count: nobody knows what it heard. Silences get
    /// shorter by it, and what has left meanwhile stays away until it is heard.
    package mutating func forgetListening(of receiver: Receiver, after listened: Int64, at now: MonotonicInstant) {
        // Queued deadlines may be too early now, and are examined then.
        clock.forget(after: listened, of: receiver, at: now)
    }

    /// Whether every receiver has given up a beacon in a region, near or not.
    package mutating func hasGivenUp(_ beacon: BeaconID, in key: RegionKey, at now: MonotonicInstant) -> Bool {
        guard let region = indexes.index(of: key, in: keys), let place = table.place(of: beacon, in: tracked),
            let index = indexOfMembership(of: place, in: region)
        else { return true }
        return deadline(of: index, at: place, now: now) <= now.nanoseconds
    }

    /// When a near beacon leaves a region if nothing is heard until then; `.max` (never) while no receiver listens.
    ///
    /// A beacon leaves when every receiver has given it up, or all of them together have. A receiver that does not listen
    /// gives it up later.
    ///
    /// - Parameter fades: whether a level below `leaveRSSI` counts, too.
    @inline(__always)
    func deadline(of index: Int, at place: Int, now: MonotonicInstant, fades: Bool = true) -> Int64 {
        let member = membership(index, of: place)
        var latest = Int64.min
        var fade = Int64.max
        var next = tracked[place].link
        while next >= 0 {
            let link = link(next, of: place)
            let receiver = link.receiver
            let timeout = rules[Int(member.region)].leaveTimeout(learned: link.model.leaveTimeout)
            let end = max(link.model.lastHeard, clock.silenceStart(of: receiver)) &+ timeout
            latest = max(latest, clock.instant(at: end, of: receiver, now: now))
            if fades, member.isFading, receiver.index == member.receiver, clock.isListening(receiver),
                let due = member.fadeDeadline(dwell: Self.dwell(interval: link.model.interval))
            {
                fade = clock.instant(at: due, of: receiver, now: now)
            }
            next = Int(link.next)
        }
        if let joint = jointDeadline(of: place, in: rules[Int(member.region)], now: now) { latest = min(latest, joint) }
        return min(latest, fade)
    }

    /// Nanoseconds for which a level must stay beyond a threshold.
    ///
    /// - Parameter interval: Seconds between advertisements.
    static func dwell(interval: Float) -> Int64 {
        let intervals = min(PresenceTiming.dwellIntervals * interval, PresenceTiming.capSeconds)
        return Int64(max(PresenceTiming.dwellSeconds, intervals) * 1e9)
    }
}
