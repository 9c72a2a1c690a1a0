import Base
import Regions

/// How many regions trackers may have together.
package struct RegionLimit: Hashable, Sendable {
    /// The base topics of the trackers that count.
    package let trackers: [String]
    package let most: Int

    package init(of trackers: [String], most: Int) { (self.trackers, self.most) = (trackers, most) }

    /// Whether changes of one tracker would be refused, as the service decides it: those that make no new region never are.
    ///
    /// - Parameter sets: The regions of all trackers.
    /// - Returns: The number of regions that there would be, if it is too large.
    func excess(of changes: [RegionChange], to tracker: String, in sets: [ExactString: RegionSet]) -> Int? {
        var set = sets[ExactString(tracker)] ?? RegionSet()
        guard !set.apply(changes).inserted.isEmpty else { return nil }
        let others = trackers.filter { !$0.hasSameBytes(as: tracker) }
        let total = others.reduce(set.regions.count) { $0 + (sets[ExactString($1)]?.regions.count ?? 0) }
        return total > most ? total : nil
    }
}
