import Base

/// What all receivers of a beacon know together.
///
/// A silence of every receiver tells more than the silence of one: an advertisement that none of them received was
/// probably not sent. So the joint model learns the sightings of all receivers as if they were one more receiver, and
/// its leave timeout lets the beacon leave before the receivers give it up one by one. The model also learns the losses
/// that receivers have in common, as in the shadow of a body. It counts only while all of them listen.
extension PresenceEngine {
    /// The joint model of a beacon; nil if the beacon has one receiver, or if receivers do not decide jointly.
    @inline(__always)
    func jointModel(of place: Int) -> ArrivalModel? {
        let joint = Int(tracked[place].joint)
        return joint >= 0 ? joints[joint] : nil
    }

    /// - Returns: the index of the model, for `TrackedBeacon.joint`.
    mutating func addJoint(_ model: ArrivalModel) -> Int32 {
        joints.appendSparingly(model)
        return Int32(truncatingIfNeeded: joints.count - 1)
    }

    /// Whether a sighting that comes now is of another advertisement than the sightings before it; false without a
    /// joint model. It is called before the receiver learns from the sighting, so that the order of simultaneous
    /// sightings does not matter.
    ///
    /// Receivers report one advertisement within some milliseconds, over a slow bus within a tenth of a second.
    mutating func isNewAdvertisement(of place: Int, at now: MonotonicInstant) -> Bool {
        guard let joint = jointModel(of: place) else { return false }
        var interval = Float.infinity
        var index = tracked[place].link
        while index >= 0 {
            let link = link(index, of: place)
            if link.model.interval > 0 { interval = min(interval, link.model.interval) }
            index = Int(link.next)
        }
        let time = clock.timeOfAny(at: now)
        guard interval.isFinite else {
            // No receiver has an estimate of the interval yet: no advertisement can be told from the next.
            joints[Int(tracked[place].joint)].setLastHeard(time)
            return false
        }
        return Float(time &- joint.lastHeard) * 1e-9 >= PresenceTiming.sameAdvertisementShare * interval
    }

    /// Adds a new advertisement to the joint model of a beacon of several receivers.
    ///
    /// - Parameter heard: What the receiver learned from the sighting.
    /// - Returns: `heard`, with the shorter leave timeout of the two.
    mutating func hearJointly(
        _ heard: ArrivalModel.Heard, of place: Int, at now: MonotonicInstant
    ) -> ArrivalModel.Heard {
        let index = Int(tracked[place].joint)
        let time = clock.timeOfAny(at: now)
        guard areAllListening(to: place) else {
            // The beacon is there. How many advertisements all of them together would have lost is not known.
            joints[index].setLastHeard(time)
            return heard
        }
        joints[index].setLastHeard(max(joints[index].lastHeard, clock.unchangedSince))
        // The levels of several receivers make no trend.
        let joint = joints[index].hear(at: time, rssi: nil, duty: clock.leastDuty, isJoint: true)
        guard joints[index].isRhythmKnown else { return heard }
        return ArrivalModel.Heard(
            leaveTimeout: min(heard.leaveTimeout, joint.leaveTimeout), interval: heard.interval,
            isSlowDown: heard.isSlowDown || joint.isSlowDown)
    }

    /// When the receivers together give a beacon up, in nanoseconds; nil if they do not decide, because there is only
    /// one, one of them does not listen, their rhythm is not known, or the region sets the leave timeout.
    @inline(__always)
    func jointDeadline(of place: Int, in rule: RegionRule, now: MonotonicInstant) -> Int64? {
        guard !rule.isFixed, let joint = jointModel(of: place), joint.isRhythmKnown, areAllListening(to: place) else {
            return nil
        }
        let left = rule.leaveTimeout(learned: joint.leaveTimeout) &- jointSilence(joint, at: now)
        return now.nanoseconds &+ left
    }

    /// Nanoseconds for which no receiver has heard the beacon while all of them listened.
    @inline(__always)
    func jointSilence(_ joint: ArrivalModel, at now: MonotonicInstant) -> Int64 {
        clock.timeOfAny(at: now) &- max(joint.lastHeard, clock.unchangedSince)
    }

    /// Whether each receiver that has heard the beacon listens.
    @inline(__always)
    func areAllListening(to place: Int) -> Bool {
        var index = tracked[place].link
        while index >= 0 {
            let link = link(index, of: place)
            guard clock.isListening(link.receiver) else { return false }
            index = Int(link.next)
        }
        return true
    }
}
