import Base
import Configuration
import Regions

/// Changes that were merged into a tracker's regions, before the result replaces them.
struct RegionMerge {
    let regions: RegionSet
    let difference: RegionDifference
    /// The `rid`s of the regions that the changes insert or replace.
    let rids: Set<ExactString>
    /// The number of regions that all trackers would have.
    let total: Int

    /// Whether there are too many regions for the new ones: then nothing is merged.
    var isRefused: Bool { total > Gateway.mostRegions && !difference.inserted.isEmpty }

    /// The number of regions that are refused.
    var refused: UInt64 { isRefused ? UInt64(difference.inserted.count) : 0 }

    /// Why it is refused.
    var reason: String { "this would make \(total) regions; at most \(Gateway.mostRegions) are allowed" }

    /// The line of the log for a merge that is refused.
    var refusal: Gateway.Effect {
        .log(LogEntry(.warning, "regions-refused", "regions: nothing is changed: \(reason)"))
    }
}

extension RegionDifference {
    /// What the log says of a change.
    ///
    /// - Parameter count: The number of regions after it.
    func logEntry(count: Int) -> Gateway.Effect {
        let changes = "\(inserted.count) new, \(updated.count) changed, \(removed.count) removed"
        let text = "\(changes); \(counted(count, "region")) now"
        return .log(LogEntry(.info, "regions", "regions: \(text)"))
    }

    /// What the log says of removals that removed nothing.
    var unmatchedEntries: [Gateway.Effect] {
        unmatched.prefix(10).map { .log(LogEntry(.notice, "waypoint-unmatched", "regions: \($0)")) }
    }
}
