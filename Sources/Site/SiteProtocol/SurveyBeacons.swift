package import Beacon
import JSON

/// The beacons that the gateways of a site send so that each hears the others, the member `survey` of `ibeacon-rooms/<site>/tags`:
/// `{"uuid":"…","gateways":{"kitchen-pi":1,"hall-pi":2}}`. The major is 0, and the minor names the gateway.
///
/// A gateway that is in the list sends its beacon, and reports the beacons of the others like those of tags.
package struct SurveyBeacons: Hashable, Sendable {
    /// Largest number of gateways that send.
    package static let mostGateways = 256

    package let uuid: BeaconUUID
    /// The minor of each gateway, 1 to 65,535; no two gateways have the same one.
    package let minors: [String: UInt16]
    private let gateways: [UInt16: String]

    /// - Parameter minors: At most `mostGateways`.
    /// - Returns: nil if there are too many gateways, two with one minor, or one with the minor 0.
    package init?(uuid: BeaconUUID, minors: [String: UInt16]) {
        let gateways = Dictionary(minors.map { ($0.value, $0.key) }, uniquingKeysWith: min)
        guard minors.count <= Self.mostGateways, gateways.count == minors.count, gateways[0] == nil else { return nil }
        (self.uuid, self.minors, self.gateways) = (uuid, minors, gateways)
    }

    /// The beacon that a gateway sends; nil: it sends none.
    package func beacon(of gateway: String) -> BeaconID? {
        minors[gateway].map { BeaconID(uuid: uuid, major: 0, minor: $0) }
    }

    /// The gateway that sends a beacon; nil: none of them does.
    package func gateway(sending beacon: BeaconID) -> String? {
        beacon.uuid == uuid && beacon.major == 0 ? gateways[beacon.minor] : nil
    }

    /// The beacons of all gateways but one, in the order of their minors: what that gateway listens for.
    package func beacons(heardBy gateway: String) -> [BeaconID] {
        gateways.filter { $0.value != gateway }.keys.sorted().map { BeaconID(uuid: uuid, major: 0, minor: $0) }
    }

    var json: JSONValue {
        ["uuid": .string("\(uuid)"), "gateways": .object(minors.mapValues { .integer(Int64($0)) })]
    }

    init(_ json: JSONValue) throws(FeedError) {
        guard let uuid = json["uuid"]?.string.flatMap({ BeaconUUID($0) }) else {
            throw FeedError("'survey' has no 'uuid'")
        }
        guard let members = json["gateways"]?.object else { throw FeedError("'survey' has no list of 'gateways'") }
        var minors: [String: UInt16] = [:]
        for (gateway, number) in members {
            guard let minor = number.asInteger.flatMap({ UInt16(exactly: $0) }) else {
                throw FeedError("a gateway of 'survey' has no minor from 1 to 65535")
            }
            minors[gateway] = minor
        }
        guard let beacons = SurveyBeacons(uuid: uuid, minors: minors) else {
            throw FeedError(
                "'survey' has more than \(Self.mostGateways) gateways, or two with one minor, or the minor 0")
        }
        self = beacons
    }
}
