package import Base
package import Beacon
package import Scanning

/// A service's link to Bluetooth: it starts and stops listening, and gives what it hears to a `RadioOutput`.
package protocol RadioLink: AnyObject {
    /// The way of scanning in use, as the configuration calls it.
    var way: String { get }
    var adapters: [AdapterStatus] { get }
    /// Frames that look like an iBeacon's and are not whole.
    var malformed: MalformedCounters { get }

    /// Begins to listen. What is wrong comes by `notice` and is tried again.
    func start(_ output: any RadioOutput)
    func stop()
}

/// What a radio link tells its service.
package protocol RadioOutput: AnyObject {
    /// An iBeacon was received.
    func heard(_ sighting: Sighting, at instant: MonotonicInstant)
    /// A receiver began or ceased to listen.
    ///
    /// - Parameter duty: The share of the time in which the receiver is on while it listens, 0 … 1; nil: not known.
    func listening(
        _ isListening: Bool, of receiver: Receiver, duty: Double?, at instant: MonotonicInstant, because reason: String)
    func notice(_ notice: ScannerNotice)
    /// A recording has ended.
    func finished(at instant: MonotonicInstant)
}
