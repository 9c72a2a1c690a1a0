/// The constants of `RoomFingerprints`.
package struct FingerprintTuning: Hashable, Sendable {
    /// Width of a fingerprint, dB: the standard deviation of a level in one place is about 3 dB in a second.
    package var kernelWidth: Float = 3.2
    /// One gateway's part of the squared distance is at most this many squared widths.
    package var distanceCap: Float = 16
    /// Contribution of a gateway that hears the tag and is unknown to a fingerprint, in squared widths. Without it, the
    /// fingerprint that knows the fewest gateways fits best: with ESPresense nodes, one of a moment in which one node sent
    /// something. It equals what such a gateway costs a place without a fingerprint (`noveltyDistance`).
    package var unknownDistance: Float = 4
    /// Like `distanceCap`, if a gateway that should hear the tag did not: one packet is easily lost.
    package var missCap: Float = 9
    /// Like `missCap`, for each packet of the window. A gateway loses 15 packets in 100, and more of those near its
    /// sensitivity, so one missed packet says little.
    package var missPerPacket: Float = 1
    /// Largest number of fingerprints of one room.
    package var mostFingerprints = 64
    /// Squared distance per gateway below which two fingerprints are merged.
    package var mergeDistance: Float = 1.25
    /// A fingerprint also fits a body other than the one that walked, with this weight in a window of a second. A quick beacon says the
    /// same about such a body again and again, so the weight falls with the square of the interval.
    package var otherBodyShare: Float = 0.03
    /// Such a body changes each gateway's level with this standard deviation, dB, for as long as it stays.
    package var otherBodyWidth: Float = 8
    /// A body changes the levels of all gateways at once with this standard deviation, dB.
    package var bodyDeviation: Float = 5

    package init() {}
}
