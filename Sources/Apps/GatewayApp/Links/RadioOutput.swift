package import Base
package import Beacon

/// The receiver of a radio link's events.
package protocol RadioOutput: AnyObject {
    /// An iBeacon was received.
    func heard(_ sighting: Sighting, at instant: MonotonicInstant)
    /// A beacon told the state of its battery.
    func heard(_ telemetry: BeaconTelemetry, at instant: MonotonicInstant)
    /// A receiver started or stopped listening, or listens with another duty.
    ///
    /// - Parameter duty: The share of the time in which the receiver is on while it listens, 0 … 1; nil: not known.
    func listening(
        _ isListening: Bool, of receiver: Receiver, duty: Double?, at instant: MonotonicInstant, because reason: String)
    /// A receiver that listens pauses for a moment that is nothing to tell a person, or the pause is over.
    func pausing(_ isPausing: Bool, of receiver: Receiver, at instant: MonotonicInstant)
    func notice(_ notice: Notice)
    /// Something else has become of the beacon that is to be sent (`RadioLink.sending`, `RadioLink.advertisements`).
    func sendingChanged()
    /// A recording has ended.
    func finished(at instant: MonotonicInstant)
}
