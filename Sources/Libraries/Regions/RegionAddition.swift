import Base

/// What becomes of a region that a person adds by its description alone.
package enum RegionAddition: Hashable, Sendable {
    /// A region of this name listens for the same beacons already.
    case isThere(Region)
    /// The region is new.
    case new(Region)

    /// A new region gets the `rid` that OwnTracks would derive from its name and time stamp. A time stamp or a `rid` that a region
    /// has already is not given to a second one: the next free second is used.
    ///
    /// - Parameter region: Its `rid` has no effect; its time stamp is the earliest.
    package init(_ region: Region, to regions: RegionSet) {
        func isSame(_ other: Region) -> Bool {
            (other.radius > 0) == (region.radius > 0) && other.description.isSame(as: region.description)
        }
        if let known = regions.regions.first(where: isSame) {
            self = .isThere(known)
            return
        }
        let name = region.description.name
        let taken = Set(regions.regions.map(\.timestamp))
        var new = region
        new.rid = derivedRID(name: name, timestamp: new.timestamp)
        while taken.contains(new.timestamp) || regions[rid: new.rid] != nil {
            new.timestamp += 1
            new.rid = derivedRID(name: name, timestamp: new.timestamp)
        }
        self = .new(new)
    }
}

extension RegionDescription {
    /// Whether both have the same name and listen for the same beacons, whatever the UUID was derived from.
    package func isSame(as other: RegionDescription) -> Bool {
        name.hasSameBytes(as: other.name) && pattern == other.pattern
    }
}
