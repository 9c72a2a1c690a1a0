public import Beacon

/// Finds the regions that a beacon belongs to: UUID → major → minor, with wildcards.
///
/// The cost of a look-up depends on the number of matching regions, not on the number of all regions. A beacon with an
/// unknown UUID, the usual case in a street, costs one miss.
public struct RegionIndex: Sendable {
    /// The regions of one UUID, by their major and minor; of several regions with one pattern the last.
    private struct Entry: Sendable {
        let uuid: BeaconUUID
        var anyBeacon: Int32?
        var byMajor: [UInt16: Int32] = [:]
        var byMinor: [UInt16: Int32] = [:]
        var exact: [UInt32: Int32] = [:]
    }

    private var entries: [Entry] = []
    /// For each region, the index of the previous one with the same pattern; −1 if there is none, which is nearly
    /// always so. A list for each pattern would take more memory than everything else.
    private var earlier: [Int32] = []
    /// For each region, how many have the same pattern up to it, and the first of these.
    private var chains: [(count: Int32, first: Int32)]
    private var table: UUIDTable

    /// - Parameter patterns: The patterns of the regions; look-ups give indices in this list.
    public init(_ patterns: some Sequence<BeaconPattern>) {
        var entryIndices: [BeaconUUID: Int] = [:]
        var chains: [(count: Int32, first: Int32)] = []
        earlier.reserveCapacity(patterns.underestimatedCount)
        for (index, pattern) in patterns.enumerated() {
            let entryIndex = entryIndices[pattern.uuid] ?? entries.count
            if entryIndex == entries.count {
                entryIndices[pattern.uuid] = entryIndex
                entries.append(Entry(uuid: pattern.uuid))
            }
            let last = Int32(index)
            let before: Int32? =
                switch (pattern.major, pattern.minor) {
                case (nil, nil): exchange(&entries[entryIndex].anyBeacon, with: last)
                case (let major?, nil): entries[entryIndex].byMajor.updateValue(last, forKey: major)
                case (nil, let minor?): entries[entryIndex].byMinor.updateValue(last, forKey: minor)
                case (let major?, let minor?):
                    entries[entryIndex].exact.updateValue(last, forKey: Self.key(major, minor))
                }
            earlier.append(before ?? -1)
            let chain = before.map { chains[Int($0)] }
            chains.append((count: (chain?.count ?? 0) + 1, first: chain?.first ?? last))
        }
        self.chains = chains
        table = UUIDTable(entries.map(\.uuid))
    }

    /// Calls `body` with the index of each region that the beacon belongs to.
    public func forEachMatch(of beacon: BeaconID, _ body: (Int32) -> Void) {
        guard let entryIndex = entryIndex(of: beacon.uuid) else { return }
        forEach(endingWith: entries[entryIndex].anyBeacon, body)
        forEach(endingWith: entries[entryIndex].byMajor[beacon.major], body)
        forEach(endingWith: entries[entryIndex].byMinor[beacon.minor], body)
        forEach(endingWith: entries[entryIndex].exact[Self.key(beacon.major, beacon.minor)], body)
    }

    private func forEach(endingWith last: Int32?, most: Int = .max, _ body: (Int32) -> Void) {
        var index = last ?? -1
        var count = 0
        while index >= 0, count < most {
            body(index)
            index = earlier[Int(index)]
            count += 1
        }
    }

    /// The last region of each pattern that the beacon matches: at most four, however many regions there are.
    private func ends(of beacon: BeaconID) -> [Int32] {
        guard let entryIndex = entryIndex(of: beacon.uuid) else { return [] }
        return [
            entries[entryIndex].anyBeacon, entries[entryIndex].byMajor[beacon.major],
            entries[entryIndex].byMinor[beacon.minor],
            entries[entryIndex].exact[Self.key(beacon.major, beacon.minor)],
        ].compactMap(\.self)
    }

    /// The number of regions that the beacon belongs to. It costs the same for any number.
    package func matchCount(of beacon: BeaconID) -> Int {
        ends(of: beacon).reduce(0) { $0 + Int(chains[Int($1)].count) }
    }

    /// The indices of regions that the beacon belongs to, in their order: of each pattern the last ones.
    ///
    /// - Parameter most: How many, and how many of each pattern.
    package func matches(of beacon: BeaconID, most: Int) -> [Int32] {
        var found: [Int32] = []
        for end in ends(of: beacon) { forEach(endingWith: end, most: most) { found.append($0) } }
        return Array(found.sorted().prefix(most))
    }

    /// The patterns of the regions that the beacon belongs to, each once: at most four.
    package func patterns(of beacon: BeaconID) -> [BeaconPattern] {
        guard let entryIndex = entryIndex(of: beacon.uuid) else { return [] }
        let (entry, uuid) = (entries[entryIndex], beacon.uuid)
        var patterns: [BeaconPattern] = []
        if entry.anyBeacon != nil { patterns.append(BeaconPattern(uuid: uuid)) }
        if entry.byMajor[beacon.major] != nil { patterns.append(BeaconPattern(uuid: uuid, major: beacon.major)) }
        if entry.byMinor[beacon.minor] != nil { patterns.append(BeaconPattern(uuid: uuid, minor: beacon.minor)) }
        if entry.exact[Self.key(beacon.major, beacon.minor)] != nil {
            patterns.append(BeaconPattern(uuid: uuid, major: beacon.major, minor: beacon.minor))
        }
        return patterns
    }

    /// The index of the region that names the beacon exactly (the last of several), else of the first that it
    /// belongs to.
    public func mostExactMatch(of beacon: BeaconID) -> Int? {
        guard let entryIndex = entryIndex(of: beacon.uuid) else { return nil }
        if let exact = entries[entryIndex].exact[Self.key(beacon.major, beacon.minor)] { return Int(exact) }
        var first = Int32.max
        if let end = entries[entryIndex].anyBeacon { first = min(first, chains[Int(end)].first) }
        if let end = entries[entryIndex].byMajor[beacon.major] { first = min(first, chains[Int(end)].first) }
        if let end = entries[entryIndex].byMinor[beacon.minor] { first = min(first, chains[Int(end)].first) }
        return first == .max ? nil : Int(first)
    }

    /// Whether the beacon belongs to any region. It allocates nothing, because it is called for each unknown beacon.
    public func hasMatch(of beacon: BeaconID) -> Bool {
        guard let entryIndex = entryIndex(of: beacon.uuid) else { return false }
        return entries[entryIndex].anyBeacon != nil
            || entries[entryIndex].exact.index(forKey: Self.key(beacon.major, beacon.minor)) != nil
            || entries[entryIndex].byMajor.index(forKey: beacon.major) != nil
            || entries[entryIndex].byMinor.index(forKey: beacon.minor) != nil
    }

    private func entryIndex(of uuid: BeaconUUID) -> Int? {
        table.index(of: uuid) { entries[$0].uuid == uuid }
    }

    private static func key(_ major: UInt16, _ minor: UInt16) -> UInt32 {
        UInt32(major) << 16 | UInt32(minor)
    }
}

/// Finds the index of a UUID in a list: open addressing under a hash of one multiplication.
///
/// A `Dictionary`'s hash costs five times as much, for every unknown iBeacon. The key is random for each table, so that
/// a person who configures regions cannot choose UUIDs that collide.
private struct UUIDTable: Sendable {
    /// Index + 1; 0 is empty. A power of two, at most half of them taken.
    private var slots: [UInt32]
    private let key = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))

    init(_ uuids: [BeaconUUID]) {
        var size = 4
        while size < uuids.count * 2 { size *= 2 }
        slots = Array(repeating: 0, count: size)
        for (entryIndex, uuid) in uuids.enumerated() {
            var slot = hash(uuid) & (size - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (size - 1) }
            slots[slot] = UInt32(truncatingIfNeeded: entryIndex + 1)
        }
    }

    /// The index for which `isMatch` holds, among those whose hash may be that of `uuid`.
    @inline(__always)
    func index(of uuid: BeaconUUID, isMatch: (Int) -> Bool) -> Int? {
        let mask = slots.count - 1
        var slot = hash(uuid) & mask
        while slots[slot] != 0 {
            let entryIndex = Int(slots[slot]) - 1
            if isMatch(entryIndex) { return entryIndex }
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
