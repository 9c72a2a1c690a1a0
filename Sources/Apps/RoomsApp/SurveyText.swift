package import SiteProtocol

/// What is said of the gateways' own beacons, for the page and `rooms status`.
package enum SurveyText {
    /// Largest number of rooms that a sentence names: those that are worst off.
    private static let mostRooms = 5

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

    /// What the figure does not mean.
    package static let meaning =
        "This compares places for gateways, and promises nothing: a gateway stands at a wall, and a person moves, covers the tag and goes "
        + "into corners"

    /// What the figure means.
    ///
    /// - Parameters:
    ///   - percent: The mean of the rooms.
    ///   - rooms: Names with their figures.
    package static func estimate(_ percent: Int, rooms: [(name: String, percent: Int)]) -> String {
        let worst = rooms.sorted { ($0.percent, $0.name) < ($1.percent, $1.name) }.prefix(mostRooms)
        let named = worst.map { "\($0.name) \($0.percent) %" }.joined(separator: ", ")
        let list = named.isEmpty ? "" : " (\(rooms.count > mostRooms ? "least: " : "")\(named))"
        return
            "what the gateways hear of each other lets expect that a tag is placed in its room for \(percent) % of the time\(list)"
    }
}
