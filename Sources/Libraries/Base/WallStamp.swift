/// Whether the times in a message or a history entry are right.
package enum WallStamp: Int64, Sendable {
    /// The wall clock was not set. The message waits until it is set, and is then rendered again.
    case provisional = 0
    /// The wall clock was set.
    case exact = 1
    /// The machine was switched off before its clock was set. The time is estimated from the next start.
    case estimated = 2
}
