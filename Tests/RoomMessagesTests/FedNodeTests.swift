import Base
import Beacon
import Configuration
import Rooms
import RoomsSupport
import SiteCore
import SiteProtocol
import Testing

/// An ESPresense node and an ibeacon-gateway in one room, or in one name: which of them is heard.
@Suite struct FedNodeTests {
    private static let beacon = BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)
    private var site: SiteHarness
    private var now = 0.0
    private var sequence: Int64 = 0

    init() throws { site = try SiteHarness(tag: Self.beacon) }

    private mutating func pass(_ message: SiteMessage) { _ = site.pass(message, seconds: now) }

    /// A second's message of an ibeacon-gateway, without readings.
    private mutating func feed(_ gateway: String) {
        sequence += 1
        pass(
            .heard(
                gateway: gateway,
                HeardSecond(
                    startID: "b", sequence: sequence, at: .seconds(now), listening: .seconds(1), reports: 4,
                    readings: []))
        )
    }

    /// A message of a node about the tag.
    private mutating func report(_ node: String) {
        pass(
            .nodeHeard(
                node: node,
                HeardSecond(
                    startID: "", sequence: 0, at: nil, listening: .seconds(1), reports: 1,
                    readings: [Reading(beacon: Self.beacon, count: 1, level: -50, power: -59, age: .zero)])))
    }

    private var readings: UInt64 { site.core.engine.counters.readings }

    /// The node reports every 5 s, until it counts.
    private mutating func settle(_ node: String) {
        for _ in 0..<6 {
            now += 5
            report(node)
        }
    }

    @Test mutating func `One message of an ibeacon-gateway in the name of a node does not mute the node`() {
        settle("kitchen")
        feed("kitchen")
        let before = readings
        settle("kitchen")
        #expect(readings == before + 6)
        now += 60
        report("kitchen")
        let gateway = site.core.engine.plan.gatewayReports.first { $0.name == "kitchen" }
        #expect(gateway?.isListening == true)
    }

    @Test mutating func `A node is not heard while an ibeacon-gateway feeds in its room, and is again 25 s later`() {
        settle("kitchen")
        pass(.card(gateway: "pi", GatewayCard(room: "Kitchen")))
        for _ in 0..<4 {
            now += 1
            feed("pi")
        }
        let before = readings
        now += 1
        report("kitchen")
        #expect(readings == before)
        now += 26
        report("kitchen")
        #expect(readings == before + 1)
    }

    @Test mutating func `After a connection, a new node waits for the gateway whose card is in its room`() {
        _ = site.handle(.brokerConnected, at: .zero)
        pass(.card(gateway: "pi", GatewayCard(room: "Kitchen")))
        now = 1
        report("kitchen")
        #expect(!site.core.engine.plan.hasRoom(gateway: "kitchen"))
        now = 30
        report("kitchen")
        #expect(site.core.engine.plan.hasRoom(gateway: "kitchen"))
    }

    @Test(arguments: [nil, "Kitchen", "Hall"])
    func `A node is in the room that the configuration gives it now, whatever it was in an earlier run`(room: String?)
        throws
    {
        func start(in room: String?, _ learned: LearnedSite?) throws -> FedNodeTests {
            var test = try FedNodeTests()
            let gateways = room.map { #","gateways":{"esp_1":"\#($0)"}"# } ?? ""
            let text = #"{"rooms":{"site":"home","tags":["Jane:\#(Self.beacon)"]\#(gateways)}}"#
            test.site = SiteHarness(SiteSettings(try Configuration(parsing: text.utf8, hostName: "pi")))
            test.site.start(learned: learned, at: .zero)
            _ = test.site.handle(.brokerConnected, at: .zero)
            test.settle("esp_1")
            return test
        }
        let before = try start(in: "Kitchen", nil).site.core.engine.plan
        #expect(before.roomID(ofGateway: "esp_1") == "kitchen")
        let after = try start(in: room, before.learned).site.core.engine.plan
        #expect(after.roomID(ofGateway: "esp_1") == (room?.lowercased() ?? "esp_1"))
    }

    // MARK: Ids that ESPresense's settings give

    /// A message of a node about a device under an id.
    private mutating func reportDevice(_ alias: String, by node: String = "hall", _ payload: String = #"{"rssi":-50}"#)
    {
        now += 5
        pass(.aliasHeard(alias, node: node, ReceivedNodeReading(payload.utf8)))
    }

    @Test mutating func `A node that publishes a tag under the id of its settings is heard`() {
        pass(.alias(Self.beacon, "keys:jane"))
        for _ in 0..<6 { reportDevice("keys:jane") }
        #expect(site.core.engine.decided(ofTag: 0).room?.name == "hall")
        #expect(site.core.whereabouts.aliases.unknown == 0)
    }

    @Test mutating func `Ids of which no settings are known are counted and named, and no reading is taken from them`()
    {
        settle("hall")
        let before = readings
        for number in 0..<30 { reportDevice("apple:\(number)") }
        reportDevice("apple:0")
        #expect(readings == before)
        #expect(site.core.whereabouts.aliases.unknown == 31)
        #expect(site.core.whereabouts.aliases.unknownIDs == (0..<NodeAliases.mostNamed).map { "apple:\($0)" })
    }

    @Test mutating func `Settings that are removed, or a second beacon with the id, end it`() {
        settle("hall")
        pass(.alias(Self.beacon, "keys:jane"))
        reportDevice("keys:jane")
        let before = readings
        pass(.alias(BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 5), "keys:jane"))
        reportDevice("keys:jane")
        #expect(readings == before, "which of the two was heard cannot be told")
        pass(.alias(BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 5), nil))
        reportDevice("keys:jane")
        #expect(readings == before + 1)
        pass(.alias(Self.beacon, nil))
        reportDevice("keys:jane")
        #expect(readings == before + 1)
    }

    @Test
    mutating func
        `What a rooms service publishes under an id is no reading, and a payload that cannot be read is refused`()
    {
        settle("hall")
        pass(.alias(Self.beacon, "keys:jane"))
        let before = readings
        reportDevice("keys:jane", by: "hall", #"{"rssi":-50,"virtual":true}"#)
        #expect(site.core.malformed.count == 0)
        reportDevice("keys:jane", by: "hall", "broken")
        #expect(readings == before && site.core.malformed.count == 1)
        #expect(site.core.malformed.topics.map(\.name) == ["espresense/devices/keys:jane/hall"])
    }
}
