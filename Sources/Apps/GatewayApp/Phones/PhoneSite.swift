import Base
import Configuration
import Identities
import JSON
import Shell
import SiteProtocol

/// The list of keys that a gateway publishes for the other gateways of its site, retained and encrypted with the site's key.
///
/// Each gateway has a topic of its own, so that none overwrites what another one says, and everybody sees which gateway has
/// which phone. All merge all lists (`PhoneKeys.merge`), so they have the same phones in the end.
struct PhoneSite: Hashable {
    /// A level of topics.
    let site: String
    /// A level of topics.
    let gateway: String
    private let seal: SiteSeal

    /// - Returns: nil if the gateway belongs to no site, or the site has no key: then keys stay where they are.
    init?(_ configuration: Configuration) {
        guard let rooms = configuration.rooms, configuration.broker.endpoint == nil else { return nil }
        seal = SiteSeal(rooms)
        guard seal.isOn else { return nil }
        site = rooms.site
        gateway = TopicIdentifier.identifier(of: configuration.trackers[0].deviceID)
    }

    var topic: String { RoomTopic.phones(site: site, gateway: gateway).text }
    var filter: String { RoomTopic.phones(site: site, gateway: "+").text }

    /// The gateway whose list a topic has; nil for any other topic.
    func gateway(of topic: String) -> String? {
        guard case .phones(site, let gateway)? = RoomTopic(topic) else { return nil }
        return gateway
    }

    /// - Returns: nil if it could not be encrypted. It is never published plain.
    func payload(of keys: PhoneKeys) -> [UInt8]? {
        let json: JSONValue = [
            "v": 1, "gateway": .string(gateway), "list": .string(String(decoding: keys.bytes, as: UTF8.self)),
        ]
        let sealed = seal.sealed(json.bytes, for: topic)
        return SiteSeal.isSealed(sealed) ? sealed : nil
    }

    /// The list of a gateway.
    ///
    /// - Throws: Why it is ignored. No message has a part of the list.
    func keys(in payload: [UInt8], of gateway: String) throws -> PhoneKeys {
        // In base64, and with each character escaped.
        guard payload.count <= 8 * PhoneKeys.mostBytes else { throw PhoneKeysError.tooLong(bytes: payload.count) }
        let plain = try seal.opened(payload, of: .phones(site: site, gateway: gateway))
        let json = try? JSONValue(parsing: plain)
        guard let json, json["v"]?.asInteger == 1 else { throw PhoneListError.unknownVersion }
        // The envelope does not contain the topic.
        guard let sender = json["gateway"]?.string, sender.hasSameBytes(as: gateway) else {
            throw PhoneListError.otherGateway
        }
        var keys = try PhoneKeys(parsing: Array((json["list"]?.string ?? "").utf8))
        // One without a time would get the present one when it is stored, and so be newer than its removal.
        keys.stamp(at: 1)
        return keys
    }
}
