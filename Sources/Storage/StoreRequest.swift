package import Base
import Beacon
package import Regions

/// One part of what a commit writes.
package enum StoreChange: Sendable {
    /// These are the tracker's regions from now on, in this order.
    case regions(tracker: String, [Region])
    /// This is the presence state from now on.
    case presence(PresenceRecord)
    /// This changed in the presence state that was given before: the engine's own form, to be read after the whole and
    /// the changes before it.
    case presenceChange([UInt8])
    /// A message to deliver.
    case message(OutgoingMessage)
    /// A transition to remember.
    case history(HistoryEntry)
    /// A location to remember.
    case location(LocationEntry)
    /// A small value to keep; nil forgets it. Keys beginning with `store.` are the store's own.
    case value(key: String, [UInt8]?)
    /// The tracker's edits up to this one are in the regions that the same commit writes.
    case editsTaken(tracker: String, upTo: Int64)
}

/// What the wall clock shows, as an offset: epoch nanoseconds at the instant zero of CLOCK_BOOTTIME.
package struct WallClockReading: Hashable, Sendable {
    package let epochNanosecondsAtBoot: Int64

    package init(epochNanosecondsAtBoot: Int64) {
        self.epochNanosecondsAtBoot = epochNanosecondsAtBoot
    }

    /// - Parameters:
    ///   - epochSeconds: What the wall clock shows.
    ///   - instant: When it shows it.
    package init(epochSeconds: Double, at instant: MonotonicInstant) {
        self.init(epochNanosecondsAtBoot: Int64(epochSeconds * 1e9) &- instant.nanoseconds)
    }

    /// Epoch seconds at `instant`, rounded down.
    package func epochSeconds(at instant: MonotonicInstant) -> Int64 {
        let (nanoseconds, overflow) = epochNanosecondsAtBoot.addingReportingOverflow(instant.nanoseconds)
        guard !overflow else { return 0 }
        return nanoseconds >= 0 ? nanoseconds / 1_000_000_000 : -((-nanoseconds + 999_999_999) / 1_000_000_000)
    }
}

/// What the daemon asks of the store. None of it blocks the caller.
package enum StoreRequest: Sendable {
    /// Writes all of the changes in one transaction. If that fails at the first try, `failed` says so.
    case commit([StoreChange])
    /// Writes this when something else is written anyway, or after `StoreSettings.checkpointInterval`.
    /// A newer one replaces an older one that still waits.
    case checkpoint(PresenceRecord)
    /// The broker has the message; its row goes.
    case acknowledged(Int64)
    /// The broker will never take the message; its row is set aside.
    case refused(Int64, reason: String)
    /// This many messages may be with the broker at one time, unacknowledged. 0, the default, holds all
    /// back.
    case window(Int)
    /// What was handed out and not acknowledged is lost to the broker's client: hand it out again.
    case redeliver
    /// The wall clock is right from now on: stamps what waits for it. Say it again whenever the clock
    /// was stepped: messages that are stamped already stay as they are.
    case clockIsKnown(WallClockReading)
    /// Look for edits by the command line now (it is done every few seconds anyway).
    case checkEdits
    /// Hands all edits out again that are on the disk, once no commit is on its way that may take some of them.
    case rereadEdits
    /// Forgets transitions and locations before these epoch seconds.
    case pruneHistory(before: Int64)
    /// Writes what waits and ends. Sent by `Store.stop`.
    case stop
}
