package import Base
package import Beacon

/// The state of one adapter.
package struct AdapterStatus: Sendable {
    package let receiver: Receiver
    /// `hci0`, or the name of a recording.
    package var name: String
    /// nil if it is not known, as of a recording.
    package var address: DeviceAddress?
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
    /// Windows of active scan, while they are offered.
    package var activeScan = ActiveScan.unavailable
    /// What the controller has no room for, the most important first.
    package var unheard: [BeaconPacketPattern.Kind] = []

    package init(receiver: Receiver, name: String) {
        self.receiver = receiver
        self.name = name
    }
}
