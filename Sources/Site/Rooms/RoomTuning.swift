/// The numbers of the room engine in one place, each with its justification. One set serves all homes.
///
/// `Benchmarks/rooms` measures the effect of a change.
package struct RoomTuning: Hashable, Sendable {
    package init() {}

    // MARK: Windows

    /// Seconds to wait for the readings of one packet, from the first of them.
    package var gatherSeconds: Float = 0.25
    /// The same if the tag sent nothing in the 1.5 s before. Gateways report a packet of a slow beacon within a second. With a
    /// shorter wait, the first report alone would count for the whole interval.
    package var rareGatherSeconds: Float = 1.05
    /// A gateway's reading is valid for this many seconds. Gateways publish once a second, with some jitter.
    package var freshSeconds: Float = 1.3
    /// The silence of a gateway that sent nothing at all for this many seconds says nothing: empty messages come every 10 s.
    package var gatewaySilenceSeconds: Float = 25
    /// The same for an ESPresense node: it reports what it hears about every 5 s, and its own state every 15 s.
    package var nodeSilenceSeconds: Float = 45
    /// The interval, in seconds, at which a receiver reports a tag that it hears: a gateway, and an ESPresense node with its
    /// default configuration.
    package var gatewayReportSeconds: Float = 1
    package var nodeReportSeconds: Float = 5
    /// Report intervals for which the last level of a silent receiver counts, with decreasing weight: 18 s for a gateway, 90 s
    /// for a node. A gateway that only lost its connection for a moment is heard again within some seconds.
    package var heldReports: Float = 18

    // MARK: Without training

    /// Log likelihood that a room gains per dB by which its gateway hears the tag better than the others do.
    package var levelSlope: Float = 0.2
    /// Assumed level of a gateway that listens and does not hear the tag, dBm.
    package var missLevel: Float = -95
    /// Least assumed level of the failed gateway of the tag's present room, dBm.
    package var failedLevel: Float = -66
    /// Seconds until that is also the assumed level of a tag that has moved since the gateway heard it. A restart of a computer or of an
    /// access point takes less.
    package var shortFailureSeconds: Float = 120

    // MARK: Fingerprints

    /// Width of a fingerprint, dB: the standard deviation of a level in one place is about 3 dB in a second.
    package var kernelWidth: Float = 3.2
    /// One gateway's part of the squared distance is at most this many squared widths.
    package var distanceCap: Float = 16
    /// Contribution of a gateway that hears the tag and of which a fingerprint knows nothing, in squared widths. Without it, the
    /// fingerprint that knows the fewest gateways fits best: with ESPresense nodes, one of a moment in which one node sent
    /// something. It equals what such a gateway costs a place without a fingerprint (`noveltyDistance`).
    package var unknownDistance: Float = 4
    /// Like `distanceCap`, if a gateway that should hear the tag did not: one packet is easily lost.
    package var missCap: Float = 9
    /// Like `missCap`, for each packet of the window. A gateway loses 15 packets in 100, and more of those near its
    /// sensitivity, so one missed packet says little.
    package var missPerPacket: Float = 1
    /// A window of n packets has the weight n / (n + this): the level of one packet is less certain than the median of several.
    package var packetDoubt: Float = 0.25
    /// dB that a gateway's last level loses, for its own room, with each packet that the gateway misses.
    package var missStep: Float = 5
    /// Without labels, a window of a beacon slower than one a second counts as its interval in seconds, up to this: the body moves more
    /// between its packets than between those of a quick beacon. After `freshStaySeconds` in a room, half of what is above one second
    /// counts: a tag that lies still does not move between packets.
    package var mostWindowSeconds: Float = 2
    package var freshStaySeconds: Float = 300
    /// Squared distance per gateway at which a place without a fingerprint is as likely as one with a fingerprint.
    package var noveltyDistance: Float = 4
    /// Weight of such places, in seconds of training.
    package var noveltySeconds: Float = 3
    /// Seconds in a room after which what was learned reaches half of its largest weight: with labels, and from the engine's
    /// own decisions. A few of those cover one place in the room, and may be wrong together.
    package var trustSeconds: Float = 0.25
    package var ownTrustSeconds: Float = 120
    /// Largest weight of what was learned, against the levels alone: from labels, and from the engine's own decisions.
    package var labelledTrust: Float = 1
    package var ownTrust: Float = 0.6
    /// The levels alone keep this much of the weight of what was learned with labels, times the square of the share of the training
    /// in which they were right: another body than the one that walked wears the tag, and where the levels alone are right, they are
    /// the better judge of that. The weight falls with the interval of a slow beacon. In the training they were right with the
    /// probability that they give to the room after `placementWindows` windows with the same levels.
    package var placementWorth: Float = 0.5
    package var placementWindows: Float = 3
    /// Seconds of the engine's own decisions that one second with a label is worth.
    package var labelWorth: Float = 20
    /// Log likelihood that an untrained room loses if other rooms are trained and one of them fits.
    package var untrainedPenalty: Float = 2
    /// Largest number of fingerprints of one room.
    package var mostFingerprints = 64
    /// Squared distance per gateway below which two fingerprints are merged.
    package var mergeDistance: Float = 1.25

    /// Log likelihood that the reported room gains while one of its gateways, which heard the tag until then, has failed. The
    /// other gateways alone hardly distinguish the room from its neighbours.
    package var missingWorth: Float = 3

    /// A fingerprint also fits another body than the one that walked, with this weight in a window of a second. Such a body changes
    /// each gateway's level with this standard deviation in dB, and all of them at once with that of `bodyDeviation`, for as long as
    /// it stays. What a quick beacon says of it is therefore said again and again; the weight falls with the square of the interval.
    package var otherBodyShare: Float = 0.03
    package var otherBodyWidth: Float = 8
    package var bodyDeviation: Float = 5

    // MARK: Levels that were learned from the engine's own decisions

    /// The prior of each gateway's level in each room: its weight in seconds, its mean in dBm and its standard deviation in dB.
    package var ownPriorSeconds: Float = 5
    package var ownPriorLevel: Float = -85
    package var ownPriorDeviation: Float = 8
    /// Least standard deviation, dB: where few places of a room were visited, it seems smaller.
    package var leastDeviation: Float = 4
    /// One gateway's part of the squared distance is at most this many variances: a body hides a tag for seconds.
    package var ownDistanceCap: Float = 9
    /// Above this number of seconds in a room, earlier ones count half: a house changes. Ten hours.
    package var mostOwnSeconds: Float = 36_000

    // MARK: Belief

    /// Mean seconds between room changes of a tag that moves.
    package var staySeconds: Float = 30
    /// Mean time until the next room change, as a share of the time since the last one: a resting tag tends to keep resting.
    package var stayShare: Float = 1
    /// Upper limit of the mean, seconds.
    package var longestStaySeconds: Float = 86_400
    /// Number of known room changes with which they decide half of where a tag goes next.
    package var exitPrior: Float = 2
    /// Weight of a room change that the engine itself decided. One in a training run has the weight 1.
    package var ownExit: Float = 0.2
    /// The probability at which a room is reported: without training, and with training. Without labels the likelihoods are
    /// overconfident.
    package var reportProbability: Float = 0.85
    package var labelledReportProbability: Float = 0.7
    /// Number of consecutive readings of the gateway that hears the tag best for which a room must be more likely than the
    /// reported one. Windows do not count: a packet that gateways report one after the other makes several.
    package var readingsToReport = 2
    /// One reading reports the first room of a tag, if a gateway of the room hears it this many dB louder than all gateways elsewhere do
    /// (`isClear(_:for:)` has further conditions).
    package var clearLead: Float = 10
    /// One window moves the log odds between two rooms by at most this.
    package var windowCap: Float = 8

    // MARK: Movement

    /// The weight of a level in the deviation of a gateway's latest levels from its mean, and its least weight in that mean. A movement
    /// shows in some seconds, and the mean follows the slow changes of a home, such as doors and people.
    package var latestShare: Float = 0.4
    package var meanShare: Float = 0.02
    /// A movement seems to begin where the latest levels of a tag deviate from their means so much that chance does it as rarely as a normal
    /// distribution exceeds this many standard deviations (`clearDeviations(of:at:)` says when it counts at once). No movement
    /// took place if they deviate by less than `stirDeviations` before `stirReports` are over. With smaller numbers, tags that lie still
    /// count as moving; with larger ones, a movement to the next room is missed.
    package var movementDeviations: Float = 1.7
    package var stirDeviations: Float = 0.7
    /// Levels that deviate for this many report intervals show that the tag is in another place now.
    package var stirReports: Float = 8
    /// A gateway that hears a tag by this many dB louder than `missLevel`, and listened before without hearing it, shows that the tag moves:
    /// it could not have missed it there.
    package var appearanceHeight: Float = 20
    /// Bounds of the estimated variance of a gateway's levels, dB².
    package var leastLevelVariance: Float = 2
    package var mostLevelVariance: Float = 100
    /// For this many report intervals after a movement the tag counts as one that moves.
    package var settleReports: Float = 20
    /// A window of a tag that lies still counts half after this many further report intervals, and `leastWorth` at least. After training, a
    /// window says more of the place, so it takes `labelledRestFactor` times as many.
    package var restHalfReports: Float = 60
    package var labelledRestFactor: Float = 10
    package var leastWorth: Float = 0.03
    /// Mean time until the next room change of such a tag, as a share of the time since it last moved.
    package var restStayShare: Float = 10

    // MARK: Learning from its own decisions

    /// The probability, given the windows before and after, at which a window is learned.
    package var learnProbability: Float = 0.8
    /// Number of later windows that must be known before the oldest are learned.
    package var learnLag = 12
    /// What a tag shows of a room during one stay counts as so many seconds times π / 2 at most; a window counts half after this
    /// many seconds. Further seconds repeat it: a tag that lies where another room fits better would teach that mistake for hours.
    package var ownStaySeconds: Float = 60
    /// Mean seconds between changes of room, for learning.
    package var learnStaySeconds: Float = 60
}
