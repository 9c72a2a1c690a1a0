internal import Beacon

/// Finds the place of a beacon in a list: open addressing with linear probing over 4-byte entries.
///
/// A `Dictionary` would keep the 20-byte identity a second time. Nothing depends on the key of the hash, as places are
/// given out in order.
struct BeaconTable: Sendable {
    /// Place + 1; 0 is empty. A power of two entries, at most three quarters of them taken.
    private var entries: [UInt32] = Array(repeating: 0, count: 16)
    private var count = 0
    private let hash = BeaconHash()

    /// The place for which `isMatch` holds, among those whose hash may be that of `beacon`.
    @inline(__always)
    func place(of beacon: BeaconID, isMatch: (Int) -> Bool) -> Int? {
        let mask = entries.count - 1
        var slot = hash(beacon) & mask
        while entries[slot] != 0 {
            let place = Int(entries[slot]) - 1
            if isMatch(place) { return place }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// Adds a beacon that is not in the table. `beacons` gives the identity at each place, to rehash when it grows.
    mutating func insert(_ beacon: BeaconID, at place: Int, beacons: (Int) -> BeaconID) {
        if (count + 1) * 4 > entries.count * 3 {
            let old = entries
            entries = Array(repeating: 0, count: old.count * 2)
            for entry in old where entry != 0 { put(beacons(Int(entry) - 1), entry) }
        }
        put(beacon, UInt32(truncatingIfNeeded: place + 1))
        count += 1
    }

    private mutating func put(_ beacon: BeaconID, _ entry: UInt32) {
        let mask = entries.count - 1
        var slot = hash(beacon) & mask
        while entries[slot] != 0 { slot = (slot + 1) & mask }
        entries[slot] = entry
    }
}
