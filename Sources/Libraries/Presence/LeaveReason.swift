/// Why a beacon left a region.
package enum LeaveReason: String, CaseIterable, Sendable {
    /// Every receiver waited for it for as long as its rhythm asks for.
    case silence
    /// It was received, below the region's `leaveRSSI`.
    case signal
    /// The region was removed, or means other beacons now.
    case region
    /// It was decided before the program ended, and carried out after the next start.
    case restart
}
