import Base

/// How long of each minute a controller without advertising sets sends the beacon, so that there is less than one packet a second in the
/// mean: the kernel chooses the interval of its packets.
package struct BurstOfMinute: Hashable, Sendable {
    package static let period = Duration.seconds(60)

    package let duration: Duration
    /// Between two packets, with the 5 ms that a controller adds by chance on average.
    private let packetInterval: Duration

    /// - Parameter isConnectable: Whether the adapter is, and with it each advertisement.
    package init(isConnectable: Bool) {
        duration = .seconds(isConnectable ? 54 : 6)
        packetInterval = .milliseconds(isConnectable ? 1285 : 130)
    }

    /// The mean time between two packets.
    package var interval: Duration {
        .nanoseconds(Self.period.nanoseconds / (duration.nanoseconds / packetInterval.nanoseconds))
    }

    /// The kernel lets advertisements take turns, so that a burst beside one other takes twice its time.
    var longest: Duration { min(duration * 2 + .seconds(3), Self.period - .seconds(1)) }
}
