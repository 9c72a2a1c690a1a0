package import Base
package import Beacon
package import Regions

/// Why a beacon is inside a region, or is not.
package struct PresenceExplanation: Hashable, Sendable {
    /// The state of the beacon at one receiver.
    package struct Link: Hashable, Sendable {
        package let receiver: Receiver
        /// Whether the receiver listens now. If it does not, it gives the beacon up later.
        package let isListening: Bool
        /// Listening silence so far.
        package let silence: Duration
        /// Between advertisements; nil if it is not known.
        package let interval: Duration?
        /// Share of the advertisements that are heard, 0 … 1.
        package let shareHeard: Float
        /// The longest recent gap.
        package let longestRecentGap: Duration
        /// dBm; nil if no usable value was received.
        package let level: Float?
        /// Whether the signal wanders like that of a carried beacon.
        package let isMoving: Bool
        /// Whether the rhythm was observed often enough to rely on it.
        package let isRhythmKnown: Bool
        /// Silence after which this receiver gives the beacon up, for this region.
        package let leaveTimeout: Duration
        /// Which rule set it.
        package let rule: LeaveTimeoutRule

        package init(
            receiver: Receiver, isListening: Bool, silence: Duration, interval: Duration?, shareHeard: Float,
            longestRecentGap: Duration, level: Float?, isMoving: Bool, isRhythmKnown: Bool, leaveTimeout: Duration,
            rule: LeaveTimeoutRule
        ) {
            (self.receiver, self.isListening, self.silence) = (receiver, isListening, silence)
            (self.interval, self.shareHeard, self.longestRecentGap) = (interval, shareHeard, longestRecentGap)
            (self.level, self.isMoving, self.isRhythmKnown) = (level, isMoving, isRhythmKnown)
            (self.leaveTimeout, self.rule) = (leaveTimeout, rule)
        }
    }

    /// What the receivers know together.
    package struct Joint: Hashable, Sendable {
        /// The time for which no receiver has heard the beacon while all of them listened.
        package let silence: Duration
        /// Share of the advertisements that any of them hears, 0 … 1.
        package let shareHeard: Float
        /// Silence after which the receivers together give the beacon up.
        package let leaveTimeout: Duration

        package init(silence: Duration, shareHeard: Float, leaveTimeout: Duration) {
            (self.silence, self.shareHeard, self.leaveTimeout) = (silence, shareHeard, leaveTimeout)
        }
    }

    package let beacon: BeaconID
    /// Whether this beacon makes the region occupied.
    package let isNear: Bool
    package let links: [Link]
    /// nil if the receivers do not decide together: there is only one, one of them does not listen, their rhythm is not
    /// known, or the region sets the leave timeout.
    package let joint: Joint?
    /// When the beacon leaves if it is not heard again; nil while it is not near, or while no receiver listens.
    package let expectedLeave: MonotonicInstant?

    package init(
        beacon: BeaconID, isNear: Bool, links: [Link], joint: Joint?, expectedLeave: MonotonicInstant?
    ) {
        (self.beacon, self.isNear, self.links) = (beacon, isNear, links)
        (self.joint, self.expectedLeave) = (joint, expectedLeave)
    }
}

extension PresenceEngine {
    /// Why the region is occupied or not: all remembered beacons that match it.
    package func explain(_ key: RegionKey, at now: MonotonicInstant) -> [PresenceExplanation] {
        guard let region = indexes.index(of: key, in: keys) else { return [] }
        return tracked.indices.compactMap { place in
            indexOfMembership(of: place, in: region).map { explain($0, at: place, now: now) }
        }
    }

    /// The state of one beacon in one region; nil if the beacon is not remembered or does not match.
    package func explain(_ beacon: BeaconID, in key: RegionKey, at now: MonotonicInstant) -> PresenceExplanation? {
        guard let region = indexes.index(of: key, in: keys),
            let place = table.place(of: beacon, in: tracked)
        else { return nil }
        return indexOfMembership(of: place, in: region).map { explain($0, at: place, now: now) }
    }

    func indexOfMembership(of place: Int, in region: Int) -> Int? {
        var index = tracked[place].membership
        while index >= 0 {
            let member = membership(index, of: place)
            if member.region == region { return index }
            index = Int(member.next)
        }
        return nil
    }

    /// Regions that a beacon belongs to, in their order: all, or of very many `most`.
    package func regions(of beacon: BeaconID, most: Int) -> [RegionKey] {
        index.matches(of: beacon, most: most).map { keys[Int($0)] }
    }

    /// The number of regions that a beacon belongs to.
    package func regionCount(of beacon: BeaconID) -> Int { index.matchCount(of: beacon) }

    /// The patterns of the regions that a beacon belongs to, each once: at most four.
    package func patterns(of beacon: BeaconID) -> [BeaconPattern] { index.patterns(of: beacon) }

    /// For each of these regions with a remembered beacon, the beacon that decides: of the near ones the one that leaves last,
    /// else the one heard last. One pass over all beacons and their regions; only these regions cost more than a look.
    package func decidingBeacons(
        of wanted: some Sequence<RegionKey>, at now: MonotonicInstant
    ) -> [RegionKey: PresenceExplanation] {
        let regions = Set(wanted.compactMap { indexes.index(of: $0, in: keys).map { Int32(truncatingIfNeeded: $0) } })
        guard !regions.isEmpty else { return [:] }
        var best: [Int32: (index: Int, place: Int, isNear: Bool, rank: Int64)] = [:]
        for place in tracked.indices {
            let silence = leastSilence(of: place, at: now)
            var index = tracked[place].membership
            while index >= 0 {
                let member = membership(index, of: place)
                defer { index = Int(member.next) }
                guard regions.contains(member.region) else { continue }
                let rank = member.isNear ? deadline(of: index, at: place, now: now) : -silence
                let rival = best[member.region]
                if rival.map({ (member.isNear ? 1 : 0, rank) > ($0.isNear ? 1 : 0, $0.rank) }) ?? true {
                    best[member.region] = (index, place, member.isNear, rank)
                }
            }
        }
        var explanations: [RegionKey: PresenceExplanation] = [:]
        for (region, choice) in best {
            explanations[keys[Int(region)]] = explain(choice.index, at: choice.place, now: now)
        }
        return explanations
    }

    /// Nanoseconds of listening since the beacon was heard, by the receiver that heard it last.
    private func leastSilence(of place: Int, at now: MonotonicInstant) -> Int64 {
        var least = Int64.max
        var index = tracked[place].link
        while index >= 0 {
            let link = link(index, of: place)
            least = min(least, clock.time(of: link.receiver, at: now) - link.model.lastHeard)
            index = Int(link.next)
        }
        return least
    }

    private func explain(_ index: Int, at place: Int, now: MonotonicInstant) -> PresenceExplanation {
        let member = membership(index, of: place)
        var explained: [PresenceExplanation.Link] = []
        var next = tracked[place].link
        while next >= 0 {
            let link = link(next, of: place)
            explained.append(explain(link, in: Int(member.region), now: now))
            next = Int(link.next)
        }
        let deadline = member.isNear ? deadline(of: index, at: place, now: now) : .max
        return PresenceExplanation(
            beacon: tracked[place].beacon, isNear: member.isNear, links: explained,
            joint: explainJoint(of: place, in: rules[Int(member.region)], now: now),
            expectedLeave: deadline == .max ? nil : MonotonicInstant(nanoseconds: deadline))
    }

    private func explainJoint(of place: Int, in rule: RegionRule, now: MonotonicInstant) -> PresenceExplanation.Joint? {
        guard jointDeadline(of: place, in: rule, now: now) != nil, let model = jointModel(of: place) else { return nil }
        return PresenceExplanation.Joint(
            silence: .nanoseconds(jointSilence(model, at: now)), shareHeard: model.shareHeard,
            leaveTimeout: .nanoseconds(rule.leaveTimeout(learned: model.leaveTimeout)))
    }

    private func explain(_ link: Link, in region: Int, now: MonotonicInstant) -> PresenceExplanation.Link {
        let model = link.model
        return PresenceExplanation.Link(
            receiver: link.receiver, isListening: clock.isListening(link.receiver),
            silence: .nanoseconds(clock.time(of: link.receiver, at: now) - model.lastHeard),
            interval: model.interval > 0 ? .seconds(Double(model.interval)) : nil,
            shareHeard: model.shareHeard, longestRecentGap: .seconds(Double(model.longestRecentGap)),
            level: model.trend.level, isMoving: model.trend.motion > 0.5,
            isRhythmKnown: model.isRhythmKnown,
            leaveTimeout: .nanoseconds(rules[region].leaveTimeout(learned: model.leaveTimeout)),
            rule: rules[region].isFixed ? .leaveAfter : model.leaveTimeoutRule)
    }
}
