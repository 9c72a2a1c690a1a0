package import Beacon
internal import Regions

/// Decides who is inside: sightings and the passing of time in, enter and leave out.
///
/// A region is entered when any beacon that matches it is, and left when all are gone. It reads no
/// clock: time comes with each input, and absence counts only while listening.
package struct PresenceEngine: Sendable {
    package enum Input: Sendable {
        /// A beacon was heard.
        case sighting(Sighting)
        /// These are the regions from now on. State is kept for a region whose key and pattern stay;
        /// one that goes while inside is left first.
        case regions([MonitoredRegion])
        /// A receiver began or ceased to listen.
        case listening(Receiver, Bool)
        /// Time passed; a deadline may be due.
        case tick
    }

    package enum Effect: Hashable, Sendable {
        /// The first near beacon of the region.
        case entered(RegionKey, by: Sighting)
        /// The last beacon of the region is gone.
        case left(RegionKey, last: BeaconID)
    }

    /// One matching beacon of one region.
    private struct Member: Sendable {
        let region: Int
        let deadline: Duration
    }

    private var clock = ListeningClock()
    private var regions: [MonitoredRegion] = []
    private var index = RegionIndex([])
    private var insideCount: [Int] = []
    private var present: [BeaconID: [Member]] = [:]

    package init() {}

    /// When `tick` has something to decide, as far as is known now; nil while nothing is pending.
    package private(set) var nextDeadline: MonotonicInstant?

    /// Takes one input at `now`, which never lies before the previous one.
    package mutating func handle(_ input: Input, at now: MonotonicInstant) -> [Effect] {
        var effects = expire(at: now)
        switch input {
        case .tick: break
        case .listening(let receiver, let isListening): clock.set(receiver, isListening: isListening, at: now)
        case .sighting(let sighting): hear(sighting, at: now, &effects)
        case .regions(let new): replaceRegions(by: new, &effects)
        }
        scheduleNext(at: now)
        return effects
    }

    /// Whether somebody is inside.
    package func isInside(_ key: RegionKey) -> Bool {
        regions.firstIndex { $0.key == key }.map { insideCount[$0] > 0 } ?? false
    }

    private mutating func hear(_ sighting: Sighting, at now: MonotonicInstant, _ effects: inout [Effect]) {
        let listened = clock.time(at: now)
        var members: [Member] = []
        index.forEachMatch(of: sighting.beacon) { position in
            members.append(Member(region: Int(position), deadline: listened + hold(of: regions[Int(position)])))
        }
        guard !members.isEmpty else { return }
        let before = Set((present[sighting.beacon] ?? []).map(\.region))
        for member in members where !before.contains(member.region) {
            insideCount[member.region] += 1
            if insideCount[member.region] == 1 {
                effects.append(.entered(regions[member.region].key, by: sighting))
            }
        }
        present[sighting.beacon] = members
    }

    private mutating func expire(at now: MonotonicInstant) -> [Effect] {
        guard let nextDeadline, nextDeadline <= now else { return [] }
        let listened = clock.time(at: now)
        var effects: [Effect] = []
        for (beacon, members) in present.sorted(by: { $0.key.description < $1.key.description }) {
            let remaining = members.filter { $0.deadline > listened }
            guard remaining.count < members.count else { continue }
            for member in members where member.deadline <= listened {
                leave(member.region, last: beacon, &effects)
            }
            present[beacon] = remaining.isEmpty ? nil : remaining
        }
        return effects
    }

    private mutating func leave(_ region: Int, last beacon: BeaconID, _ effects: inout [Effect]) {
        insideCount[region] -= 1
        if insideCount[region] == 0 { effects.append(.left(regions[region].key, last: beacon)) }
    }

    private mutating func replaceRegions(by new: [MonitoredRegion], _ effects: inout [Effect]) {
        let newIndex = RegionIndex(new.map(\.pattern))
        var positions: [RegionKey: Int] = [:]
        for (position, region) in new.enumerated() { positions[region.key] = position }
        var counts = Array(repeating: 0, count: new.count)
        var kept: [BeaconID: [Member]] = [:]
        for (beacon, members) in present {
            for member in members {
                let old = regions[member.region]
                guard let position = positions[old.key], new[position].pattern == old.pattern else { continue }
                kept[beacon, default: []].append(Member(region: position, deadline: member.deadline))
                counts[position] += 1
            }
        }
        for (position, region) in regions.enumerated() where insideCount[position] > 0 {
            let stays = positions[region.key].map { new[$0].pattern == region.pattern } ?? false
            guard !stays, let last = present.first(where: { $0.value.contains { $0.region == position } }) else {
                continue
            }
            effects.append(.left(region.key, last: last.key))
        }
        (regions, index, insideCount, present) = (new, newIndex, counts, kept)
    }

    private func hold(of region: MonitoredRegion) -> Duration {
        let hold: Duration =
            switch region.leaveRule {
            case .auto: PresenceTiming.leaveAfter
            case .after(let duration): duration
            }
        return region.holdsLonger ? hold * PresenceTiming.longerHoldFactor : hold
    }

    private mutating func scheduleNext(at now: MonotonicInstant) {
        guard clock.isListening, let earliest = present.values.lazy.flatMap({ $0 }).map(\.deadline).min() else {
            nextDeadline = nil
            return
        }
        nextDeadline = now.advanced(by: earliest - clock.time(at: now))
    }
}
