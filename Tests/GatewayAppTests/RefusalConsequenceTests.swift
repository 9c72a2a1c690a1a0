import Base
import Configuration
import Gateway
import GatewayEntities
import JSON
import Messaging
import OwnTracks
import Testing

@testable import GatewayApp

/// What the gateway lacks when something is refused, in words.
@Suite struct RefusalConsequenceTests {
    private func consequence(_ members: String = "rooms: {}", isOn: Bool = true) throws -> RefusalConsequence {
        let json = try JSONValue(parsing: Array("{deviceId: 'hall', \(members)}".utf8), dialect: .json5)
        let configuration = try Configuration(json, hostName: "hall")
        let clock = WallClock(epochOffset: 0, isKnown: true)
        let gateway = Gateway(configuration: configuration, wallClock: clock, explainsTransitions: false)
        return RefusalConsequence(
            trackers: gateway.trackers, birthTopics: ["homeassistant/status"],
            buttonTopic: HomeAssistantFeed.commandTopic("hall"),
            feed: ReadingFeedSettings(configuration), feedIsOn: isOn, phoneFilter: "ibeacon-rooms/home/phones/+")
    }

    private func text(_ kind: Refused.Kind, _ object: String, _ consequence: RefusalConsequence) -> String? {
        consequence.text(of: Refused(kind, object, on: "availability", because: "no"))
    }

    @Test(arguments: [
        ("homeassistant/status", "a start of Home Assistant is not noticed there"),
        ("ibeacon-rooms/home/tags", nil), ("ibeacon-rooms/home/nearby", nil),
        ("ibeacon-rooms/home/phones/+", "keys of phones that other gateways have do not arrive"),
        ("ibeacon-gateway/hall/command", "the buttons in Home Assistant do nothing"),
        ("homeassistant/+/x/+/config", "entities that this configuration no longer has stay in Home Assistant"),
    ]) func `A subscription that is refused`(_ filter: String, _ expected: String?) throws {
        #expect(text(.subscription, filter, try consequence()) == expected)
    }

    @Test func `Commands and transitions of each tracker`() throws {
        let consequence = try consequence()
        let topics = try #require(consequence.trackers.first).topics
        #expect(text(.subscription, topics.command, consequence) == "commands cannot arrive")
        #expect(text(.message, topics.event, consequence) == "transitions do not arrive")
        #expect(text(.size, topics.event, consequence) == "transitions do not arrive")
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
