import Base
import Beacon
import Regions

extension PresenceEngine {
    /// Puts new regions in force.
    mutating func replaceRegions(
        by new: [MonitoredRegion], at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        let old = regions
        var newPositions: [RegionKey: Int] = [:]
        for (position, region) in new.enumerated() { newPositions[region.key] = position }
        var moved: [Int?] = []
        for region in old {
            let position = newPositions[region.key]
            moved.append(position.flatMap { new[$0].pattern == region.pattern ? $0 : nil })
        }
        // Whoever is inside a region that goes leaves it while it still has its name.
        for place in tracked.indices where tracked[place].nearCount > 0 {
            var position = tracked[place].membership
            while position >= 0 {
                let member = membership(position, of: place)
                if member.isNear, moved[Int(member.region)] == nil { leave(position, of: place, &effects) }
                position = Int(member.next)
            }
        }
        let before = memberships
        movers = nil
        regions = new
        positions = newPositions
        index = RegionIndex(new.map(\.pattern))
        hasThresholds = new.contains { $0.enterRSSI != nil || $0.leaveRSSI != nil }
        insideCount = Array(repeating: 0, count: new.count)
        memberships = []
        mayMakeRoom = true
        for place in tracked.indices { rebuildMemberships(of: place, from: before, moved: moved) }
        expire(at: now, &effects)
    }

    private mutating func rebuildMemberships(of place: Int, from before: [RegionPresence], moved: [Int?]) {
        var kept: [Int32: RegionPresence] = [:]
        var position = tracked[place].membership
        while position >= 0 {
            let member = position == TrackedBeacon.own ? tracked[place].ownMembership : before[position]
            if let region = moved[Int(member.region)] { kept[Int32(truncatingIfNeeded: region)] = member }
            position = Int(member.next)
        }
        tracked[place].ownMembership = makeMemberships(of: tracked[place].beacon)
        tracked[place].nearCount = 0
        position = tracked[place].membership
        while position >= 0 {
            let new = membership(position, of: place)
            if var member = kept[new.region] {
                member.region = new.region
                member.next = new.next
                setMembership(position, of: place, to: member)
                if member.isNear {
                    insideCount[Int(member.region)] += 1
                    tracked[place].nearCount += 1
                }
            }
            position = Int(new.next)
        }
    }

    /// Makes room: forgets what was learned of beacons that are nowhere inside.
    mutating func forgetAbsent() {
        let (oldTracked, oldLinks, oldMemberships) = (tracked, links, memberships)
        (tracked, links, memberships, table) = ([], [], [], BeaconTable())
        for beacon in oldTracked where beacon.nearCount > 0 {
            var copy = beacon
            copy.ownLink.next = Self.copyChain(from: oldLinks, at: beacon.ownLink.next, to: &links, next: \.next)
            copy.ownMembership.next = Self.copyChain(
                from: oldMemberships, at: beacon.ownMembership.next, to: &memberships, next: \.next)
            add(copy)
        }
    }

    private static func copyChain<Item>(
        from old: [Item], at first: Int32, to new: inout [Item], next: WritableKeyPath<Item, Int32>
    ) -> Int32 {
        guard first >= 0 else { return -1 }
        let start = new.count
        var position = Int(first)
        while position >= 0 {
            var item = old[position]
            position = Int(item[keyPath: next])
            item[keyPath: next] = position >= 0 ? Int32(truncatingIfNeeded: new.count + 1) : -1
            new.append(item)
        }
        return Int32(truncatingIfNeeded: start)
    }
}
