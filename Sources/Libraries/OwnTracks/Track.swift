package import Regions

/// Past locations of one tracker, for an export as GPX.
package struct Track: Hashable, Sendable {
    package struct Point: Hashable, Sendable {
        package let coordinates: Coordinates
        /// RFC 3339, UTC.
        package let time: String
        /// The trigger of the location (`t`).
        package let trigger: String

        package init(coordinates: Coordinates, time: String, trigger: String) {
            self.coordinates = coordinates
            self.time = time
            self.trigger = trigger
        }
    }

    /// The base topic of the tracker.
    package let name: String
    package let points: [Point]

    package init(name: String, points: [Point]) {
        self.name = name
        self.points = points
    }
}
