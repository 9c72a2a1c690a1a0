package import Base
package import Beacon

/// A source of advertising reports: a way into Linux Bluetooth, or a recording.
///
/// A scanner runs on the loop's thread, never blocks it, and tells its output the truth about when it
/// listens: what it does not tell, presence takes for silence.
package protocol Scanner: AnyObject {
    /// Begins to scan. Trouble that can pass (no adapter yet, bluetoothd restarting) is no error: it is
    /// told to the output and mended by the scanner itself.
    ///
    /// - Throws: `ScannerError` if this way can never work as things are.
    func start() throws(ScannerError)

    /// Stops scanning and leaves the adapters as they were found.
    func stop()

    /// One entry for each adapter that has been met.
    var adapters: [AdapterStatus] { get }

    /// Sets the share of the time in which the radio listens, before the start or while the scanner runs. When an
    /// adapter has taken it, `AdapterStatus.duty` and a call of `ScannerOutput.listening` say so.
    func setDuty(_ duty: ScanDuty)
}

extension Scanner {
    /// A scanner without influence on the radio ignores it, and `AdapterStatus.duty` stays nil.
    package func setDuty(_ duty: ScanDuty) {}
}

/// Why a way of scanning cannot work at all.
package struct ScannerError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// A capability or right is missing.
        case permission
        /// The kernel or the machine has no such thing.
        case unavailable
        /// The recording cannot be read.
        case badInput
    }

    package let kind: Kind
    /// What was wrong, where, and what to do.
    package let description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}

/// What a scanner tells. All calls come on the loop's thread.
package protocol ScannerOutput: AnyObject {
    /// One advertising packet. `data` lives only during the call.
    func heard(
        _ report: AdvertisingReport, data: Span<UInt8>, by receiver: Receiver, at instant: MonotonicInstant)
    /// A receiver began or ceased to listen, or listens with another duty, and why.
    func listening(_ isListening: Bool, of receiver: Receiver, at instant: MonotonicInstant, because reason: String)
    /// Something that a person may want to know of.
    func notice(_ notice: ScannerNotice)
    /// There will be no more reports (a recording has ended).
    func finished(at instant: MonotonicInstant)
}

/// A line for the log.
package struct ScannerNotice: Hashable, Sendable {
    package let priority: LogPriority
    package let text: String

    package init(_ priority: LogPriority, _ text: String) {
        self.priority = priority
        self.text = text
    }
}

/// How one adapter does.
package struct AdapterStatus: Sendable {
    package let receiver: Receiver
    /// `hci0`, or the name of a recording.
    package var name: String
    package var isListening = false
    /// Advertising reports delivered.
    package var reports: UInt64 = 0
    package var malformed = MalformedCounters()
    /// Reports that are known to have been lost before they reached us.
    package var lost: UInt64 = 0
    /// How often scanning had to be started again.
    package var restarts: UInt64 = 0
    /// How often the controller had to be reset, because it hung or was deaf.
    package var resets: UInt64 = 0
    /// Share of the time in which the radio listens (0 … 1), if known.
    package var duty: Double?
    package var lastHeard: MonotonicInstant?

    package init(receiver: Receiver, name: String) {
        self.receiver = receiver
        self.name = name
    }
}
