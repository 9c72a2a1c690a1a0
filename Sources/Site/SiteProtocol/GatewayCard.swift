package import Beacon
import JSON

/// The retained card of a gateway on `ibeacon-rooms/<site>/gateway/<gateway>`:
/// `{"v":1,"room":"Kitchen","version":"…","scanner":"mgmt","since":1700000000,"phones":["…"]}`. `FeedDecoder.card` reads it.
///
/// A card without members says that the gateway cannot decrypt the list of tags.
package struct GatewayCard: Hashable, Sendable {
    /// Longest part of a version or a scanner that is read, characters. Any client may write a card.
    static let longestVersion = 64
    /// Largest number of phones in a card: with more it would be longer than a service of version 1.0 reads.
    package static let mostPhones = 128

    /// The name of the gateway's room.
    package var room: String?
    /// The version of the program.
    package var version: String?
    package var scanner: String?
    /// When the program was started, epoch seconds.
    package var since: Int64?
    /// The UUIDs of those tags that are devices whose key the gateway has, at most `mostPhones`.
    package var phones: [BeaconUUID]

    package init(
        room: String? = nil, version: String? = nil, scanner: String? = nil, since: Int64? = nil,
        phones: [BeaconUUID] = []
    ) {
        (self.room, self.version, self.scanner, self.since) = (room, version, scanner, since)
        self.phones = phones
    }

    package var payload: [UInt8] {
        var members: [String: JSONValue] = ["v": 1]
        members["room"] = room.map { .string($0) }
        members["version"] = version.map { .string($0) }
        members["scanner"] = scanner.map { .string($0) }
        members["since"] = since.map { .integer($0) }
        if !phones.isEmpty { members["phones"] = .array(phones.map { .string("\($0)") }) }
        return JSONValue.object(members).bytes
    }
}
