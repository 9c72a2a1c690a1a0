import Beacon

/// Finds the place of a beacon in a list: open addressing over 4-byte entries, in buckets of four.
///
/// A `Dictionary` would store the 20-byte identity a second time. A bucket is searched at once, without an
/// unpredictable branch for each entry; `Benchmarks/README.md` shows the gain. Nothing depends on the key of the hash,
/// because places are assigned in order.
struct BeaconTable: Sendable {
    /// An entry is 0 if it is empty, else place + 1, with some bits of the hash above it. A bucket is filled from its
    /// first entry on; further beacons go into the next bucket. The number of buckets is a power of two, and at most
    /// three quarters of the entries are taken.
    private var buckets: [SIMD4<UInt32>] = Array(repeating: .zero, count: 4)
    private var count = 0
    private let key = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))

    private static var placeBits: UInt32 { 20 }
    private static var placeMask: UInt32 { 1 << placeBits - 1 }
    /// The greatest number of beacons.
    static var mostPlaces: Int { Int(placeMask) }

    /// The place of a beacon among `beacons`.
    @inline(__always)
    func place(of beacon: BeaconID, in beacons: [TrackedBeacon]) -> Int? {
        let hash = hash(beacon)
        let bucket = buckets[Int(truncatingIfNeeded: hash) & (buckets.count - 1)]
        // Almost always at most one entry has these bits. The sum of two entries leads to another beacon, or to none.
        let found = bucket.replacing(with: 0, where: (bucket & ~Self.placeMask) .!= Self.hashBits(hash))
        let place = Int(found.wrappedSum() & Self.placeMask) - 1
        if place >= 0, place < beacons.count, beacons[place].beacon.isSame(as: beacon) { return place }
        return search(hash, for: beacon, in: beacons)
    }

    /// Compares one entry after the other.
    @inline(never)
    private func search(_ hash: UInt64, for beacon: BeaconID, in beacons: [TrackedBeacon]) -> Int? {
        var slot = Int(truncatingIfNeeded: hash) & (buckets.count - 1)
        while true {
            for index in 0..<4 {
                let entry = buckets[slot][index]
                guard entry != 0 else { return nil }
                let place = Int(entry & Self.placeMask) - 1
                if entry & ~Self.placeMask == Self.hashBits(hash), beacons[place].beacon.isSame(as: beacon) {
                    return place
                }
            }
            slot = (slot + 1) & (buckets.count - 1)
        }
    }

    /// Adds a beacon that is not in the table. `beacons` gives the identity at each place, for rehashing when the table
    /// grows.
    mutating func insert(_ beacon: BeaconID, at place: Int, beacons: (Int) -> BeaconID) {
        if count >= buckets.count * 3 {
            let old = buckets
            buckets = Array(repeating: .zero, count: old.count * 2)
            for bucket in old {
                for index in 0..<4 where bucket[index] != 0 {
                    let other = Int(bucket[index] & Self.placeMask) - 1
                    put(beacons(other), at: other)
                }
            }
        }
        put(beacon, at: place)
        count += 1
    }

    private mutating func put(_ beacon: BeaconID, at place: Int) {
        let hash = hash(beacon)
        var slot = Int(truncatingIfNeeded: hash) & (buckets.count - 1)
        while buckets[slot][3] != 0 { slot = (slot + 1) & (buckets.count - 1) }
        var index = 0
        while buckets[slot][index] != 0 { index += 1 }
        buckets[slot][index] = Self.hashBits(hash) | UInt32(truncatingIfNeeded: place + 1)
    }

    /// The bits of a hash that an entry keeps. They differ from those that choose the bucket.
    @inline(__always)
    private static func hashBits(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 32) & ~placeMask }

    /// The same as `BeaconHash`. A call into that target would cost twice as much.
    @inline(__always)
    private func hash(_ beacon: BeaconID) -> UInt64 {
        let numbers = UInt64(beacon.major) << 16 | UInt64(beacon.minor)
        let left = beacon.uuid.high ^ key.0
        let right = beacon.uuid.low ^ key.1 ^ (numbers &* 0x9e37_79b9_7f4a_7c15)
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}

extension BeaconID {
    /// Equality, written out: the synthesised one is a call into another module. One comparison instead of four.
    @inline(__always)
    func isSame(as other: BeaconID) -> Bool {
        let numbers = UInt64((minor ^ other.minor) | (major ^ other.major))
        return (uuid.low ^ other.uuid.low) | (uuid.high ^ other.uuid.high) | numbers == 0
    }
}
