package import Beacon
import JSON

/// The retained list of the site's tags on `ibeacon-rooms/<site>/tags`:
/// `{"v":1,"tags":[{"uuid":"…","major":1,"minor":7}]}`. `FeedDecoder.tags` reads it.
package struct TagList: Hashable, Sendable {
    package let beacons: [BeaconID]

    package init(_ beacons: [BeaconID]) { self.beacons = beacons }

    package var payload: [UInt8] {
        let tags = beacons.map { beacon -> JSONValue in
            [
                "uuid": .string("\(beacon.uuid)"), "major": .integer(Int64(beacon.major)),
                "minor": .integer(Int64(beacon.minor)),
            ]
        }
        return JSONValue.object(["v": 1, "tags": .array(tags)]).bytes
    }
}
