/// The constants of a report: when the most probable room is reported.
package struct ReportTuning: Hashable, Sendable {
    /// The probability at which a room is reported: without training, and with training. Without labels the likelihoods are
    /// overconfident.
    package var reportProbability: Float = 0.85
    package var labelledReportProbability: Float = 0.7
    /// Number of consecutive readings of the gateway that hears the tag best for which a room must be more likely than the
    /// reported one. Windows do not count: a packet that gateways report one after the other makes several.
    package var readingsToReport = 2
    /// One reading reports the first room of a tag, if a gateway of the room hears it this many dB louder than all gateways elsewhere do
    /// (`isClear` has further conditions).
    package var clearLead: Float = 10

    package init() {}

    /// The probability from which a room is reported.
    ///
    /// - Parameter labelledShare: How much of what was learned came with labels, 0 … 1.
    @inline(__always)
    func neededProbability(labelledShare: Float) -> Float {
        reportProbability + (labelledReportProbability - reportProbability) * labelledShare
    }
}
