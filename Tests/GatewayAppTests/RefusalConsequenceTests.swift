import Base
import Configuration
import Gateway
import GatewayEntities
import Health
import JSON
import Messaging
import OwnTracks
import Testing

@testable import GatewayApp

/// What the gateway lacks when something is refused, in words.
@Suite struct RefusalConsequenceTests {
    private func consequence(_ members: String = "rooms: {encryptionKey: 'secret'}", isOn: Bool = true) throws
        -> RefusalConsequence
    {
        let json = try JSONValue(parsing: Array("{deviceId: 'hall', \(members)}".utf8), dialect: .json5)
        let configuration = try Configuration(json, hostName: "hall")
        let clock = WallClock(epochOffset: 0, isKnown: true)
        let gateway = Gateway(configuration: configuration, wallClock: clock, explainsTransitions: false)
        return RefusalConsequence(
            trackers: gateway.trackers, discovery: DiscoveryTopics(prefix: "ha", device: "hall"),
            feed: ReadingFeedSettings(configuration), feedIsOn: isOn, phones: PhoneSite(configuration))
    }

    private func text(_ kind: Refused.Kind, _ object: String, _ consequence: RefusalConsequence) -> String? {
        consequence.consequence(of: Refused(kind, object, on: "availability", because: "no"))?.text
    }

    @Test(arguments: [
        ("homeassistant/status", "a start of Home Assistant is not noticed there"),
        ("ibeacon-rooms/home/tags", nil), ("ibeacon-rooms/home/nearby", nil),
        ("ibeacon-rooms/home/phones/+", "keys of phones that other gateways have do not arrive"),
        ("ibeacon-gateway/hall/command", "the buttons in Home Assistant do nothing"),
        ("ha/status", "a start of Home Assistant is not noticed there"),
        ("ha/+/ibeacon-gateway-hall/+/config", "entities that this configuration no longer has stay in Home Assistant"),
        ("ha/+/ibeacon-gateway-old/+/config", "entities that this configuration no longer has stay in Home Assistant"),
        ("ibeacon-gateway/old/availability", "entities that this configuration no longer has stay in Home Assistant"),
        ("other", ""),
    ]) func `A subscription that is refused`(_ filter: String, _ expected: String?) throws {
        #expect(text(.subscription, filter, try consequence()) == expected)
    }

    @Test func `Commands and transitions of each tracker`() throws {
        let consequence = try consequence()
        let topics = try #require(consequence.trackers.first).topics
        #expect(text(.subscription, topics.command, consequence) == "commands cannot arrive")
        #expect(text(.message, topics.event, consequence) == "transitions do not arrive")
        #expect(text(.size, topics.event, consequence) == "transitions do not arrive")
        #expect(text(.message, topics.base, consequence) == "locations do not arrive")
    }

    @Test(arguments: [
        ("ha/sensor/ibeacon-gateway-hall/k_rssi/config", "entities are missing in Home Assistant"),
        ("ibeacon-gateway/hall/region/k", "the states of the gateway and of its regions stay old at the broker"),
        ("ibeacon-gateway/hall/availability", "the states of the gateway and of its regions stay old at the broker"),
        ("ibeacon-rooms/home/phones/hall", "other gateways do not get the keys of phones that this one has"),
        ("esphome/discover/hall", "Home Assistant does not find the Bluetooth proxy"),
        ("ibeacon-gateway/hallway/region/k", ""),
    ]) func `Messages that are refused`(_ topic: String, _ expected: String) throws {
        #expect(text(.message, topic, try consequence()) == expected)
    }

    @Test func `Lost transitions are graver than all else, then locations, commands, states and entities`() throws {
        let consequence = try consequence()
        let topics = try #require(consequence.trackers.first).topics
        func rank(_ kind: Refused.Kind, _ object: String, on connection: String = "availability") -> Int? {
            consequence.consequence(of: Refused(kind, object, on: connection, because: "no"))?.rank
        }
        let ranks = [
            rank(.message, topics.event), rank(.message, topics.base), rank(.subscription, topics.command),
            rank(.message, "ibeacon-gateway/hall/region/k"), rank(.retain, "id"), rank(.subscription, "ha/status"),
            rank(.message, "ha/sensor/ibeacon-gateway-hall/k_rssi/config"),
            rank(.subscription, "ibeacon-gateway/hall/command"), rank(.message, "ibeacon-rooms/home/heard/hall"),
            rank(.connection, "id"), rank(.clientID, "id"),
        ].compactMap { $0 }
        #expect(ranks.count == 11 && ranks == Set(ranks).sorted(), "\(ranks)")
    }

    @Test(arguments: ["heard", "gateway", "nearby"])
    func `Messages of the feed are missed only if there is a rooms service`(_ kind: String) throws {
        let topic = "ibeacon-rooms/home/\(kind)/hall"
        #expect(text(.message, topic, try consequence()) == "the rooms service does not hear this gateway")
        #expect(text(.message, topic, try consequence(isOn: false)) == nil)
        #expect(text(.message, topic, try consequence("rooms: null")) == "")
        #expect(text(.message, "other", try consequence()) == "")
    }
}
