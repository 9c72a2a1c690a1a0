import Base
import OwnTracks

/// The locations that follow the transitions of one second.
struct LocationBurst: Sendable {
    /// Locations of a tracker with the same `tst`. A location lists the occupied regions, so a location for each of N
    /// transitions would cost N² bytes. Transitions beyond this number share one location at the end of the second.
    static let mostPerSecond = 32

    private var second = Int64.min
    private var count = 0
    /// When the shared location is due; nil: none waits.
    private(set) var due: MonotonicInstant?
    /// The trigger of the last transition of the second.
    private(set) var trigger = Location.Trigger.beacon

    /// Whether a shared location waits for transitions of another second than `second`.
    func waits(before second: Int64) -> Bool { due != nil && self.second != second }

    /// - Parameter end: When the second ends.
    /// - Returns: whether a location of its own follows this transition.
    mutating func admits(second: Int64, endsAt end: MonotonicInstant, trigger: Location.Trigger) -> Bool {
        self.trigger = trigger
        if second != self.second { (self.second, count) = (second, 0) }
        count += 1
        guard count > Self.mostPerSecond else { return true }
        due = due ?? end
        return false
    }

    mutating func published() { due = nil }
}
