/// A registration with the event loop. Dropping it does not cancel it.
package protocol EventRegistration: AnyObject {
    func cancel()
}
