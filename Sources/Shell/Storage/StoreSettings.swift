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
