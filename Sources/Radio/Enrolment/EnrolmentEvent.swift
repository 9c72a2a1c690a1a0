/// What the owner of an enrolment is told.
package enum EnrolmentEvent: Hashable, Sendable {
    case progress(EnrolmentProgress)
    /// bluetoothd does not run, so nothing was begun. It is the last event.
    case withoutBluetoothd
    /// The last event.
    ///
    /// - Parameter left: What could not be undone, and why.
    case ended(EnrolmentOutcome, left: [String])
}
