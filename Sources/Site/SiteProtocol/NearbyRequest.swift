import JSON

/// A request to gateways to publish which other beacons they hear.
package enum NearbyRequest {
    /// Longest time that one request may ask for.
    package static let longest: Duration = .seconds(300)

    /// The payload of `ibeacon-rooms/<site>/nearby`: `{"v":1,"seconds":60}`.
    package static func payload(_ duration: Duration) -> [UInt8] {
        JSONValue.object(["v": 1, "seconds": .integer(duration.components.seconds)]).bytes
    }
}
