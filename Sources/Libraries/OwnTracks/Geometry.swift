package import Regions

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// `base` to the power of `exponent`.
func power(_ base: Double, _ exponent: Double) -> Double {
    pow(base, exponent)
}

extension Region {
    /// Whether these coordinates lie in this circle, border included.
    package func contains(_ place: Coordinates) -> Bool {
        kind == .circular && distance(from: coordinates, to: place) <= radius
    }
}

/// Metres along the surface of a sphere of the Earth's mean radius (IUGG, 6,371,008.8 m): haversine, which stays exact
/// for coordinates near to each other.
func distance(from a: Coordinates, to b: Coordinates) -> Double {
    let radians = Double.pi / 180
    let latitudes = sin((b.latitude - a.latitude) * radians / 2)
    let longitudes = sin((b.longitude - a.longitude) * radians / 2)
    let h =
        latitudes * latitudes
        + cos(a.latitude * radians) * cos(b.latitude * radians) * longitudes * longitudes
    return 2 * 6_371_008.8 * asin(min(1, h.squareRoot()))
}
