package import Beacon
import JSON

/// A beacon that is not a tag, as a gateway heard it in one second during a `NearbyRequest`.
package struct NearbyReading: Hashable, Sendable {
    package let beacon: BeaconID
    /// dBm; nil if no packet had a level.
    package let level: Float?
    /// The name of the gateway's region to which the beacon belongs.
    package let region: String?

    package init(beacon: BeaconID, level: Float?, region: String?) {
        (self.beacon, self.level, self.region) = (beacon, level, region)
    }
}

extension NearbyReading {
    /// Largest number of beacons in one message.
    package static let mostBeacons = 20
    /// Longest published part of a region's name, characters.
    private static let longestRegion = 32

    /// The payload of `ibeacon-rooms/<site>/nearby/<gateway>`:
    /// `{"v":1,"beacons":[{"id":"UUID:major:minor","rssi":-60,"region":"Keys"}]}`.
    package static func payload(_ readings: [NearbyReading]) -> [UInt8] {
        let beacons = readings.prefix(mostBeacons).map { reading -> JSONValue in
            var members: [String: JSONValue] = ["id": .string("\(reading.beacon)")]
            members["rssi"] = reading.level.map { .integer(Int64($0)) }
            members["region"] = reading.region.map { .string(String($0.prefix(longestRegion))) }
            return .object(members)
        }
        return JSONValue.object(["v": 1, "beacons": .array(beacons)]).bytes
    }
}

extension FeedDecoder {
    /// Reads the payload of `ibeacon-rooms/<site>/nearby`.
    package static func nearbyRequest(_ payload: some Collection<UInt8>) throws(FeedError) -> Duration {
        let json = try read(payload, bytes: 1024, values: 16)
        let longest = NearbyRequest.longest.components.seconds
        guard json["v"]?.asInteger == 1, let seconds = json["seconds"]?.asNumber,
            (0...Double(longest)).contains(seconds)
        else {
            throw FeedError("'seconds' is not a number from 0 to \(longest), or 'v' is not 1")
        }
        return .milliseconds(Int64(seconds * 1000))
    }

    /// Reads the payload of `ibeacon-rooms/<site>/nearby/<gateway>`.
    package static func nearby(_ payload: some Collection<UInt8>) throws(FeedError) -> [NearbyReading] {
        let json = try read(payload, bytes: 16_384, values: 512)
        guard json["v"]?.asInteger == 1, let elements = json["beacons"]?.array else {
            throw FeedError("'beacons' is not a list, or 'v' is not 1")
        }
        guard elements.count <= NearbyReading.mostBeacons else {
            throw FeedError("\(elements.count) beacons are too many; at most \(NearbyReading.mostBeacons) are taken")
        }
        var readings: [NearbyReading] = []
        for element in elements {
            guard let beacon = element["id"]?.string.flatMap({ BeaconID($0) }) else {
                throw FeedError("an element of 'beacons' has no id")
            }
            // A region name that is not valid is left out: the beacon counts.
            let region = element["region"].flatMap { try? name($0, "region") }
            readings.append(NearbyReading(beacon: beacon, level: level(element["rssi"]), region: region))
        }
        return readings
    }
}
