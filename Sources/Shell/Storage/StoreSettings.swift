package import Base
import System

/// The directory of the store, and its limits, each with its reason.
package struct StoreSettings: Sendable {
    /// The state directory; it must exist.
    package var directory: String
    /// `/proc/sys/kernel/random/boot_id`: instants of different boots do not compare.
    package var boot: String
    /// Reads CLOCK_BOOTTIME, on the store's thread.
    package var now: @Sendable () -> MonotonicInstant
    /// Renders a message again with the right times, on the store's thread; nil if the message has no time and is sent
    /// unchanged.
    package var restamp: @Sendable (Restamp) -> [UInt8]?

    /// Messages in the outbox. At ten transitions an hour they cover a year without a broker.
    package var outboxLimit = 100_000
    /// Bytes of payload in the outbox: a small part of any card, read back in a few seconds.
    package var outboxByteLimit = 256 << 20
    /// Messages and history entries in memory while the disk cannot be written: about 5 MB.
    package var memoryLimit = 10_000
    /// Bytes of payload in memory while the disk cannot be written.
    package var memoryByteLimit = 16 << 20
    /// One message. MQTT allows 256 MB; an OwnTracks message over 8 MiB is refused by this program.
    package var payloadLimit = 16 << 20
    /// Refused messages that are kept for a person to examine.
    package var refusedLimit = 1000
    /// Transitions, and as many locations, in the history, independent of their age: about 40 MB each.
    package var historyLimit = 200_000

    /// How old the presence state on the disk may be. A power cut loses the observations of this time; each write costs
    /// one or two pages of the card.
    package var checkpointInterval: Duration = .seconds(60)
    /// How long acknowledged rows wait to be deleted together. A crash within this time repeats their messages.
    package var acknowledgementDelay: Duration = .seconds(2)
    /// How often the store checks whether the command line edited regions (it reads shared memory, without I/O).
    package var editInterval: Duration = .seconds(2)
    /// How often the store checks if `.checkEdits` comes after each write of the command line. Needed for file systems
    /// where a watch does not report writes of other machines, and for programs that keep the file open.
    package static let watchedEditInterval: Duration = .seconds(60)
    /// First and longest wait before failed work is tried again; the wait doubles each time.
    package var retryDelays = Self.retryDelays
    package static let retryDelays: ClosedRange<Duration> = .milliseconds(250)...Duration.seconds(30)
    /// How long to wait for the command line to finish a write.
    package var busyTimeout: Duration = .seconds(2)
    /// The version of the program, which the file names; empty: the file names none.
    package var program = ""
    /// SQLite's name of the file layer; nil for the usual one. For tests of faults.
    package var vfs: String?

    package init(
        directory: String, boot: String, now: @escaping @Sendable () -> MonotonicInstant,
        restamp: @escaping @Sendable (Restamp) -> [UInt8]?
    ) {
        self.directory = directory
        self.boot = boot
        self.now = now
        self.restamp = restamp
    }

    /// The database inside the state directory.
    package var path: String { Self.path(in: directory) }

    /// The file's name in the state directory.
    package static let fileName = "state.db"

    /// The database inside a state directory. Links in the directory's own path are resolved, because SQLite is
    /// configured to follow none.
    package static func path(in directory: String) -> String { "\(AtomicFile.resolved(directory))/\(fileName)" }
}

/// A message that was made before the wall clock was known, with its times.
package struct Restamp: Sendable {
    package let publication: Publication
    /// When it happened, epoch seconds.
    package let happened: Int64
    /// When the message is rendered again, epoch seconds: for `created_at`.
    package let renderedAt: Int64
    /// `happened` was estimated across a restart of the machine.
    package let isEstimated: Bool
}

/// The counters of the store, for `status` and metrics.
package struct StoreCounters: Hashable, Sendable {
    /// Write transactions that reached the disk; each costs one fsync of the write-ahead log.
    package var transactions: UInt64 = 0
    /// Commits in these transactions. While the disk is busy, one transaction joins many.
    package var commits: UInt64 = 0
    /// Pages written, the log's included; a page is 4096 bytes.
    package var pagesWritten: UInt64 = 0
    package var failedTransactions: UInt64 = 0
    package var longestTransaction: Duration = .zero
    /// Messages that wait on the disk.
    package var outboxRows = 0
    package var outboxBytes = 0
    /// Of these, held back until the wall clock is known.
    package var unstampedRows = 0
    /// Messages that were delivered to the broker's client and are not acknowledged.
    package var handedOut = 0
    package var refusedRows: UInt64 = 0
    /// Messages that were replaced by a newer value of the same topic.
    package var superseded: UInt64 = 0
    /// Messages dropped because of a limit, on the disk or in memory.
    package var dropped = DropCounts()
    /// Messages and history entries in memory that are not on the disk yet.
    package var pending = 0
    package var pendingBytes = 0

    package init() {}
}

/// Data dropped because of a limit, by kind.
package struct DropCounts: Hashable, Sendable {
    package var locations: UInt64 = 0
    package var states: UInt64 = 0
    package var others: UInt64 = 0
    package var transitions: UInt64 = 0
    package var history: UInt64 = 0

    package init() {}

    package var total: UInt64 { locations + states + others + transitions + history }

    package mutating func count(_ kind: Publication.Kind, _ number: Int = 1) {
        switch kind {
        case .transition: transitions += UInt64(number)
        case .location, .ping: locations += UInt64(number)
        case .state: states += UInt64(number)
        case .other, .transient: others += UInt64(number)
        }
    }

    package static func + (lhs: DropCounts, rhs: DropCounts) -> DropCounts {
        var sum = lhs
        sum.locations += rhs.locations
        sum.states += rhs.states
        sum.others += rhs.others
        sum.transitions += rhs.transitions
        sum.history += rhs.history
        return sum
    }
}

extension DropCounts: CustomStringConvertible {
    package var description: String {
        [
            (locations, "locations"), (states, "states"), (others, "other messages"), (transitions, "transitions"),
            (history, "history entries"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }
}
