package import JSON
package import Regions

/// How a location names a region.
package struct RegionName: Hashable, Sendable {
    package let name: String
    package let rid: String
}

/// `_type: location`. Topic: the base itself, retained if `pubRetain` is true.
package struct Location: Hashable, Sendable {
    /// Why it is published (`t`).
    package enum Trigger: String, Hashable, Sendable {
        case beacon = "b"
        case circle = "c"
        case requested = "r"
        case periodic = "p"
        case manual = "u"
    }

    package var trigger: Trigger
    package var trackerID: String
    package var position: Position
    /// Epoch seconds.
    package var timestamp: Int64
    /// Epoch seconds.
    package var createdAt: Int64
    /// Names and identifiers of the regions that the tracker is in.
    package let regions: [RegionName]
    /// A word that is part of every location until it is removed.
    package var tag: String?
    /// A point of interest, published once.
    package var pointOfInterest: String?
    /// The transition that the location follows; nil if there is none, or if many came at one time.
    package var cause: Cause?

    /// The transition that a location follows.
    package struct Cause: Hashable, Sendable {
        package let event: Transition.Event
        /// The region's name, as the transition has it.
        package let description: String

        package init(_ event: Transition.Event, description: String) {
            self.event = event
            self.description = description
        }
    }

    /// The number of regions that one location lists: the first in their order. Otherwise a crowd in thousands of
    /// regions would make each location hundreds of kilobytes long.
    package static let mostRegions = 256

    /// - Parameter regions: The regions that the tracker is in. The first `mostRegions` are listed, moving circles
    ///   (`+follow`) are not.
    package init(
        _ trigger: Trigger, trackerID: String, position: Position, timestamp: Int64, createdAt: Int64,
        inRegions regions: some Sequence<Region> = [], tag: String? = nil, pointOfInterest: String? = nil,
        cause: Cause? = nil
    ) {
        self.trigger = trigger
        self.trackerID = trackerID
        self.position = position
        self.timestamp = timestamp
        self.createdAt = createdAt
        self.regions = regions.lazy.filter { $0.kind != .follow }.prefix(Self.mostRegions).map {
            RegionName(name: $0.displayName, rid: $0.rid)
        }
        self.tag = tag
        self.pointOfInterest = pointOfInterest
        self.cause = cause
    }

    package var payload: JSONValue {
        var members = position.members
        members["_type"] = "location"
        members["t"] = .string(trigger.rawValue)
        members["tid"] = .string(trackerID)
        members["tst"] = .integer(timestamp)
        members["inregions"] = .array(regions.map { .string($0.name) })
        members["inrids"] = .array(regions.map { .string($0.rid) })
        if let tag { members["tag"] = .string(tag) }
        if let pointOfInterest { members["poi"] = .string(pointOfInterest) }
        if let cause {
            members["event"] = .string(cause.event.rawValue)
            members["desc"] = .string(cause.description)
        }
        members.setCreationTime(createdAt, after: timestamp)
        return .object(members)
    }
}
