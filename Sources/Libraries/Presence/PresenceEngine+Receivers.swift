import Base
import Beacon

/// Chooses the receivers of a beacon that are remembered, if more than `mostReceivers` hear it.
///
/// A beacon leaves when the last of its receivers has given it up. A few receivers decide that as well as all of them
/// if two things hold. The receiver that heard the beacon last is always one of them: otherwise the beacon would leave
/// while a receiver hears it. And the others stay the same as long as they hear it: receivers that take turns never
/// learn its rhythm.
///
/// So a receiver that is not remembered replaces one that has hardly heard the beacon lately. If there is none, it
/// replaces the last one, and the others take turns there. Then the beacon leaves after
/// `PresenceTiming.unknownRhythmSeconds` or later, because a receiver that takes turns does not know the beacon's
/// rhythm.
extension PresenceEngine {
    /// Updates the link of a receiver that is not the beacon's first, or makes it.
    ///
    /// - Returns: leave timeout and interval of the link, in seconds.
    mutating func hearElsewhere(
        _ sighting: Sighting, of place: Int, listened: Int64, duty: Float, at now: MonotonicInstant
    ) -> ArrivalModel.Heard {
        var last = TrackedBeacon.own
        var index = Int(tracked[place].ownLink.next)
        var count = 1
        while index >= 0 {
            if links[index].receiver.index == sighting.receiver.index {
                let isNew = isNewAdvertisement(of: place, at: now)
                let isReturn = hasThresholds && isReturn(of: place, to: links[index].model, at: listened)
                let heard = links[index].model.hear(
                    at: listened, rssi: sighting.rssi, duty: duty, isReturn: isReturn)
                return isNew ? hearJointly(heard, of: place, at: now) : heard
            }
            last = index
            index = Int(links[index].next)
            count += 1
        }
        let model = newModel(sighting.rssi, of: sighting.beacon, listened: listened, duty: duty)
        let isNew = isNewAdvertisement(of: place, at: now)
        let link = Link(model: model, receiver: sighting.receiver)
        if count < mostReceivers {
            append(link, behind: last, of: place, at: now)
        } else {
            setLink(linkThatGivesWay(of: place, at: now) ?? last, of: place, to: link)
        }
        let heard = ArrivalModel.Heard(leaveTimeout: model.leaveTimeout, interval: model.interval, isSlowDown: false)
        return isNew ? hearJointly(heard, of: place, at: now) : heard
    }

    /// Whether a receiver hears a beacon again that it had given up for each of the beacon's regions.
    ///
    /// In a region that holds beacons for longer, a beacon is still there, and one weak sample must not let it leave.
    @inline(__always)
    func isReturn(of place: Int, to model: ArrivalModel, at listened: Int64) -> Bool {
        let silence = listened &- model.lastHeard
        var index = tracked[place].membership
        while index >= 0 {
            let member = membership(index, of: place)
            if silence <= rules[Int(member.region)].leaveTimeout(learned: model.leaveTimeout) { return false }
            index = Int(member.next)
        }
        return true
    }

    /// Adds a receiver to a beacon.
    ///
    /// - Parameter last: The index of its last link.
    mutating func append(_ link: Link, behind last: Int, of place: Int, at now: MonotonicInstant) {
        if decidesJointly, last == TrackedBeacon.own {
            // From the second receiver on there is a joint model.
            let joint = newModel(
                nil, of: tracked[place].beacon, listened: clock.timeOfAny(at: now), duty: clock.leastDuty)
            tracked[place].joint = addJoint(joint)
        }
        let next = Int32(truncatingIfNeeded: links.count)
        if last == TrackedBeacon.own { tracked[place].ownLink.next = next } else { links[last].next = next }
        links.appendSparingly(link)
    }

    /// The index of the link that a receiver that is not remembered replaces; nil if each has heard the beacon
    /// lately.
    ///
    /// It is the link that would give the beacon up first, among those that keep it for less than half of their time
    /// from now on. For a receiver that does not listen, half of `PresenceTiming.absentGrace` is added.
    @inline(__always)
    func linkThatGivesWay(of place: Int, at now: MonotonicInstant) -> Int? {
        var found: Int?
        var earliest = Int64.max
        var index = tracked[place].link
        while index >= 0 {
            let link = link(index, of: place)
            let timeout = Int64(link.model.leaveTimeout * 1e9)
            let heard = max(link.model.lastHeard, clock.silenceStart(of: link.receiver))
            let end = clock.instant(at: heard &+ timeout, of: link.receiver, now: now)
            let left = (timeout &+ clock.grace(of: link.receiver)) / 2
            if end < earliest, end &- now.nanoseconds < left { (found, earliest) = (index, end) }
            index = Int(link.next)
        }
        return found
    }
}
