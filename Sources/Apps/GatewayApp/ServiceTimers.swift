import Base
import Shell

/// The timers of a service. The first of them belong to the core's deadline.
struct ServiceTimers {
    var deadline: (any ServiceTimer)?
    /// When `deadline` fires; nil: it is not armed.
    var armedDeadline: MonotonicInstant?
    var clock: (any ServiceTimer)?
    var checkpoint: (any ServiceTimer)?
    var sample: (any ServiceTimer)?
    /// When the history was last pruned.
    var lastPruned: MonotonicInstant?
}
