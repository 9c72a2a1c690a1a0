package import Scanning

/// What becomes of a beacon that the gateway is to send.
package enum SendingState: Hashable, Sendable {
    /// None is wanted.
    case off
    /// One is wanted, and nobody has answered yet.
    case asked
    /// The controller took the commands for it.
    ///
    /// - Parameters:
    ///   - adapter: `hci` and this number.
    ///   - interval: The mean time between two packets.
    ///   - burst: How long of each minute they come (`BurstOfMinute`); nil: all the time.
    case sends(adapter: UInt16, interval: Duration, burst: Duration?)
    /// It is not sent.
    case refused(ScanProblem)
}
