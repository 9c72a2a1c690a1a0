package import Base
package import Beacon

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
