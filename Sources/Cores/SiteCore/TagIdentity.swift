import Base
import OwnTracks
package import Regions
import SiteProtocol

/// A tag as it is published.
package struct TagIdentity: Hashable, Sendable {
    /// Permanent; a topic level.
    package var id: String
    package var name: String
    package var pattern: BeaconPattern

    package init(id: String, name: String, pattern: BeaconPattern) {
        self.id = id
        self.name = name
        self.pattern = pattern
    }

    /// A region as a tag. The id is the region's `rid` if the region came with one that can be a topic level. Otherwise
    /// it is derived from the name.
    ///
    /// - Returns: nil for a region without a beacon.
    package init?(_ region: Region) {
        guard case .beacon(let pattern) = region.kind else { return nil }
        // A derived `rid` means nothing to users.
        let isDerived = region.rid.hasSameBytes(as: derivedRID(name: region.displayName, timestamp: region.timestamp))
        let isID = !isDerived && TopicIdentifier.isIdentifier(region.rid)
        self.init(
            id: isID ? region.rid : RoomName.id(of: region.displayName), name: region.displayName, pattern: pattern)
    }
}
