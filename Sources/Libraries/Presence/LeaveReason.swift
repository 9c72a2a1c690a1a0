/// Why a beacon left a region.
public enum LeaveReason: String, CaseIterable, Sendable {
    /// Every receiver waited for as long as the beacon's rhythm requires.
    case silence
    /// The beacon was received, but below the region's `leaveRSSI`.
    case signal
    /// The region was removed, or has another pattern now.
    case region
    /// The leave was decided before the program ended, and carried out after the next start.
    case restart
}
