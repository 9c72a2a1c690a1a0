extension PresenceEngine {
    /// The memory of a beacon in one region at one receiver, without the index that finds it.
    package static var bytesPerBeacon: Int { MemoryLayout<TrackedBeacon>.stride }

    // Inlined, because each call of a non-mutating function would copy the engine.

    /// The link at an index of a beacon's chain.
    @inline(__always)
    func link(_ index: Int, of place: Int) -> Link {
        index == TrackedBeacon.own ? tracked[place].ownLink : links[index]
    }

    /// Replaces the link at an index of a beacon's chain by that of another receiver.
    mutating func setLink(_ index: Int, of place: Int, to link: Link) {
        if index == TrackedBeacon.own {
            tracked[place].ownLink = Link(model: link.model, receiver: link.receiver, next: tracked[place].ownLink.next)
        } else {
            links[index] = Link(model: link.model, receiver: link.receiver, next: links[index].next)
        }
    }

    /// The membership at an index of a beacon's chain.
    @inline(__always)
    func membership(_ index: Int, of place: Int) -> RegionPresence {
        index == TrackedBeacon.own ? tracked[place].ownMembership : memberships[index]
    }

    /// Changes the membership at an index of a beacon's chain.
    @inline(__always)
    mutating func setMembership(_ index: Int, of place: Int, to member: RegionPresence) {
        if index == TrackedBeacon.own {
            tracked[place].ownMembership = member
        } else {
            memberships[index] = member
        }
    }
}
