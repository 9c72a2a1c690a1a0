/// The constants of `Hearing`: how long readings are collected, and how long a gateway may be silent.
package struct HearingTuning: Hashable, Sendable {
    /// Seconds to wait for the readings of one packet, from the first of them.
    package var gatherSeconds: Float = 0.25
    /// The same if the tag sent nothing in the 1.5 s before. Gateways report a packet of a slow beacon within a second. With a
    /// shorter wait, the first report alone would count for the whole interval.
    package var rareGatherSeconds: Float = 1.05
    /// The silence of a gateway that sent nothing at all for this many seconds says nothing: empty messages come every 10 s.
    package var gatewaySilenceSeconds: Float = 25
    /// The same for an ESPresense node: it reports what it hears about every 5 s, and its own state every 15 s.
    package var nodeSilenceSeconds: Float = 45

    /// Longest pause between two windows of a tag that counts, seconds.
    package var longestPauseSeconds: Float = 600

    package init() {}
}
