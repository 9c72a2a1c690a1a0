/// A gateway heard a tag.
package struct PeerReading: Hashable, Sendable {
    /// Seconds.
    package var time: Double
    /// dBm
    package var level: Double
    /// Its place among the gateways.
    package var gateway: Int32

    package init(time: Double, level: Double, gateway: Int) {
        (self.time, self.level, self.gateway) = (time, level, Int32(truncatingIfNeeded: gateway))
    }
}
