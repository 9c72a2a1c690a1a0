/// An enrolment, whichever back end pairs.
package protocol Enrolment: AnyObject {
    func start()
    /// Ends the enrolment. The event `ended` follows when everything is undone.
    func interrupt()
}
