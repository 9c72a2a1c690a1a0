package import Regions

/// An edit by the command line.
package struct SiteEdit: Sendable {
    package enum Change: Sendable {
        /// nil if the edit belongs to another tracker.
        case tags(RegionChange?)
        /// Deletes the history of this topic.
        case eraseHistory(topic: String)
    }

    /// Grows with each edit.
    package let id: Int64
    package let change: Change

    package init(id: Int64, _ change: Change) { (self.id, self.change) = (id, change) }
}
