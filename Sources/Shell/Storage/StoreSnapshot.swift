package import Base
package import Regions

/// The content of the file when it was opened.
package struct StoreSnapshot: Sendable {
    /// Regions by tracker, in their order.
    package var regions: [ExactString: [Region]] = [:]
    package var presence: PresenceRecord?
    package var values: [ExactString: [UInt8]] = [:]
    /// Edits by the command line that are not in `regions` yet.
    package var edits: [RegionEdit] = []
    /// Messages that wait.
    package var outboxCount = 0
    /// Whether this is the first time, or nothing could be saved from a damaged file.
    package var isNew: Bool

    package init(isNew: Bool = false) {
        self.isNew = isNew
    }
}
