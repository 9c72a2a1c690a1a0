import Base
import RoomMessages
import Rooms
import SiteProtocol
import Testing

@testable import SiteCore

/// ESPresense nodes hear the beacons of each other, which they send by themselves.
@Suite struct NodeSurveyTests {
    // MARK: What is measured

    @Test func `What nodes hear of each other is known after half a day, and by how much each measures more`() throws {
        var house = NodeHouse(isMeasured: false)
        house.gains = ["study": 8]
        house.live(minutes: 11 * 60)
        #expect(house.survey?.between.pairs == [])
        house.live(minutes: 3 * 60)
        let survey = try #require(house.survey)
        #expect(survey.between.pairs.count == 12)
        #expect(abs(try #require(survey.offsets["study"]) - 4.5) < 0.3)
        #expect(abs(try #require(survey.offsets["hall"]) + 1.5) < 0.3)
    }

    @Test func `The levels are stored, and are none of tags`() {
        var house = NodeHouse(isMeasured: false)
        house.live(minutes: 30)
        #expect(house.fleet.stored["a"]?.surveyLevels.count == 12)
        let counters = house.fleet.services["a"]?.engine.counters
        #expect(counters?.foreign == counters?.readings)
    }

    @Test func `Without the setting nothing is measured`() {
        var house = NodeHouse(surveyors: [], isMeasured: false)
        house.live(minutes: 30)
        #expect(house.survey?.due == nil && house.survey?.stored.isEmpty == true)
        #expect(house.fleet.stored["a"]?.surveyLevels == [])
    }

    /// A replay has no name among the services, and its recording no list that asks a gateway.
    @Test(arguments: [true, false]) func `A replay measures what nodes hear of each other if the settings say so`(
        isOn: Bool
    ) throws {
        var settings = SiteSettings()
        settings.surveysGateways = isOn
        var replay = RoomReplay(settings)
        for line in NodeHouse.recording(minutes: 30) { try replay.play(line: line.utf8, { _ in }, { _ in }) }
        var pairs: [LevelSurvey.StoredPair] = []
        if case .store(.surveyLevels(let stored))? = replay.site.survey.stored.first { pairs = stored }
        #expect(pairs.count == (isOn ? 12 : 0) && (replay.site.survey.due != nil) == isOn)
    }

    // MARK: What counts for nothing

    @Test func `An id of a node that is not given to the beacon of one is no node`() {
        var house = NodeHouse(isMeasured: false, uuid: "e2c56db5-dffb-48d2-b060-d0f5a71096e0")
        house.live(minutes: 30)
        #expect(house.fleet.stored["a"]?.surveyLevels == [])
    }

    @Test func `A node that has said nothing itself is not known as a sender`() {
        var house = NodeHouse(isMeasured: false)
        house.silent = ["study"]
        house.live(minutes: 30)
        let stored = house.fleet.stored["a"]?.surveyLevels ?? []
        #expect(stored.count == 6 && !stored.contains { $0.sender == "study" || $0.receiver == "study" })
    }

    @Test func `A node in whose place a gateway is heard is neither heard nor known as a sender`() {
        var house = NodeHouse(isMeasured: false)
        house.fed = "kitchen"
        house.live(minutes: 30)
        let stored = house.fleet.stored["a"]?.surveyLevels ?? []
        #expect(stored.count == 6 && !stored.contains { $0.sender == "kitchen" || $0.receiver == "kitchen" })
    }

    // MARK: Nodes that are elsewhere

    @Test func `A node that was moved is measured anew, and nobody is asked`() throws {
        var house = NodeHouse()
        #expect(house.survey?.between.pairs.count == 12)
        house.covers["hall"] = 25
        house.live(minutes: 60)
        #expect(house.fleet.findings == [])
        #expect(
            house.fleet.log.filter { $0.contains("is learned anew") } == [
                "what is heard of the node hall is learned anew, because 3 of 3 others hear it otherwise, or are heard so"
            ])
        let survey = try #require(house.survey)
        #expect(survey.between.pairs.count == 6 && !survey.asks(about: "hall"))
        #expect(!survey.between.pairs.contains { $0.sender == "hall" || $0.receiver == "hall" })
    }

    @Test func `What was measured of a node that is not known any more is forgotten`() {
        var house = NodeHouse()
        house.silent = ["study"]
        house.change { fleet in
            fleet.kill("a")
            fleet.start("a")
        }
        house.live(minutes: 5)
        #expect(house.survey?.between.pairs.count == 6)
    }
}

/// Nodes in a row, with messages as they arrive at the broker.
private struct NodeHouse {
    private static let nodes = ["bath", "hall", "kitchen", "study"]

    private(set) var fleet: SiteFleet
    /// What a node measures more than others, dB.
    var gains: [String: Float] = [:]
    /// What a node hears and sends less than usual, dB.
    var covers: [String: Float] = [:]
    /// Nodes that publish nothing, and are heard.
    var silent: Set<String> = []
    /// A gateway that is in the room of the node with its name.
    var fed: String?

    /// - Parameters:
    ///   - isMeasured: Whether the usual levels were measured in an earlier run.
    ///   - uuid: Of the beacons that the nodes send.
    init(
        surveyors: Set<String> = ["a"], isMeasured: Bool = true, uuid: String = "e5ca1ade-f007-ba11-0000-000000000000"
    ) {
        fleet = SiteFleet(surveyors: surveyors)
        for (number, node) in Self.nodes.enumerated() {
            fleet.publish(
                "espresense/settings/iBeacon:\(uuid)-\(208 + number)-62918/config",
                Array(#"{"id":"node:\#(node)","name":"\#(node.prefix(1).uppercased() + node.dropFirst())"}"#.utf8))
        }
        var stored = SiteFleet.stored("Jane:7")
        if isMeasured { stored.surveyLevels = SurveyedHouse.usual() }
        fleet.start("a", stored: stored)
        fleet.run(5)
        if isMeasured { live(minutes: 2) }
    }

    var survey: GatewaySurvey? { fleet.services["a"]?.survey }

    mutating func change(_ change: (inout SiteFleet) -> Void) { change(&fleet) }

    /// For so many minutes each node publishes now and then what it hears: every 10 s at the begin, then each minute, or twice in five
    /// minutes if it is an hour or more.
    mutating func live(minutes: Int) {
        for _ in 0..<6 { pass(10) }
        let step = minutes < 60 ? 60 : 150
        for _ in 0..<(minutes - 1) * 60 / step { pass(step) }
    }

    private mutating func pass(_ seconds: Int) {
        fleet.run(seconds)
        for second in 0..<(fed == nil ? 0 : 3) {
            let time = fleet.now.nanoseconds / 1_000_000_000 * 3 + Int64(second)
            fleet.publish(
                RoomTopic.heard(site: "home", gateway: fed ?? "").text,
                Array(
                    #"{"v":1,"boot":"b","seq":\#(time),"at":\#(time * 1000),"listening":1000,"reports":40,"beacons":[]}"#
                        .utf8))
            fleet.run(1)
        }
        for receiver in Self.nodes where !silent.contains(receiver) {
            for sender in Self.nodes where sender != receiver { speak(receiver, of: sender) }
        }
    }

    private mutating func speak(_ receiver: String, of sender: String) {
        let level =
            Self.level(sender, at: receiver) - (covers[sender] ?? 0) - (covers[receiver] ?? 0) + (gains[receiver] ?? 0)
        fleet.publish(Self.topic(receiver, of: sender), Array(Self.reading(of: sender, level).utf8))
    }

    private static func level(_ sender: String, at receiver: String) -> Float {
        let places = [sender, receiver].map { nodes.firstIndex(of: $0) ?? 0 }
        return -50 - 6 * Float(abs(places[0] - places[1]))
    }

    private static func topic(_ receiver: String, of sender: String) -> String {
        "espresense/devices/node:\(sender)/\(receiver)"
    }

    private static func reading(of sender: String, _ level: Float) -> String {
        #"{"mac":"a4cf12d03f31","id":"node:\#(sender)","name":"\#(sender)","rssi@1m":-59,"rssi":\#(level),"rxAdj":0,"rssiVar":2.10,"distance":3.09,"var":0.41,"int":1480}"#
    }

    /// The lines of a recording of nodes that each say every ten seconds what they hear of each other.
    static func recording(minutes: Int) -> [String] {
        func line(_ second: Int, _ topic: String, _ payload: String) -> String {
            #"{"tst":\#(1_700_000_000 + second),"topic":"\#(topic)","payload":\#(payload)}"#
        }
        let uuid = "e5ca1ade-f007-ba11-0000-000000000000"
        var lines = nodes.enumerated().map { number, node in
            line(
                0, "espresense/settings/iBeacon:\(uuid)-\(208 + number)-62918/config",
                #"{"id":"node:\#(node)","name":"\#(node)"}"#)
        }
        for second in stride(from: 10, to: minutes * 60, by: 10) {
            for receiver in nodes {
                for sender in nodes where sender != receiver {
                    let payload = reading(of: sender, level(sender, at: receiver))
                    lines.append(line(second, topic(receiver, of: sender), payload))
                }
            }
        }
        return lines
    }
}
