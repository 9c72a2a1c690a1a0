package import Base
package import Beacon

/// A source of advertising reports: a way into Linux Bluetooth, or a recording.
///
/// A scanner runs on the loop's thread and never blocks it. It must report correctly when it listens: presence takes an
/// unreported pause for silence.
package protocol Scanner: AnyObject {
    /// Begins to scan. A temporary problem (no adapter yet, bluetoothd restarting) is no error: the scanner reports it to the
    /// output and recovers by itself.
    ///
    /// - Throws: `ScannerError` if this way cannot work under the present conditions.
    func start() throws(ScannerError)

    /// Stops scanning and leaves the adapters as they were found.
    func stop()

    /// One entry for each adapter met so far.
    var adapters: [AdapterStatus] { get }

    /// Why no adapter can be used, and what to do; nil if one can, or if it is not known yet.
    var problem: ScanProblem? { get }

    /// Sets the share of the time in which the radio listens, before the start or while the scanner runs. When an adapter has
    /// applied it, `AdapterStatus.duty` and a call of `ScannerOutput.listening` report it.
    func setDuty(_ duty: ScanDuty)

    /// Sets the packets that are wanted beside those of iBeacons and telemetry, before the start or while the scanner runs.
    func setPatterns(_ patterns: [BeaconPacketPattern])
}

extension Scanner {
    /// A scanner without adapters has none that is missing.
    package var problem: ScanProblem? { nil }
    /// A scanner that delivers all packets, or only those of iBeacons and telemetry, ignores it.
    package func setPatterns(_ patterns: [BeaconPacketPattern]) {}
    /// A scanner that does not control the radio ignores it, and `AdapterStatus.duty` stays nil.
    package func setDuty(_ duty: ScanDuty) {}
}

/// Why a way of scanning cannot work at all.
package struct ScannerError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// A capability or right is missing.
        case permission
        /// The kernel or the machine lacks something.
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

/// The receiver of a scanner's events. All calls are made on the loop's thread.
package protocol ScannerOutput: AnyObject {
    /// One advertising packet. `data` is valid only during the call.
    func heard(
        _ report: AdvertisingReport, data: Span<UInt8>, by receiver: Receiver, at instant: MonotonicInstant)
    /// A receiver began or stopped listening, or listens with another duty, for this reason.
    func listening(_ isListening: Bool, of receiver: Receiver, at instant: MonotonicInstant, because reason: String)
    /// A receiver that listens pauses for a moment that is nothing to tell a person, or the pause is over. It does not listen
    /// meanwhile. If the pause lasts, `listening` reports it.
    func pausing(_ isPausing: Bool, of receiver: Receiver, at instant: MonotonicInstant)
    /// Something that a person may want to know.
    func notice(_ notice: Notice)
    /// There will be no more reports (a recording has ended).
    func finished(at instant: MonotonicInstant)
}

extension ScannerOutput {
    /// For one that shows what is heard and decides nothing from silence.
    package func pausing(_ isPausing: Bool, of receiver: Receiver, at instant: MonotonicInstant) {}
}

/// The state of one adapter.
package struct AdapterStatus: Sendable {
    package let receiver: Receiver
    /// `hci0`, or the name of a recording.
    package var name: String
    package var isListening = false
    /// Whether it listened until a moment ago, and probably does again in a moment.
    package var isPausing = false
    /// Why the controller does not scan although a scan is set up; nil: it does, or no scan is set up, or it pauses for a moment.
    package var trouble: String?
    /// Advertising reports delivered.
    package var reports: UInt64 = 0
    package var malformed = MalformedCounters()
    /// Reports that are known to have been lost before they reached this program.
    package var lost: UInt64 = 0
    /// How often scanning had to be started again.
    package var restarts: UInt64 = 0
    /// How often the controller had to be reset, because it hung or was deaf.
    package var resets: UInt64 = 0
    /// Share of the time in which the radio listens (0 … 1), if known.
    package var duty: Double?
    package var lastHeard: MonotonicInstant?
    /// What the controller has no room for, the most important first.
    package var unheard: [BeaconPacketPattern.Kind] = []

    package init(receiver: Receiver, name: String) {
        self.receiver = receiver
        self.name = name
    }
}
