import Base
import Regions

extension PresenceEngine {
    /// Puts new regions into force.
    mutating func replaceRegions(
        by new: [MonitoredRegion], at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        let newKeys = new.map(\.key)
        let newIndexes = RegionTable(newKeys)
        var moved: [Int?] = []
        for (key, pattern) in zip(keys, patterns) {
            let index = newIndexes.index(of: key, in: newKeys)
            moved.append(index.flatMap { new[$0].pattern == pattern ? $0 : nil })
        }
        // A beacon inside a removed region leaves it while the region still has its name.
        for place in tracked.indices where tracked[place].nearCount > 0 {
            var index = tracked[place].membership
            while index >= 0 {
                let member = membership(index, of: place)
                if member.isNear, moved[Int(member.region)] == nil {
                    leave(index, of: place, because: .region, &effects)
                }
                index = Int(member.next)
            }
        }
        changedBeacons = nil
        (keys, indexes) = (newKeys, newIndexes)
        patterns = new.map(\.pattern)
        let oldRules = rules
        rules = new.map(RegionRule.init)
        index = RegionIndex(patterns)
        slowingUUIDs.formIntersection(patterns.map(\.uuid))
        places = PlaceAccounts(new, places: mostStrangers)
        if !reservePlacesForAll() { keep(tracked.indices.filter { tracked[$0].nearCount > 0 }) }
        places.clear()
        let before = memberships
        hasThresholds = new.contains { $0.enterRSSI != nil || $0.leaveRSSI != nil }
        nearCount = Array(repeating: 0, count: new.count)
        memberships = []
        mayMakeRoom = true
        for place in tracked.indices { rebuildMemberships(of: place, from: before, oldRules, moved: moved) }
        expireAll(at: now, &effects)
    }

    /// - Returns: whether there are enough places for all remembered beacons.
    private mutating func reservePlacesForAll() -> Bool {
        for beacon in tracked where !places.reserve(for: matches(of: beacon.beacon)) { return false }
        return true
    }

    private mutating func rebuildMemberships(
        of place: Int, from before: [RegionPresence], _ oldRules: [RegionRule], moved: [Int?]
    ) {
        var kept: [Int32: RegionPresence] = [:]
        var index = tracked[place].membership
        while index >= 0 {
            let member = index == TrackedBeacon.own ? tracked[place].ownMembership : before[index]
            if let region = moved[Int(member.region)] { kept[Int32(truncatingIfNeeded: region)] = member }
            index = Int(member.next)
        }
        var wanted = matches(of: tracked[place].beacon)
        if !places.reserve(for: wanted) {
            // The beacon stays near where it was near. It does not come near anywhere else.
            wanted = wanted.filter { kept[$0]?.isNear == true }
            places.keep(wanted)
        }
        tracked[place].ownMembership = makeMemberships(in: wanted)
        tracked[place].nearCount = 0
        index = tracked[place].membership
        while index >= 0 {
            let new = membership(index, of: place)
            if var member = kept[new.region] {
                let old = oldRules[Int(member.region)].threshold(isNear: member.isNear)
                // The level may not be beyond the new threshold, if there is one.
                if rules[Int(new.region)].threshold(isNear: member.isNear) != old { member.endCrossing() }
                member.region = new.region
                member.next = new.next
                setMembership(index, of: place, to: member)
                if member.isNear {
                    nearCount[Int(member.region)] += 1
                    tracked[place].nearCount += 1
                }
            }
            index = Int(new.next)
        }
    }

    /// Forgets beacons that are nowhere near.
    ///
    /// - Parameters:
    ///   - areNamed: Whether to forget beacons that a region names exactly, or the others.
    ///   - spared: The number of beacons with a known rhythm that are not forgotten: those heard last.
    mutating func forgetAbsent(areNamed: Bool, sparing spared: Int, at now: MonotonicInstant) {
        let absent = tracked.indices.filter {
            tracked[$0].nearCount == 0 && places.isNamed(regions(at: $0)) == areNamed
        }
        let known = absent.filter(isRhythmKnown).map { (place: $0, silence: silence(of: $0, at: now)) }
        var kept = tracked.indices.map { _ in true }
        for place in absent { kept[place] = false }
        for beacon in known.sorted(by: { $0.silence < $1.silence }).prefix(spared) { kept[beacon.place] = true }
        keep(tracked.indices.filter { kept[$0] })
        places.clear()
        for place in tracked.indices { places.keep(regions(at: place)) }
    }

    /// Forgets all but these beacons.
    private mutating func keep(_ kept: [Int]) {
        let (oldTracked, oldLinks, oldJoints, oldMemberships) = (tracked, links, joints, memberships)
        (tracked, links, joints, memberships, table) = ([], [], [], [], BeaconTable())
        for place in kept {
            var beacon = oldTracked[place]
            beacon.ownLink.next = Self.copyChain(from: oldLinks, at: beacon.ownLink.next, to: &links, next: \.next)
            beacon.ownMembership.next = Self.copyChain(
                from: oldMemberships, at: beacon.ownMembership.next, to: &memberships, next: \.next)
            if beacon.joint >= 0 { beacon.joint = addJoint(oldJoints[Int(beacon.joint)]) }
            add(beacon)
        }
        requeue()
    }

    /// The regions that the beacon has memberships in.
    private func regions(at place: Int) -> [Int32] {
        var found: [Int32] = []
        var index = tracked[place].membership
        while index >= 0 {
            let member = membership(index, of: place)
            found.append(member.region)
            index = Int(member.next)
        }
        return found
    }

    /// Whether any receiver has heard the beacon often enough to know its rhythm.
    private func isRhythmKnown(of place: Int) -> Bool {
        var index = tracked[place].link
        while index >= 0 {
            let link = link(index, of: place)
            if link.model.isRhythmKnown { return true }
            index = Int(link.next)
        }
        return false
    }

    private static func copyChain<Item>(
        from old: [Item], at first: Int32, to new: inout [Item], next: WritableKeyPath<Item, Int32>
    ) -> Int32 {
        guard first >= 0 else { return -1 }
        let start = new.count
        var index = Int(first)
        while index >= 0 {
            var item = old[index]
            index = Int(item[keyPath: next])
            item[keyPath: next] = index >= 0 ? Int32(truncatingIfNeeded: new.count + 1) : -1
            new.append(item)
        }
        return Int32(truncatingIfNeeded: start)
    }
}
