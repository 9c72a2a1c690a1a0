import Base

/// A training run.
struct TrainingRun: Sendable, BitwiseCopyable {
    var began: MonotonicInstant
    var until: MonotonicInstant
    /// Seconds in which the tag was heard, and learned.
    var learned: Float = 0
    var room: RoomIndex
    /// It ended early, or a window came after its end.
    var isOver = false

    /// Readings from the second before the training began, perhaps from elsewhere, arrive until then.
    var learnsFrom: MonotonicInstant { began.advanced(by: .milliseconds(1100)) }
}
