package import JSON
public import Regions

/// Coordinates with their accuracy, as messages carry them.
public struct Position: Hashable, Sendable {
    /// Degrees, with six decimals.
    public let coordinates: Coordinates
    /// Metres, at least 1: Home Assistant takes 0 for "no fix", and then does not move the tracker.
    public let accuracy: Int

    /// - Parameters:
    ///   - coordinates: Rounded to the six decimals that messages carry.
    ///   - accuracy: Metres; below 1 it is raised to 1.
    public init(coordinates: Coordinates, accuracy: Int) {
        self.coordinates = Coordinates(
            latitude: roundedDegrees(coordinates.latitude), longitude: roundedDegrees(coordinates.longitude))
        self.accuracy = max(1, accuracy)
    }

    /// 0/0 means that no position is set. Then OwnTracks publishes no location.
    public var isKnown: Bool { coordinates.latitude != 0 || coordinates.longitude != 0 }

    /// `lat`, `lon` and `acc`. All three are always numbers, because the Recorder drops a message without them.
    package var members: [String: JSONValue] {
        [
            "lat": .degrees(coordinates.latitude), "lon": .degrees(coordinates.longitude),
            "acc": .integer(Int64(accuracy)),
        ]
    }
}
