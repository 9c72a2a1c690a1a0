package import Base

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
