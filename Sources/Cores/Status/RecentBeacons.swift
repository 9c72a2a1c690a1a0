import Beacon

/// Places for a bounded number of beacons, in the order in which they were heard. When all are taken, the beacon heard
/// longest ago gives its place to a new one. `hear` and `removeOldest` take constant time and allocate nothing, because
/// a crowded street brings new addresses and invented identities by the hundred.
struct RecentBeacons: Sendable {
    private struct Item: BitwiseCopyable {
        var beacon: BeaconID
        /// Places of the neighbours in the order of hearing; −1 at the ends.
        var older: Int32 = -1
        var newer: Int32 = -1
    }

    private let capacity: Int
    private var items: [Item] = []
    /// Places that were freed. They are reused first.
    private var free: [Int32] = []
    private var newest: Int32 = -1
    private var oldestPlace: Int32 = -1
    /// Place + 1 by hash; 0 is empty. Open addressing with linear probing; at most half of the slots are used.
    private var table: [UInt16]
    private let hash = BeaconHash()

    /// - Parameter capacity: Largest number of remembered beacons, at most 32,767.
    init(capacity: Int) {
        self.capacity = min(max(1, capacity), Int(Int16.max))
        items.reserveCapacity(self.capacity)
        free.reserveCapacity(self.capacity)
        var size = 4
        while size < self.capacity * 2 { size *= 2 }
        table = Array(repeating: 0, count: size)
    }

    var count: Int { items.count - free.count }

    /// The place of the beacon heard longest ago.
    var oldest: Int? { oldestPlace < 0 ? nil : Int(oldestPlace) }

    /// All places; that of the beacon heard last comes first.
    var places: [Int] {
        var places: [Int] = []
        var place = newest
        while place >= 0 {
            places.append(Int(place))
            place = items[Int(place)].older
        }
        return places
    }

    /// Records that the beacon was heard, and returns its place, which is below `capacity`.
    mutating func hear(_ beacon: BeaconID) -> (place: Int, isNew: Bool) {
        let home = hash(beacon)
        if let place = find(beacon, from: home) {
            if place != Int(newest) {
                unlink(place)
                append(place)
            }
            return (place, false)
        }
        if count >= capacity { removeOldest() }
        let place: Int
        if let given = free.popLast() {
            place = Int(given)
            items[place] = Item(beacon: beacon)
        } else {
            place = items.count
            items.append(Item(beacon: beacon))
        }
        insert(place, from: home)
        append(place)
        return (place, true)
    }

    mutating func removeOldest() {
        guard let place = oldest else { return }
        unlink(place)
        removeFromTable(place)
        free.append(Int32(truncatingIfNeeded: place))
    }

    // MARK: Order

    private mutating func append(_ place: Int) {
        items[place].older = newest
        items[place].newer = -1
        if newest >= 0 { items[Int(newest)].newer = Int32(truncatingIfNeeded: place) }
        newest = Int32(truncatingIfNeeded: place)
        if oldestPlace < 0 { oldestPlace = newest }
    }

    private mutating func unlink(_ place: Int) {
        let (older, newer) = (items[place].older, items[place].newer)
        if older >= 0 { items[Int(older)].newer = newer } else { oldestPlace = newer }
        if newer >= 0 { items[Int(newer)].older = older } else { newest = older }
    }

    // MARK: Table

    /// - Parameter home: The hash of the beacon.
    private func find(_ beacon: BeaconID, from home: Int) -> Int? {
        let mask = table.count - 1
        var slot = home & mask
        while table[slot] != 0 {
            let place = Int(table[slot]) - 1
            if items[place].beacon == beacon { return place }
            slot = (slot + 1) & mask
        }
        return nil
    }

    private mutating func insert(_ place: Int, from home: Int) {
        let mask = table.count - 1
        var slot = home & mask
        while table[slot] != 0 { slot = (slot + 1) & mask }
        table[slot] = UInt16(truncatingIfNeeded: place + 1)
    }

    /// Empties the slot of a place, and moves later entries back so that searches still find them.
    private mutating func removeFromTable(_ place: Int) {
        let mask = table.count - 1
        var hole = hash(items[place].beacon) & mask
        while Int(table[hole]) != place + 1 { hole = (hole + 1) & mask }
        var slot = hole
        while true {
            slot = (slot + 1) & mask
            guard table[slot] != 0 else { break }
            let home = hash(items[Int(table[slot]) - 1].beacon) & mask
            // An entry may stay if its search begins after the hole.
            guard (slot &- home) & mask >= (slot &- hole) & mask else { continue }
            table[hole] = table[slot]
            hole = slot
        }
        table[hole] = 0
    }
}
