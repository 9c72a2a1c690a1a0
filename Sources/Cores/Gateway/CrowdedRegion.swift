/// A region to which more beacons belong than are remembered.
package struct CrowdedRegion: Hashable, Sendable {
    /// The base topic of its tracker.
    package let topic: String
    /// The name of the region.
    package let region: String

    package init(topic: String, region: String) {
        self.topic = topic
        self.region = region
    }
}

extension CrowdedRegion: CustomStringConvertible {
    package var description: String {
        "too many beacons belong to region \(region) of \(topic): more are dropped"
    }
}
