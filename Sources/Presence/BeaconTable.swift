internal import Beacon

/// Finds the place of a beacon in a list: open addressing with linear probing over 4-byte entries.
///
/// A `Dictionary` would keep the 20-byte identity a second time. Nothing depends on the key of the hash, as places are
/// given out in order.
struct BeaconTable: Sendable {
    /// Place + 1; 0 is empty. A power of two entries, at most three quarters of them taken.
    private var entries: [UInt32] = Array(repeating: 0, count: 16)
    private var count = 0
    private let key = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))

    /// The place of a beacon among `beacons`.
    @inline(__always)
    func place(of beacon: BeaconID, in beacons: [TrackedBeacon]) -> Int? {
        let mask = entries.count - 1
        var slot = hash(beacon) & mask
        while entries[slot] != 0 {
            let place = Int(entries[slot]) - 1
            if beacons[place].beacon.isSame(as: beacon) { return place }
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

    /// As `BeaconHash` does, which as a call into another target would cost twice as much.
    @inline(__always)
    private func hash(_ beacon: BeaconID) -> Int {
        let numbers = UInt64(beacon.major) << 16 | UInt64(beacon.minor)
        let left = beacon.uuid.high ^ key.0
        let right = beacon.uuid.low ^ key.1 ^ (numbers &* 0x9e37_79b9_7f4a_7c15)
        let product = left.multipliedFullWidth(by: right)
        return Int(truncatingIfNeeded: product.high ^ product.low)
    }
}

extension BeaconID {
    /// Equality, written out: the synthesised one is a call into another module.
    @inline(__always)
    func isSame(as other: BeaconID) -> Bool {
        minor == other.minor && major == other.major && uuid.low == other.uuid.low && uuid.high == other.uuid.high
    }
}
