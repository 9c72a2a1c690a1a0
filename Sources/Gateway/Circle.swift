internal import Glibc
internal import Regions

extension Region {
    /// Whether a place lies within a circular region.
    func contains(_ place: Coordinates) -> Bool {
        distance(from: coordinates, to: place) <= radius
    }
}

/// Metres between two places on the sphere of the Earth's mean radius (haversine).
private func distance(from: Coordinates, to: Coordinates) -> Double {
    let radians = Double.pi / 180
    let latitude = sin((to.latitude - from.latitude) * radians / 2)
    let longitude = sin((to.longitude - from.longitude) * radians / 2)
    let chord =
        latitude * latitude
        + cos(from.latitude * radians) * cos(to.latitude * radians) * longitude * longitude
    return 2 * 6_371_008.8 * asin(min(1, chord.squareRoot()))
}
