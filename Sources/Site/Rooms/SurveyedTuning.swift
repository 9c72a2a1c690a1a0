/// The constants of `SurveyedSite`: what the levels between gateways say of a tag. They were chosen in the random homes 1 to 120.
package struct SurveyedTuning: Hashable, Sendable {
    /// The levels count as those of so many seconds of the engine's own decisions.
    package var seconds: Float = 600
    /// They count half after so many seconds of training in the room, and of the engine's own decisions.
    package var labelledSeconds: Float = 3
    package var ownSeconds: Float = 10_000
    /// Largest weight of what they say, against the levels alone.
    package var trust: Float = 0.45
    /// By how much louder a gateway hears a tag in its own room than the loudest gateway elsewhere, dB, in the mean of all gateways: nobody
    /// measures it. One wall, and twice the distance.
    package var ownLead: Float = 11
    /// What a body takes of a level, dB.
    package var bodyLoss: Float = 4
    /// How much a tag somewhere in a room deviates from a gateway at its wall, at each receiver alone, dB.
    package var deviation: Float = 7
    /// The same at all receivers at once: a tag, its wearer and what gateways really send. Differences count, and not how loud all are.
    package var commonDeviation: Float = 12
    /// Share of packets that are lost however loud they are.
    package var lost: Float = 0.15
    /// Level of which half of the packets are lost, dBm.
    package var halfHeard: Float = -93
    /// What stands for a level that is never heard, dBm.
    package var unheard: Float = -98

    package init() {}
}
