package import Beacon

/// Finds the regions that a beacon belongs to: UUID → major → minor, with wildcards.
///
/// The cost of a look-up depends on the number of matching regions, not on the number of all regions. A beacon with an
/// unknown UUID, the usual case in a street, costs one miss.
package struct RegionIndex: Sendable {
    /// The regions of one UUID, by their major and minor.
    private struct Entry: Sendable {
        let uuid: BeaconUUID
        var anyBeacon: [Int32] = []
        var byMajor: [UInt16: [Int32]] = [:]
        var byMinor: [UInt16: [Int32]] = [:]
        var exact: [UInt32: [Int32]] = [:]
    }

    private var entries: [Entry] = []
    private var table: UUIDTable

    /// - Parameter patterns: The patterns of the regions; look-ups give positions in this list.
    package init(_ patterns: some Sequence<BeaconPattern>) {
        var places: [BeaconUUID: Int] = [:]
        for (position, pattern) in patterns.enumerated() {
            let place = places[pattern.uuid] ?? entries.count
            if place == entries.count {
                places[pattern.uuid] = place
                entries.append(Entry(uuid: pattern.uuid))
            }
            let position = Int32(position)
            switch (pattern.major, pattern.minor) {
            case (nil, nil): entries[place].anyBeacon.append(position)
            case (let major?, nil): entries[place].byMajor[major, default: []].append(position)
            case (nil, let minor?): entries[place].byMinor[minor, default: []].append(position)
            case (let major?, let minor?): entries[place].exact[Self.key(major, minor), default: []].append(position)
            }
        }
        table = UUIDTable(entries.map(\.uuid))
    }

    /// Calls `body` with the position of each region that the beacon belongs to.
    package func forEachMatch(of beacon: BeaconID, _ body: (Int32) -> Void) {
        guard let place = place(of: beacon.uuid) else { return }
        for position in entries[place].anyBeacon { body(position) }
        if let positions = entries[place].byMajor[beacon.major] { for position in positions { body(position) } }
        if let positions = entries[place].byMinor[beacon.minor] { for position in positions { body(position) } }
        if let positions = entries[place].exact[Self.key(beacon.major, beacon.minor)] {
            for position in positions { body(position) }
        }
    }

    /// Whether the beacon belongs to any region. It allocates nothing, because it is called for each unknown beacon.
    package func hasMatch(of beacon: BeaconID) -> Bool {
        guard let place = place(of: beacon.uuid) else { return false }
        return !entries[place].anyBeacon.isEmpty
            || entries[place].exact.index(forKey: Self.key(beacon.major, beacon.minor)) != nil
            || entries[place].byMajor.index(forKey: beacon.major) != nil
            || entries[place].byMinor.index(forKey: beacon.minor) != nil
    }

    private func place(of uuid: BeaconUUID) -> Int? {
        table.place(of: uuid) { entries[$0].uuid == uuid }
    }

    private static func key(_ major: UInt16, _ minor: UInt16) -> UInt32 {
        UInt32(major) << 16 | UInt32(minor)
    }
}

/// Finds the place of a UUID in a list: open addressing under a hash of one multiplication.
///
/// A `Dictionary`'s hash costs five times as much, for every unknown iBeacon. The key is random for each table, so that
/// a person who configures regions cannot choose UUIDs that collide.
private struct UUIDTable: Sendable {
    /// Place + 1; 0 is empty. A power of two, at most half of them taken.
    private var slots: [UInt32]
    private let key = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))

    init(_ uuids: [BeaconUUID]) {
        var size = 4
        while size < uuids.count * 2 { size *= 2 }
        slots = Array(repeating: 0, count: size)
        for (place, uuid) in uuids.enumerated() {
            var slot = hash(uuid) & (size - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (size - 1) }
            slots[slot] = UInt32(truncatingIfNeeded: place + 1)
        }
    }

    /// The place for which `isMatch` holds, among those whose hash may be that of `uuid`.
    @inline(__always)
    func place(of uuid: BeaconUUID, isMatch: (Int) -> Bool) -> Int? {
        let mask = slots.count - 1
        var slot = hash(uuid) & mask
        while slots[slot] != 0 {
            let place = Int(slots[slot]) - 1
            if isMatch(place) { return place }
            slot = (slot + 1) & mask
        }
        return nil
    }

    @inline(__always)
    private func hash(_ uuid: BeaconUUID) -> Int {
        let product = (uuid.high ^ key.0).multipliedFullWidth(by: uuid.low ^ key.1)
        return Int(truncatingIfNeeded: product.high ^ product.low)
    }
}
