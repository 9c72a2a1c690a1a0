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

/// A request of the service to the store. No request blocks the caller.
package enum StoreRequest: Sendable {
    /// Writes all changes in one transaction. If the first attempt fails, the event `failed` follows.
    case commit([StoreChange])
    /// Writes this with the next other write, or after `StoreSettings.checkpointInterval`. A newer checkpoint replaces
    /// an older one that still waits.
    case checkpoint(PresenceRecord)
    /// The broker has the message; its row is deleted.
    case acknowledged(Int64)
    /// The broker refused the message for good; its row is set aside.
    case refused(Int64, reason: String)
    /// What was set aside for one of these reasons goes back into the outbox, except states and pings, which are made again.
    case readmit(reasons: Set<String>)
    /// The limit of unacknowledged messages. 0, the default: no message is delivered.
    case window(Int)
    /// The broker's client has lost the unacknowledged messages: they are delivered again, under this generation. It is
    /// larger than that of earlier requests; the first deliveries have 0.
    case redeliver(generation: Int)
    /// The wall clock is right from now on: waiting messages are stamped. The request is repeated whenever the clock
    /// was changed; stamped messages keep their times.
    case clockIsKnown(WallClock)
    /// Reads edits by the command line now (the store also reads them every few seconds).
    case checkEdits
    /// Reports all stored edits again, when no waiting commit may delete some of them.
    case rereadEdits
    /// Forgets transitions and locations before these epoch seconds.
    case pruneHistory(before: Int64)
    /// Writes all waiting data and ends. Sent by `Store.stop`.
    case stop
}
