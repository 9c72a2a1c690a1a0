/// Finds the index of a region by its key (the last of several with one key): open addressing over 4-byte entries.
///
/// A `Dictionary` would store the key, of 24 bytes, a second time.
struct RegionTable: Sendable {
    /// Index + 1; 0 is empty. A power of two, at most half of them taken.
    private var slots: [UInt32]

    init(_ keys: [RegionKey]) {
        var size = 4
        while size < keys.count * 2 { size *= 2 }
        slots = Array(repeating: 0, count: size)
        for (index, key) in keys.enumerated() {
            slots[slot(of: key, in: keys)] = UInt32(truncatingIfNeeded: index + 1)
        }
    }

    /// - Parameter keys: The list that the table was made from.
    func index(of key: RegionKey, in keys: [RegionKey]) -> Int? {
        let entry = slots[slot(of: key, in: keys)]
        return entry == 0 ? nil : Int(entry) - 1
    }

    /// The slot of the key, or the one where it belongs.
    private func slot(of key: RegionKey, in keys: [RegionKey]) -> Int {
        var slot = key.hashValue & (slots.count - 1)
        while slots[slot] != 0, keys[Int(slots[slot]) - 1] != key { slot = (slot + 1) & (slots.count - 1) }
        return slot
    }
}
