/// A change that the command line asks of the service.
package struct RegionEdit: Hashable, Sendable {
    package enum Change: Hashable, Sendable {
        case region(RegionChange)
        /// Deletes the tracker's history.
        case eraseHistory
    }

    /// Grows with each edit.
    package let id: Int64
    /// The base topic of the tracker.
    package let tracker: String
    package let change: Change

    package init(id: Int64, tracker: String, change: Change) {
        self.id = id
        self.tracker = tracker
        self.change = change
    }

    /// The change of the tracker's regions; nil if the edit changes none.
    package var regionChange: RegionChange? { if case .region(let change) = change { change } else { nil } }
}
