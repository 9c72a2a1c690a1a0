import Presence

/// How presence is stored: the whole state from time to time, and with each transition its changes.
struct PresencePersistence: Sendable {
    /// Changes that are stored before the whole state is stored again.
    private static let mostChanges = 255
    /// Regions that one change names.
    private static let mostChangedRegions = 256

    /// How many changes may still be stored beside the last whole state.
    private var changesLeft = 0
    /// Regions that were entered or left since presence was stored.
    private var changedRegions: [RegionKey] = []
    private var sightingsAtCheckpoint: UInt64 = 0

    var allowsChange: Bool { changesLeft > 0 }

    /// Presence must be stored whole next: the stored state is lost, or more than transitions changed.
    mutating func needsWhole() { changesLeft = 0 }

    /// The region was entered or left.
    mutating func recordChange(of key: RegionKey) {
        guard changesLeft > 0 else { return }
        if !changedRegions.contains(key) { changedRegions.append(key) }
        if changedRegions.count > Self.mostChangedRegions { needsWhole() }
    }

    mutating func storesWhole(sightings: UInt64) {
        changesLeft = Self.mostChanges
        changedRegions = []
        sightingsAtCheckpoint = sightings
    }

    /// - Returns: the regions that the change is about.
    mutating func storesChange() -> [RegionKey] {
        changesLeft -= 1
        defer { changedRegions = [] }
        return changedRegions
    }

    func isUnchanged(sightings: UInt64) -> Bool { sightings == sightingsAtCheckpoint }
}
