package import Base
package import Regions

/// One part of a commit.
package enum StoreChange: Sendable {
    /// These are the tracker's regions from now on, in this order.
    case regions(tracker: String, [Region])
    /// This is the presence state from now on.
    case presence(PresenceRecord)
    /// A change of the presence state, in the engine's own form. It is read after the whole state and the earlier
    /// changes.
    case presenceChange([UInt8])
    /// A message to deliver.
    case message(Publication)
    /// A transition to remember.
    case history(PastTransition)
    /// A location to remember.
    case location(PastLocation)
    /// Deletes all transitions of this tracker that were remembered before.
    case eraseHistory(tracker: String)
    /// A small value to keep; nil forgets it. Keys beginning with `store.` are the store's own.
    case value(key: String, [UInt8]?)
    /// A large value to keep, which the store's thread makes: the committing thread does not wait for it. If a newer value
    /// comes before it is written, it is not made. It may be made twice, after a failure of the disk.
    case madeValue(key: String, @Sendable () -> [UInt8])
    /// The tracker's edits up to this one are in the regions that the same commit writes.
    case editsTaken(tracker: String, upTo: Int64)
}
