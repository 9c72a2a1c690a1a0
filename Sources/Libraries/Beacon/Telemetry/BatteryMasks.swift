/// The masks of all UUIDs.
public struct BatteryMasks: Hashable, Sendable {
    /// In the order in which they were set.
    package let all: [BatteryMask]

    /// - Parameter all: At most one for each UUID, and at most one without a UUID.
    public init(_ all: [BatteryMask] = []) { self.all = all }

    /// The mask for beacons of this UUID; nil if none applies.
    package subscript(uuid: BeaconUUID) -> BatteryMask? {
        all.first { $0.names(uuid) } ?? all.first { $0.uuid == nil }
    }

    /// Whether a mask names this UUID, so that a battery is expected where a format has none.
    package func names(_ uuid: BeaconUUID) -> Bool { all.contains { $0.names(uuid) } }
}
