/// The position of a region on the map. Beacon regions have one too, which has no effect.
public struct Coordinates: Hashable, Sendable {
    /// Degrees, −90 … 90.
    public var latitude: Double
    /// Degrees, −180 … 180.
    public var longitude: Double

    /// A point in degrees of WGS 84. Values out of range are kept: see `isValid`.
    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }

    /// OwnTracks writes "delete this region" as coordinates out of range.
    public var isValid: Bool {
        (-90...90).contains(latitude) && (-180...180).contains(longitude)
    }
}
