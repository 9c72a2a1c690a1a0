/// The constants of `Observation`: how well a window fits each room, and how much of that comes from what was learned.
package struct ObservationTuning: Hashable, Sendable {
    /// Log likelihood that a room gains per dB by which its gateway hears the tag better than the others do.
    package var levelSlope: Float = 0.2
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
    /// The weight that the levels alone keep against what was learned with labels, times the square of the share of the training in
    /// which the levels alone were right. The tag may be on another body than the one that walked, and where the levels alone are right,
    /// they judge that better. The weight falls with the interval of a slow beacon.
    package var placementWorth: Float = 0.5
    /// In training, the levels alone were right with the probability that they give to the room after this many equal windows.
    package var placementWindows: Float = 3
    /// Seconds of the engine's own decisions that one second with a label is worth.
    package var labelWorth: Float = 20
    /// Log likelihood that an untrained room loses if other rooms are trained and one of them fits.
    package var untrainedPenalty: Float = 2
    /// Log likelihood that the reported room gains while one of its gateways, which heard the tag until then, has failed. The
    /// other gateways alone hardly distinguish the room from its neighbours.
    package var missingWorth: Float = 3

    package init() {}
}
