package import JSON
public import Regions

/// `_type: location`. Topic: the base itself, retained if `pubRetain` is true.
public struct Location: Hashable, Sendable {
    /// Why it is published (`t`).
    public enum Trigger: String, Hashable, Sendable {
        /// A beacon region was entered or left.
        case beacon = "b"
        /// A circle was entered or left.
        case circle = "c"
        /// A command asked for it.
        case requested = "r"
        /// The time of a periodic report came.
        case periodic = "p"
        /// A person asked for it.
        case manual = "u"
    }

    /// Why it is published (`t`).
    public var trigger: Trigger
    /// The tracker's short name on a map (`tid`).
    public var trackerID: String
    /// Where the tracker is (`lat`, `lon`, `acc`).
    public var position: Position
    /// Epoch seconds.
    public var timestamp: Int64
    /// Epoch seconds.
    public var createdAt: Int64
    /// Names and identifiers of the regions that the tracker is in.
    public let regions: [RegionName]
    /// A word that is part of every location until it is removed.
    public var tag: String?
    /// A point of interest, published once.
    public var pointOfInterest: String?
    /// The transition that the location follows; nil if there is none, or if many came at one time.
    public var cause: Cause?

    /// The transition that a location follows.
    public struct Cause: Hashable, Sendable {
        /// Enter or leave.
        public let event: Transition.Event
        /// The region's name, as the transition has it.
        public let description: String

        /// The cause that this transition is.
        public init(_ event: Transition.Event, description: String) {
            self.event = event
            self.description = description
        }
    }

    /// The number of regions that one location lists: the first in their order. Otherwise a crowd in thousands of
    /// regions would make each location hundreds of kilobytes long.
    public static let mostRegions = 256

    /// - Parameters:
    ///   - trigger: Why it is published.
    ///   - trackerID: The tracker's short name on a map.
    ///   - position: Where the tracker is.
    ///   - timestamp: The time of the position, epoch seconds.
    ///   - createdAt: When the message was made, epoch seconds.
    ///   - regions: The regions that the tracker is in. The first `mostRegions` are listed, moving circles
    ///     (`+follow`) are not.
    ///   - tag: A word that is part of the location.
    ///   - pointOfInterest: A point of interest.
    ///   - cause: The transition that the location follows.
    public init(
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

    /// The message: a JSON object with sorted keys, in UTF-8 without line breaks.
    public var text: String { payload.text }

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
