import Base
import Runtime

/// Until when a tick that is due waits for reports.
///
/// The reports of the radio are read before a tick, because a beacon whose report waits must not leave. On a machine where reports wait
/// always, the tick comes nevertheless, when inputs were handled for a second while it was due. A stall is no such time, however long it
/// is: what came meanwhile waits, and is read first.
struct OverdueTick {
    private static let longestWait = Duration.seconds(1)
    /// The most that counts of the time between two inputs. A turn of the loop takes no longer.
    private static let longestPause = EventLoop.slowTurn

    /// The input before, if the tick was due then.
    private var previous: MonotonicInstant?
    private var waited = Duration.zero

    /// An input was handled while the tick was due.
    ///
    /// - Returns: Whether the tick waits on.
    mutating func waits(at now: MonotonicInstant) -> Bool {
        if let previous { waited += min(max(.zero, previous.duration(to: now)), Self.longestPause) }
        previous = now
        return waited <= Self.longestWait
    }
}
