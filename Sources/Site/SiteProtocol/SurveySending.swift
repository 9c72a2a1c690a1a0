import JSON

/// What a gateway says in its card of the beacon that it was asked to send (`SurveyBeacons`), the member `survey` of
/// `ibeacon-rooms/<site>/gateway/<gateway>`.
package enum SurveySending: Hashable, Sendable {
    /// Longest text of a reason, characters.
    package static let longestReason = 200

    /// The controller took the command; `{"minor":3,"interval":1000}`.
    ///
    /// - interval: Milliseconds between two packets, as far as the controller said.
    case sends(minor: UInt16, interval: Int64)
    /// It does not send, for this reason; `{"minor":3,"refused":"…"}`.
    case refused(minor: UInt16, reason: String)

    /// The minor of the beacon that was asked for.
    package var minor: UInt16 {
        switch self {
        case .sends(let minor, _), .refused(let minor, _): minor
        }
    }

    var json: JSONValue {
        switch self {
        case .sends(let minor, let interval):
            ["minor": .integer(Int64(minor)), "interval": .integer(interval)]
        case .refused(let minor, let reason):
            ["minor": .integer(Int64(minor)), "refused": .string(String(reason.prefix(Self.longestReason)))]
        }
    }

    /// nil for anything else: a card counts without it.
    init?(_ json: JSONValue) {
        guard let minor = json["minor"]?.asInteger.flatMap({ UInt16(exactly: $0) }), minor > 0 else { return nil }
        if let reason = json["refused"]?.string {
            self = .refused(minor: minor, reason: String(reason.prefix(Self.longestReason)))
        } else if let interval = json["interval"]?.asInteger, (1...3_600_000).contains(interval) {
            self = .sends(minor: minor, interval: interval)
        } else {
            return nil
        }
    }
}
