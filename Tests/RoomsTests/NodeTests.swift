import Base
import Beacon
import Regions
import RoomsSupport
import SiteProtocol
import Testing

@testable import Rooms

extension House {
    /// A message of an ESPresense node: no clock, one tag, nothing when it hears nothing.
    mutating func sendAsNode(
        _ node: String, level: Float, at time: Double, beacon: BeaconID = House.beacon
    ) {
        wait(until: time)
        pass(
            .heard(
                gateway: node,
                HeardSecond(
                    startID: "", sequence: 0, at: nil, listening: .seconds(1), reports: 1,
                    readings: [Reading(beacon: beacon, count: 1, level: level, power: -59, age: .zero)])))
    }

    /// For so many rounds of 5 s each node sends its level, the one 2.5 s after the other.
    fileprivate mutating func rounds(_ count: Int, kitchen: Float, hall: Float) {
        for _ in 0..<count {
            let begin = now
            sendAsNode("k", level: kitchen, at: begin + 2.5)
            sendAsNode("h", level: hall, at: begin + 5)
        }
    }
}

/// ESPresense nodes send when they like. What they do not send says nothing.
@Suite struct NodeTests {
    private static let rooms = [(gateway: "k", room: "Kitchen"), (gateway: "h", room: "Hall")]

    @Test func `A node between two messages has not failed: a tag leaves its room by the levels`() {
        var house = House(Self.rooms)
        house.rounds(12, kitchen: -55, hall: -80)
        #expect(house.reported.last == "Kitchen")
        // At -66 dBm a failed gateway would hold it.
        house.rounds(24, kitchen: -85, hall: -70)
        #expect(house.reported.last == "Hall")
    }

    @Test func `After a walk too, the room that is reported gains nothing by the silence of its node`() {
        var house = House(Self.rooms)
        for (room, levels) in [("Kitchen", (-62, -70)), ("Hall", (-70, -62))] as [(String, (Float, Float))] {
            house.pass(.learn(room: room, tag: "jane", .seconds(60)))
            house.rounds(13, kitchen: levels.0, hall: levels.1)
        }
        house.rounds(12, kitchen: -62, hall: -70)
        #expect(house.reported.last == "Kitchen")
        house.rounds(12, kitchen: -70, hall: -62)
        #expect(house.reported.last == "Hall")
    }

    @Test func `Two nodes that hear a tag report no first room at once: a third may hear it better`() {
        var house = House(Self.rooms + [(gateway: "b", room: "Bath")])
        for round in 0..<4 {
            house.wait(until: 10 + 5 * Double(round))
            for node in ["k", "h", "b"] { house.pass(.telemetry(node: node)) }
        }
        house.sendAsNode("h", level: -80, at: 28)
        house.sendAsNode("k", level: -50, at: 28.2)
        house.wait(until: 32)
        #expect(house.reported == [nil])
    }

    @Test func `What a node says of another tag is no silence about this one`() throws {
        var house = House(Self.rooms)
        let bob = BeaconID(uuid: House.beacon.uuid, major: 3, minor: 5)
        house.pass(
            .tags(
                house.engine.tags + [
                    TagDescription(id: "bob", name: "Bob", pattern: BeaconPattern(uuid: bob.uuid, major: 3, minor: 5))
                ]))
        house.rounds(4, kitchen: -60, hall: -64)
        house.reported = []
        for _ in 0..<60 {
            let begin = house.now
            house.sendAsNode("k", level: -60, at: begin + 0.5)
            // The kitchen's node reports the other tag each second; in the other tag's room nothing changes.
            for second in 1...4 { house.sendAsNode("k", level: -50, at: begin + 0.5 + Double(second), beacon: bob) }
            house.sendAsNode("h", level: -64, at: begin + 4.8)
            house.wait(until: begin + 5)
        }
        #expect(!house.reported.contains("Hall"), "\(house.reported)")
        // After 90 s without a word about a tag, its level has faded; then its silence stands for no level, either.
        let kitchen = try #require(house.engine.plan.hearing.gateway(named: "k"))
        #expect(house.engine.plan.hearing.gateways[kitchen].isListening)
        #expect(house.engine.plan.hearing.gateways[kitchen].levelOfSilence(house.engine.tuning.silence).dBm == nil)
    }

    @Test func `The level of a node that says nothing counts for 90 s at most`() {
        var house = House(Self.rooms)
        house.rounds(12, kitchen: -55, hall: -80)
        #expect(house.reported.last == "Kitchen")
        let end = house.now + 95
        while house.now < end { house.sendAsNode("h", level: -80, at: house.now + 5) }
        #expect(house.reported.last == "Hall")
    }

    @Test(arguments: [true, false])
    func `A tag that nodes hear no more is away within 90 s, with their telemetry and without`(hasTelemetry: Bool) {
        var house = House(Self.rooms)
        house.rounds(60, kitchen: -55, hall: -80)
        #expect(house.home.last == true)
        for _ in 0..<6 {
            house.wait(until: house.now + 15)
            if hasTelemetry { for node in ["k", "h"] { house.pass(.telemetry(node: node)) } }
        }
        #expect(house.home.last == false)
    }

    @Test(arguments: [true, false])
    func `Nodes let a tag go away after the last ibeacon-gateway of the site was switched off`(isOffline: Bool) {
        var house = House(Self.rooms + [(gateway: "b", room: "Bath")])
        house.seconds(10, ["b": -70])
        house.rounds(12, kitchen: -55, hall: -80)
        if isOffline { house.pass(.available(gateway: "b", false)) }
        #expect(!house.home.contains(false))
        for _ in 0..<9 {
            for node in ["k", "h"] {
                house.wait(until: house.now + 7.5)
                house.pass(.telemetry(node: node))
            }
        }
        #expect(house.home.last == false)
    }

    @Test func `Without a word of nodes and gateways no tag goes away`() {
        var house = House(Self.rooms + [(gateway: "b", room: "Bath")])
        house.seconds(10, ["b": -70])
        house.rounds(12, kitchen: -55, hall: -80)
        house.seconds(10, ["b": -70])
        house.wait(until: house.now + 600)
        house.pass(.tick)
        #expect(!house.home.contains(false))
    }

    @Test func `Telemetry of nodes lets no tag go away that they report`() {
        var house = House(Self.rooms)
        for _ in 0..<40 {
            house.rounds(3, kitchen: -55, hall: -80)
            for node in ["k", "h"] { house.pass(.telemetry(node: node)) }
        }
        #expect(!house.home.contains(false))
    }

    /// The node connects later than the service.
    @Test(arguments: [1.0, 2, 5], [(5.0, 2.0), (10, 10), (20, 20), (40, 2), (40, 35), (60, 2), (300, 20)])
    func `After an outage of the broker a tag that only a node hears has not left`(
        interval: Double, outage: (seconds: Double, delay: Double)
    ) {
        var house = House(Self.rooms)
        for _ in 0..<100 { house.sendAsNode("k", level: -55, at: house.now + interval) }
        house.pass(.connected(false))
        house.wait(until: house.now + outage.seconds)
        house.pass(.connected(true))
        house.wait(until: house.now + outage.delay)
        for _ in 0..<20 { house.sendAsNode("k", level: -55, at: house.now + interval) }
        #expect(house.home == [true, true])
    }

    @Test func `After an outage that was noticed late a node that speaks of itself first loses no tag`() {
        var house = House(Self.rooms)
        for _ in 0..<100 { house.sendAsNode("k", level: -55, at: house.now + 5) }
        house.wait(until: house.now + 16)
        house.pass(.connected(false))
        house.wait(until: house.now + 20)
        house.pass(.connected(true))
        house.wait(until: house.now + 1)
        house.pass(.telemetry(node: "k"))
        house.wait(until: house.now + 16)
        house.pass(.telemetry(node: "k"))
        for _ in 0..<20 { house.sendAsNode("k", level: -55, at: house.now + 1) }
        #expect(house.home == [true, true])
    }

    /// The gateway, which alone hears the tag, gets its connection back after the node.
    @Test func `In a house with gateways and nodes no tag leaves after a long outage of the broker`() {
        var house = House(Self.rooms)
        for _ in 0..<60 {
            house.seconds(1, ["k": -55])
            house.pass(.telemetry(node: "h"))
        }
        house.pass(.connected(false))
        house.wait(until: house.now + 1200)
        house.pass(.connected(true))
        house.wait(until: house.now + 2)
        for _ in 0..<19 {
            house.pass(.telemetry(node: "h"))
            house.wait(until: house.now + 2)
        }
        house.seconds(20, ["k": -55])
        #expect(!house.home.contains(false))
    }

    @Test func `After this machine was suspended a tag that only a node hears has not left`() {
        var house = House(Self.rooms)
        for _ in 0..<100 { house.sendAsNode("k", level: -55, at: house.now + 1) }
        // No deadline comes during the sleep.
        house.now += 3600
        house.pass(.connected(true))
        house.wait(until: house.now + 1)
        // The node is there, and has not heard the tag yet.
        house.pass(.telemetry(node: "k"))
        house.wait(until: house.now + 2)
        for _ in 0..<20 { house.sendAsNode("k", level: -55, at: house.now + 1) }
        #expect(house.home == [true, true])
    }

    @Test(arguments: [true, false], [10.0, 100])
    func `A tag that nodes hear no more after a restart of the broker is away within 90 s`(
        hasTelemetry: Bool, outage: Double
    ) {
        var house = House(Self.rooms)
        house.rounds(60, kitchen: -55, hall: -80)
        for isConnected in [false, true] {
            house.pass(.connected(isConnected))
            house.wait(until: house.now + (isConnected ? 10 : outage))
        }
        #expect(!house.home.contains(false))
        for _ in 0..<6 {
            house.wait(until: house.now + 15)
            if hasTelemetry { for node in ["k", "h"] { house.pass(.telemetry(node: node)) } }
        }
        #expect(house.home.last == false)
    }

    @Test(arguments: [(true, 45), (false, 180)] as [(Bool, Double)])
    func `A node listens for 45 s after its last message, and without telemetry until each tag's leave time is over`(
        hasTelemetry: Bool, seconds: Double
    ) {
        var house = House(Self.rooms)
        if hasTelemetry { for node in ["k", "h"] { house.pass(.telemetry(node: node)) } }
        house.rounds(2, kitchen: -55, hall: -80)
        house.wait(until: house.now + seconds - 0.1)
        house.pass(.tick)
        #expect(house.engine.plan.gatewayReports.map(\.isListening) == [false, true])
        house.wait(until: house.now + 0.2)
        house.pass(.tick)
        #expect(house.engine.plan.gatewayReports.map(\.isListening) == [false, false])
    }

    /// Five minutes with a tag and telemetry, and then no message.
    private func outage(of seconds: Double) -> House {
        var house = House(Self.rooms)
        for _ in 0..<20 {
            for node in ["k", "h"] { house.pass(.telemetry(node: node)) }
            house.rounds(3, kitchen: -55, hall: -80)
        }
        house.wait(until: house.now + seconds)
        return house
    }

    @Test(arguments: [30, 40, 120, 600] as [Double])
    func `While the nodes have no connection no tag goes away, also if a gateway elsewhere has one`(seconds: Double) {
        var house = outage(of: 0)
        house.pass(.card(gateway: "g", room: "Garage"))
        let end = house.now + seconds
        while house.now < end {
            house.wait(until: house.now + 1)
            house.send(from: "g", level: nil)
        }
        for node in ["h", "k"] { house.pass(.telemetry(node: node)) }
        house.wait(until: house.now + 4)
        house.rounds(12, kitchen: -55, hall: -80)
        #expect(!house.home.contains(false), "\(house.home)")
    }

    @Test func `An outage that follows a long one at once loses no tag either`() {
        var house = outage(of: 3600)
        for node in ["h", "k"] { house.pass(.telemetry(node: node)) }
        house.rounds(1, kitchen: -55, hall: -80)
        house.wait(until: house.now + 600)
        for node in ["h", "k"] { house.pass(.telemetry(node: node)) }
        house.wait(until: house.now + 4)
        house.rounds(12, kitchen: -55, hall: -80)
        #expect(!house.home.contains(false), "\(house.home)")
    }

    @Test func `After an outage of all nodes a tag that has left is away`() {
        var house = outage(of: 120)
        for _ in 0..<12 {
            for node in ["h", "k"] { house.pass(.telemetry(node: node)) }
            house.wait(until: house.now + 15)
        }
        #expect(house.home.last == false)
    }

    @Test(arguments: [5, 25, 40] as [Double])
    func `However late the broker says that the nodes are gone, no tag goes away`(seconds: Double) {
        var house = outage(of: seconds)
        for node in ["k", "h"] { house.pass(.available(gateway: node, false)) }
        house.wait(until: house.now + 60)
        for node in ["h", "k"] {
            house.pass(.available(gateway: node, true))
            house.pass(.telemetry(node: node))
        }
        house.wait(until: house.now + 4)
        house.rounds(12, kitchen: -55, hall: -80)
        #expect(!house.home.contains(false), "\(house.home)")
    }

    @Test(arguments: [nil, 30, 60] as [Double?])
    func `A tag also goes away where nodes are told to publish no telemetry any more, or seldom`(period: Double?) {
        var house = outage(of: 0)
        var next = house.now
        for round in 0..<80 {
            if let period, house.now >= next {
                for node in ["k", "h"] { house.pass(.telemetry(node: node)) }
                next += period
            }
            if round < 40 { house.rounds(1, kitchen: -55, hall: -80) } else { house.wait(until: house.now + 5) }
        }
        #expect(house.home.last == false)
    }

    @Test func `A node that is restarted in fifteen seconds loses no tag that it alone hears`() {
        var house = House(Self.rooms)
        for _ in 0..<300 {
            house.sendAsNode("k", level: -60, at: house.now + 1)
            if Int(house.now) % 15 == 0 { house.pass(.telemetry(node: "k")) }
        }
        house.wait(until: house.now + 16)
        house.pass(.available(gateway: "k", true))
        house.pass(.telemetry(node: "k"))
        for _ in 0..<20 { house.sendAsNode("k", level: -60, at: house.now + 1) }
        #expect(!house.home.contains(false), "\(house.home)")
    }

    @Test func `Without telemetry, too, a tag goes away whose leave time is longer than a node's silence`() {
        var house = House(Self.rooms)
        // Messages at irregular times make the leave time long.
        for round in 0..<60 { house.sendAsNode("k", level: -60, at: house.now + (round % 4 == 3 ? 25 : 5)) }
        #expect(house.home.last == true)
        house.wait(until: house.now + 200)
        house.pass(.tick)
        #expect(house.home.last == false)
    }

    @Test func `A gateway that fails still holds the tag that it heard`() {
        var house = House(Self.rooms)
        house.seconds(30, ["k": -55, "h": -80])
        #expect(house.reported.last == "Kitchen")
        // The hall's gateway now hears it as well as a failed one is taken to.
        house.seconds(20, ["h": -68])
        #expect(house.reported.last == "Kitchen")
    }

    // MARK: Fingerprints

    /// - Parameter share: Weight of another body than the one that walked.
    private static func likelihood(_ eighths: [Int16?], of levels: [Float?], otherBody share: Float = 0) -> Float {
        var tuning = RoomTuning()
        tuning.prints.otherBodyShare = share
        var prints = RoomFingerprints()
        prints.add(
            eighths.enumerated().map {
                FingerprintLevel(gateway: GatewayIndex(number: $0.offset), eighths: $0.element)
            },
            seconds: 1, order: 1, tuning)
        var heard = LevelVector()
        heard.levels = Table(levels.map { OptionalLevel($0) })
        return prints.likelihood(heard, base: 0, parts: Table(levels.map { _ in 0 }), tuning)
    }

    @Test func `A gateway that a fingerprint knows nothing of costs four squared widths`() {
        let known = Self.likelihood([-480, -560], of: [-60, -70])
        let unknown = Self.likelihood([-480, nil], of: [-60, -70])
        #expect(known == 1)
        #expect(abs(unknown - 0.135_335) < 1e-4)
    }

    @Test func `Another body than the one that walked fits, best if it changes all gateways alike`() {
        let same = Self.likelihood([-480, -560], of: [-60, -70], otherBody: 0.03)
        let alike = Self.likelihood([-480, -560], of: [-72, -82], otherBody: 0.03)
        let apart = Self.likelihood([-480, -560], of: [-72, -58], otherBody: 0.03)
        let refused = Self.likelihood([-480, -560], of: [-72, -82])
        #expect(same > 100 * alike)
        #expect(alike > 2 * apart)
        #expect(apart > 100 * refused)
    }

    @Test func `A gateway that says nothing costs nothing, known or not`() {
        #expect(Self.likelihood([-480, nil], of: [-60, nil]) == 1)
        #expect(Self.likelihood([-480, -560], of: [-60, nil]) == 1)
    }
}
