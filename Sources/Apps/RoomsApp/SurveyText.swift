package import SiteProtocol

/// What is said of the gateways' own beacons, for the page and `rooms status`.
package enum SurveyText {
    /// Whether a gateway sends its beacon.
    ///
    /// - Parameters:
    ///   - sending: What its card says; nil: nothing.
    ///   - asked: The minor that it is asked to send.
    package static func state(_ sending: SurveySending?, asked: UInt16) -> String {
        switch sending {
        case .sends(asked, let interval): "sends every \(interval) ms"
        case .refused(asked, let reason): "refused: \(reason)"
        case nil, .sends, .refused: "asked for, not confirmed"
        }
    }

    /// By how much a gateway measures more than others; nil: by nothing that is worth a word, or that is unknown.
    ///
    /// - Parameter offset: dB.
    package static func offset(_ offset: Int?) -> String? {
        guard let offset, offset != 0 else { return nil }
        return "measures \(abs(offset)) dB \(offset > 0 ? "more" : "less")"
    }
}
