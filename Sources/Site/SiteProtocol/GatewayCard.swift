package import Beacon
import JSON

/// The retained card of a gateway on `ibeacon-rooms/<site>/gateway/<gateway>`:
/// `{"v":1,"room":"Kitchen","floor":0,"version":"…","scanner":"mgmt","since":1700000000,"phones":["…"],"adapters":["B8:27:EB:00:22:01"]}`.
/// `FeedDecoder.card` reads it. The card of a scanner of Home Assistant has `source` instead of `adapters`.
///
/// A card without members says that the gateway cannot decrypt the list of tags.
package struct GatewayCard: Hashable, Sendable {
    /// Longest part of a version or a scanner that is read, characters. Any client may write a card.
    static let longestVersion = 64
    /// Largest number of adapters in a card.
    package static let mostAdapters = 16
    /// Largest number of phones in a card: with more it would be longer than a service of version 1.0 reads.
    package static let mostPhones = 128

    /// The gateway's room.
    package var room: RoomName?
    /// The floor of the room, one of `roomFloors`; nil: it is not said.
    package var floor: Int?
    /// The version of the program.
    package var version: String?
    package var scanner: String?
    /// When the program was started, epoch seconds.
    package var since: Int64?
    /// The UUIDs of those tags that are devices whose key the gateway has, at most `mostPhones`.
    package var phones: [BeaconUUID]
    /// The addresses of the adapters with which the gateway listens, at most `mostAdapters`.
    package var adapters: [DeviceAddress]
    /// Of a scanner of Home Assistant, the address of its radio; nil: the card is that of a gateway.
    package var source: DeviceAddress?
    /// What became of the beacon that the site asked it to send; nil: the site asks for none.
    package var survey: SurveySending?

    package init(
        room: RoomName? = nil, floor: Int? = nil, version: String? = nil, scanner: String? = nil,
        since: Int64? = nil, phones: [BeaconUUID] = [], adapters: [DeviceAddress] = [], source: DeviceAddress? = nil,
        survey: SurveySending? = nil
    ) {
        (self.room, self.floor, self.version, self.scanner, self.since) = (room, floor, version, scanner, since)
        (self.phones, self.adapters, self.source, self.survey) = (phones, adapters, source, survey)
    }

    /// Whether it is the card of an ibeacon-gateway that has read the list of tags, and not that of a scanner of Home Assistant.
    package var isOfGateway: Bool { source == nil && (version != nil || scanner != nil) }

    package var payload: [UInt8] {
        var members: [String: JSONValue] = ["v": 1]
        members["room"] = room.map { .string($0.name) }
        members["floor"] = floor.map { .integer(Int64($0)) }
        members["version"] = version.map { .string($0) }
        members["scanner"] = scanner.map { .string($0) }
        members["since"] = since.map { .integer($0) }
        if !phones.isEmpty { members["phones"] = .array(phones.map { .string("\($0)") }) }
        if !adapters.isEmpty { members["adapters"] = .array(adapters.map { .string("\($0)") }) }
        members["source"] = source.map { .string("\($0)") }
        members["survey"] = survey?.json
        return JSONValue.object(members).bytes
    }
}
