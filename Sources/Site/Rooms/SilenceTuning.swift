/// The constants of what a gateway's silence about a tag means.
package struct SilenceTuning: Hashable, Sendable {
    /// A gateway's reading is valid for this many seconds. Gateways publish once a second, with some jitter.
    package var freshSeconds: Float = 1.3
    /// Seconds between two reports of a tag that is heard: by a gateway, and by an ESPresense node with its default
    /// configuration.
    package var gatewayReportSeconds: Float = 1
    package var nodeReportSeconds: Float = 5
    /// Report intervals for which the last level of a silent gateway counts, with decreasing weight: 18 s for a gateway, 90 s
    /// for a node. A gateway that only lost its connection for a moment is heard again within some seconds.
    package var heldReports: Float = 18
    /// A gateway sends a message each second for this long after its last reading (`ReadingFeed`).
    package var attentiveNanoseconds: Int64 = 30_000_000_000
    /// Such a message is late after this long.
    package var lateNanoseconds: Int64 = 2_600_000_000
    /// Assumed level of a gateway that listens and does not hear the tag, dBm.
    package var missLevel: Float = -95
    /// dB that a gateway's last level loses, for its own room, with each packet that the gateway misses.
    package var missStep: Float = 5
    /// Least assumed level of the failed gateway of the tag's present room, dBm.
    package var failedLevel: Float = -66
    /// Seconds after which `failedLevel` is assumed for a failed gateway even for a tag that has moved since. A restart of a computer
    /// or of an access point takes less.
    package var shortFailureSeconds: Float = 120

    package init() {}
}
