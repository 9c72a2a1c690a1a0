/// How a location names a region.
public struct RegionName: Hashable, Sendable {
    /// The region's name, as transitions have it.
    public let name: String
    /// The region's key.
    public let rid: String
}
