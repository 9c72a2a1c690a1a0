/// The numbers of the room engine, in one place, with what each of them rests on. One set serves all homes.
///
/// `Benchmarks/rooms` measures what a change to them does.
package struct RoomTuning: Hashable, Sendable {
    package init() {}

    // MARK: Windows

    /// Seconds that the readings of one packet are waited for, from the first of them.
    package var gatherSeconds: Float = 0.25
    /// The same if the tag sent nothing in the second and a half before. Gateways report a packet of a slow beacon within a
    /// second; with a shorter wait, the first report alone would count for the whole interval.
    package var rareGatherSeconds: Float = 1.05
    /// A reading stands for a gateway for this long. Gateways publish once a second, with some jitter.
    package var freshSeconds: Float = 1.3
    /// A gateway that sent nothing at all for this long says nothing by its silence: empty messages come every 10 s.
    package var gatewaySilenceSeconds: Float = 25
    /// The same for an ESPresense node: it reports what it hears about every 5 s, and its own state every 15 s.
    package var nodeSilenceSeconds: Float = 45
    /// The interval at which a receiver reports a tag that it hears, in seconds: a gateway, and an ESPresense node unless it is
    /// configured otherwise.
    package var gatewayReportSeconds: Float = 1
    package var nodeReportSeconds: Float = 5
    /// Report intervals for which the last level of a receiver that says nothing counts, ever less: 18 s of a gateway, 90 s of a
    /// node. A gateway that fails is heard within some seconds again if it only lost its connection for a moment.
    package var heldReports: Float = 18

    // MARK: Without training

    /// Log likelihood per dB by which the gateway of a room hears the tag better than the others do.
    package var levelSlope: Float = 0.2
    /// What a gateway that listens and does not hear the tag is taken to have measured, dBm.
    package var missLevel: Float = -95
    /// What the failed gateway of the tag's present room is taken to measure, dBm.
    package var failedLevel: Float = -66

    // MARK: Fingerprints

    /// Width of a fingerprint, dB: the standard deviation of a level in one place is about 3 dB in a second.
    package var kernelWidth: Float = 3.2
    /// One gateway's part of the squared distance is at most this many squared widths.
    package var distanceCap: Float = 16
    /// The part of a gateway that a fingerprint knows nothing of, in squared widths. Without it the fingerprint fits all that
    /// this gateway may say, and the one that knows the fewest gateways fits best: with ESPresense nodes, one of a moment in
    /// which one node sent something. It is as much as such a gateway costs a place without a fingerprint (`noveltyDistance`).
    package var unknownDistance: Float = 4
    /// The same if the tag was not heard by a gateway that ought to hear it: one packet is easily lost.
    package var missCap: Float = 9
    /// The same for each packet of the window. A gateway loses 15 packets in 100, and more of those near its sensitivity, so one
    /// that it did not hear says little.
    package var missPerPacket: Float = 1
    /// A window counts in proportion to its packets divided by them and this: the level of one packet is less certain than the
    /// median of several.
    package var packetDoubt: Float = 0.25
    /// dB that a gateway's last level loses, for its own room, with each packet that the gateway misses.
    package var missStep: Float = 5
    /// Squared distance per gateway at which a place without a fingerprint is as likely as one with a fingerprint.
    package var noveltyDistance: Float = 4
    /// Weight of such places, in seconds of training.
    package var noveltySeconds: Float = 3
    /// Seconds in a room after which what was learned of it counts as much as it ever will by half: with labels, and of the
    /// engine's own decisions. A few of those are one place in the room, and may be wrong together.
    package var trustSeconds: Float = 0.25
    package var ownTrustSeconds: Float = 120
    /// How much what was learned counts at most, against the levels alone: from labels, and from the engine's own decisions.
    package var labelledTrust: Float = 1
    package var ownTrust: Float = 0.6
    /// Seconds of the engine's own decisions that one second with a label is worth.
    package var labelWorth: Float = 20
    /// Log likelihood that an untrained room loses if other rooms are trained and one of them fits.
    package var untrainedPenalty: Float = 2
    /// Fingerprints of one room.
    package var mostFingerprints = 64
    /// Squared distance per gateway below which two are one.
    package var mergeDistance: Float = 1.25

    /// Log likelihood that the reported room gains while a gateway there fails that heard the tag until then. The other gateways
    /// alone hardly tell the room from those beside it.
    package var missingWorth: Float = 3

    // MARK: Levels that were learned from the engine's own decisions

    /// Seconds of a level that nothing is known of, which every gateway is taken to have measured in every room, its mean and
    /// its standard deviation, dBm and dB.
    package var ownPriorSeconds: Float = 5
    package var ownPriorLevel: Float = -85
    package var ownPriorDeviation: Float = 8
    /// A standard deviation is at least this, dB: where few places of a room were visited, it seems to be less.
    package var leastDeviation: Float = 4
    /// One gateway's part of the squared distance is at most this many variances: a body hides a tag for seconds.
    package var ownDistanceCap: Float = 9
    /// With more seconds in a room, those before count half: a house changes. Ten hours.
    package var mostOwnSeconds: Float = 36_000

    // MARK: Belief

    /// Mean seconds between changes of room, of a tag that moves.
    package var staySeconds: Float = 30
    /// Share of the time since the last report of a room that is the mean until the next: what lies still goes on so.
    package var stayShare: Float = 1
    /// The mean is at most this, seconds.
    package var longestStaySeconds: Float = 86_400
    /// Changes of room that must be known of until they count by half in where a tag goes next.
    package var exitPrior: Float = 2
    /// How much a change counts that the engine itself decided. One in a training run counts 1.
    package var ownExit: Float = 0.2
    /// The probability at which a room is reported: without training, and with training. Without labels the
    /// likelihoods claim more than they know.
    package var reportProbability: Float = 0.85
    package var labelledReportProbability: Float = 0.7
    /// Readings in a row, of the gateway that hears the tag best, with which a room must be more likely than the reported one.
    /// Windows do not count: a packet that gateways report one after the other makes several.
    package var readingsToReport = 2
    /// One window moves the log odds between two rooms by at most this.
    package var windowCap: Float = 8

    // MARK: Learning from its own decisions

    /// The probability, seen from before and after, at which a window is learned.
    package var learnProbability: Float = 0.8
    /// Windows that are seen from after before the oldest are learned.
    package var learnLag = 12
    /// Mean seconds between changes of room, for learning.
    package var learnStaySeconds: Float = 60
}
