import Base
import Configuration
import Identities
import OwnTracks
import Regions
import RoomsApp
import SiteCore
import System

/// What may be unexpected about a tag of the rooms service.
struct TagRemarks {
    private let trackers: [TrackerConfiguration]
    private let identity: RoomServiceIdentity

    init(_ configuration: Configuration) throws(Failure) {
        trackers = configuration.trackers
        identity = try RoomServiceIdentity(configuration)
    }

    /// The remarks on the tag that this region is, each a line without the tag's name.
    func remarks(on region: Region) -> [String] {
        [
            Self.isHeard(region)
                ? nil
                : "it fits several beacons, and gateways report only a beacon whose major and minor the tag gives; "
                    + "only ESPresense nodes hear it",
            region.leaveRule == nil && region.enterRSSI == nil && region.leaveRSSI == nil
                ? nil
                : "leaveAfter, enterRSSI and leaveRSSI of a tag have no effect; the rooms service learns when it is away",
            TagIdentity(region).flatMap(clash),
        ].compactMap(\.self)
    }

    /// Whether gateways report the tag: it names one beacon, or a device that has no numbers.
    private static func isHeard(_ region: Region) -> Bool {
        guard let pattern = region.description.pattern else { return false }
        switch (pattern.major, pattern.minor, region.identity?.kind) {
        case (.some, .some, _): return true
        // An AltBeacon has numbers.
        case (nil, nil, .altbeacon): return false
        case (nil, nil, .some): return true
        case (nil, nil, nil): return pattern.uuid.isDerived
        default: return false
        }
    }

    private func clash(_ tag: TagIdentity) -> String? {
        let topic = identity.addresses.topic(ofTag: tag.id)
        guard trackers.contains(where: { $0.topics.base.hasSameBytes(as: topic) }) else { return nil }
        return
            "a gateway publishes on its topic \(topic), too; give the tag another id, or the gateway another deviceId"
    }
}
