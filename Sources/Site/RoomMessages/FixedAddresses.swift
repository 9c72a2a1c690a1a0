import Beacon
import Identities
import OwnTracks
import Regions
import SiteProtocol

/// Which tags are followed by a fixed address, and not by the beacon that they send.
///
/// The list of tags has the UUID that is derived from an address, and the same kind of UUID for a phone whose key gateways have. The
/// configuration says which it is, and so do the cards of gateways, which name the phones.
struct FixedAddresses: Sendable {
    enum Answer: Sendable {
        case beacon, address
        /// Nothing says that it is a phone.
        case assumedAddress
    }

    /// The tags of the configuration that are named by what is no beacon.
    private let configured: Set<BeaconPattern>
    private var phones: Set<BeaconUUID> = []

    /// - Parameter changes: The tags of the configuration.
    init(_ changes: [RegionChange]) {
        configured = Set(
            changes.compactMap { change -> BeaconPattern? in
                guard case .set(let region, _) = change, region.identity != nil else { return nil }
                return region.description.pattern
            })
    }

    /// A gateway says of which phones it has a key.
    mutating func record(_ card: GatewayCard) { phones.formUnion(card.phones) }

    func answer(_ pattern: BeaconPattern) -> Answer {
        if configured.contains(pattern) { return .address }
        guard pattern.major == nil, pattern.minor == nil, pattern.uuid.isDerived, !phones.contains(pattern.uuid) else {
            return .beacon
        }
        return .assumedAddress
    }
}
