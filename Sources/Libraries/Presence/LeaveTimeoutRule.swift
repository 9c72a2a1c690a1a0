/// Which rule set the leave timeout of a beacon at a receiver.
package enum LeaveTimeoutRule: String, CaseIterable, Sendable {
    /// The rhythm and the losses of the beacon.
    case rhythm
    /// `PresenceTiming.recentGapFactor` times the longest recent gap.
    case longestGap
    /// The least leave timeout.
    case floor
    /// A quick beacon is held in case it slows down at rest.
    case slowDown
    /// The rhythm is not known yet, or is in doubt.
    case unknownRhythm
    /// The greatest leave timeout.
    case cap
    /// The region sets it.
    case leaveAfter
}
