package import Beacon

/// Finds the regions that a beacon belongs to: UUID → major → minor, with wildcards.
///
/// The cost of a look-up depends on how many regions match, not on how many there are; a beacon of an
/// unknown UUID, which is most of what a street sends, costs one miss.
package struct RegionIndex: Sendable {
    /// The regions of one UUID, by what else they fix.
    private struct Entry: Sendable {
        var anyBeacon: [Int32] = []
        var byMajor: [UInt16: [Int32]] = [:]
        var byMinor: [UInt16: [Int32]] = [:]
        var exact: [UInt32: [Int32]] = [:]
    }

    private var entries: [BeaconUUID: Entry] = [:]

    /// - Parameter patterns: The patterns of the regions; look-ups give positions in this list.
    package init(_ patterns: some Sequence<BeaconPattern>) {
        for (position, pattern) in patterns.enumerated() {
            let position = Int32(position)
            switch (pattern.major, pattern.minor) {
            case (nil, nil): entries[pattern.uuid, default: Entry()].anyBeacon.append(position)
            case (let major?, nil): entries[pattern.uuid, default: Entry()].byMajor[major, default: []].append(position)
            case (nil, let minor?): entries[pattern.uuid, default: Entry()].byMinor[minor, default: []].append(position)
            case (let major?, let minor?):
                entries[pattern.uuid, default: Entry()].exact[Self.key(major, minor), default: []].append(position)
            }
        }
    }

    /// Calls `body` with the position of each region that the beacon belongs to.
    package func forEachMatch(of beacon: BeaconID, _ body: (Int32) -> Void) {
        guard let entry = entries[beacon.uuid] else { return }
        for position in entry.anyBeacon { body(position) }
        if let positions = entry.byMajor[beacon.major] { for position in positions { body(position) } }
        if let positions = entry.byMinor[beacon.minor] { for position in positions { body(position) } }
        if let positions = entry.exact[Self.key(beacon.major, beacon.minor)] {
            for position in positions { body(position) }
        }
    }

    /// Whether any region could want a beacon of this UUID.
    package func knows(_ uuid: BeaconUUID) -> Bool { entries[uuid] != nil }

    private static func key(_ major: UInt16, _ minor: UInt16) -> UInt32 {
        UInt32(major) << 16 | UInt32(minor)
    }
}
