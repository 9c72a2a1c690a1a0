package import Base

/// A timer of a `ServiceHost`, for the life of this object.
package protocol ServiceTimer: AnyObject {
    /// Fires once at `instant`, or at once if that has passed; replaces an earlier arming.
    func arm(at instant: MonotonicInstant)
    /// Fires once after `delay` from now.
    func arm(after delay: Duration)
    /// Disarms the timer.
    func disarm()
}
