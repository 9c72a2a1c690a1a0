/// When silence becomes a leave.
public enum LeaveRule: Hashable, Sendable {
    /// Learned from the beacon's own rhythm.
    case auto
    /// After this much listening silence.
    case after(Duration)
}
