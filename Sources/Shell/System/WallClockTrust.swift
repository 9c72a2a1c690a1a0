/// How far the wall clock can be trusted.
package enum WallClockTrust: Sendable, Equatable {
    /// A time service controls the clock.
    case synchronised
    /// No time service controls the clock, but it shows a possible time: a machine without a time service, a container
    /// without the right to read the state, or a Pi whose clock was restored from the last shutdown and is about to
    /// jump.
    case plausible
    /// The clock shows a time before this program was written: it has not been set since boot.
    case unset

    /// 2025-01-01T00:00:00Z. No message can be older than the program that sends it.
    package static let floor: Int64 = 1_735_689_600

    /// - Parameters:
    ///   - disciplined: whether a time service controls the clock.
    ///   - wallSeconds: the wall clock, in seconds since 1970 UTC.
    package init(disciplined: Bool, wallSeconds: Int64) {
        guard wallSeconds >= Self.floor else {
            self = .unset
            return
        }
        self = disciplined ? .synchronised : .plausible
    }
}
