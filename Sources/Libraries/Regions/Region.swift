public import Base
public import Beacon

/// One region of one tracker (OwnTracks also calls it waypoint).
public struct Region: Hashable, Sendable {
    /// How a fixed gateway handles a region.
    public enum Kind: Hashable, Sendable {
        /// Entered and left by hearing beacons.
        case beacon(BeaconPattern)
        /// A circle on the map (`rad > 0`): entered and left by the tracker's position.
        case circular
        /// A moving circle (`+follow`): kept and exported.
        case follow
        /// Neither beacon nor radius: kept and exported.
        case plain
    }

    /// The key by which it is updated and deleted; any text, compared by its bytes.
    @ExactString public var rid: String
    /// The description as it arrived. The canonical form is `exportedDescription(base:)`.
    public var description: RegionDescription
    /// When the region was created or changed, epoch seconds (`tst`, and `wtst` in transitions).
    public var timestamp: Int64
    /// The centre of a circle; without effect for a beacon region.
    public var coordinates: Coordinates
    /// Metres; above 0 it is a circle.
    public var radius: Double
    /// nil: the rule of the configuration.
    public var leaveRule: LeaveRule?
    /// Nearness begins at this strength; nil: that of the configuration.
    public var enterRSSI: RSSI?
    /// Nearness ends below this strength; nil: that of the configuration.
    public var leaveRSSI: RSSI?
    /// Members of the waypoint that the gateway does not use, as the text of a JSON object with sorted keys; empty if
    /// there are none. Exports contain them.
    @ExactString public var extensionMembers: String

    /// A region. Only key, description and time stamp have no default.
    public init(
        rid: String, description: RegionDescription, timestamp: Int64,
        coordinates: Coordinates = Coordinates(latitude: 0, longitude: 0), radius: Double = 0,
        leaveRule: LeaveRule? = nil, enterRSSI: RSSI? = nil, leaveRSSI: RSSI? = nil, extensionMembers: String = ""
    ) {
        self.rid = rid
        self.description = description
        self.timestamp = timestamp
        self.coordinates = coordinates
        self.radius = radius
        self.leaveRule = leaveRule
        self.enterRSSI = enterRSSI
        self.leaveRSSI = leaveRSSI
        self.extensionMembers = extensionMembers
    }

    /// What the name, the radius and the pattern make of it, in this order.
    public var kind: Kind {
        if description.name.hasPrefix("+") { return .follow }
        if radius > 0 { return .circular }
        guard let pattern = description.pattern else { return .plain }
        return .beacon(pattern)
    }

    /// A leading `-` asks for a longer leave timeout.
    public var asksForLongerLeave: Bool { description.name.hasPrefix("-") }

    /// The name in transitions: the text before the first `|`, or all of it if that is empty, because Home Assistant
    /// ignores an event without a name.
    public var displayName: String {
        let name = description.name
        guard let bar = name.utf8.firstIndex(of: UInt8(ascii: "|")), bar > name.startIndex else { return name }
        return String(name[..<bar])
    }

    /// The monitoring modes that `Name|enter|leave` asks for (−1 … 2), if the name has exactly this form.
    package var monitoringModes: (onEnter: Int, onLeave: Int)? {
        guard description.name.utf8.contains(UInt8(ascii: "|")) else { return nil }
        let parts = description.name.split(separator: "|", omittingEmptySubsequences: false)
        guard parts.count == 3, let onEnter = Int(parts[1]), let onLeave = Int(parts[2]) else { return nil }
        guard (-1...2).contains(onEnter), (-1...2).contains(onLeave) else { return nil }
        return (onEnter, onLeave)
    }
}
