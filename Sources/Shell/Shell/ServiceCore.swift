package import Base

/// What a service decides, without clock and I/O. `App` passes it what happens, and carries out its effects.
package protocol ServiceCore {
    associatedtype Input: ServiceInput
    associatedtype Effect

    /// When the next `tick` is needed; nil while nothing is pending.
    var nextDeadline: MonotonicInstant? { get }
    /// Handles one input. Time does not go backwards.
    ///
    /// - Returns: One decision.
    mutating func handle(_ input: Input, at instant: MonotonicInstant) -> [Effect]
}
