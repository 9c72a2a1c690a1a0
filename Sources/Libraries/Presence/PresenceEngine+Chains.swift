extension PresenceEngine {
    /// The memory of a beacon in one region at one receiver, without the index that finds it.
    package static var bytesPerBeacon: Int { MemoryLayout<TrackedBeacon>.stride }

    // Inlined, because each call of a non-mutating function would copy the engine.

    /// The link at a position of a beacon's chain.
    @inline(__always)
    func link(_ position: Int, of place: Int) -> Link {
        position == TrackedBeacon.own ? tracked[place].ownLink : links[position]
    }

    /// Replaces the link at a position of a beacon's chain by that of another receiver.
    mutating func setLink(_ position: Int, of place: Int, to link: Link) {
        if position == TrackedBeacon.own {
            tracked[place].ownLink = Link(model: link.model, receiver: link.receiver, next: tracked[place].ownLink.next)
        } else {
            links[position] = Link(model: link.model, receiver: link.receiver, next: links[position].next)
        }
    }

    /// The membership at a position of a beacon's chain.
    @inline(__always)
    func membership(_ position: Int, of place: Int) -> RegionPresence {
        position == TrackedBeacon.own ? tracked[place].ownMembership : memberships[position]
    }

    /// Changes the membership at a position of a beacon's chain.
    @inline(__always)
    mutating func setMembership(_ position: Int, of place: Int, to member: RegionPresence) {
        if position == TrackedBeacon.own {
            tracked[place].ownMembership = member
        } else {
            memberships[position] = member
        }
    }
}
