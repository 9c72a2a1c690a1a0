public import Beacon

/// The beacons of a region: a UUID, and the major and minor where they are fixed.
///
/// A pattern may fix the minor alone, which Apple's own beacon regions cannot express.
public struct BeaconPattern: Hashable, Sendable, BitwiseCopyable {
    /// The UUID of all beacons of the region.
    public let uuid: BeaconUUID
    /// nil: any.
    public let major: UInt16?
    /// nil: any.
    public let minor: UInt16?

    /// A pattern; what is nil matches any number.
    public init(uuid: BeaconUUID, major: UInt16? = nil, minor: UInt16? = nil) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
    }

    /// The same pattern for beacons whose battery bits are cleared.
    package func cleared(of masks: BatteryMasks) -> BeaconPattern {
        guard let mask = masks[uuid] else { return self }
        return BeaconPattern(
            uuid: mask.cleared(uuid), major: major.map { $0 & ~mask.major }, minor: minor.map { $0 & ~mask.minor })
    }

    /// Whether the beacon belongs to the region.
    public func matches(_ beacon: BeaconID) -> Bool {
        uuid == beacon.uuid && (major ?? beacon.major) == beacon.major && (minor ?? beacon.minor) == beacon.minor
    }
}

extension BeaconPattern: CustomStringConvertible {
    /// `UUID[:major[:minor]]` with decimal numbers; 0 means any major where a minor follows.
    public var description: String {
        switch (major, minor) {
        case (nil, nil): "\(uuid)"
        case (let major?, nil): "\(uuid):\(major)"
        case (_, let minor?): "\(uuid):\(major ?? 0):\(minor)"
        }
    }
}
