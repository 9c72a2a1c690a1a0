import Base
import Beacon
import JSON
import Rooms
import SiteCore
import SiteProtocol

/// A site whose gateways send beacons and hear each other, with messages as they arrive at the broker. The gateways stand in a row.
struct SurveyedHouse {
    static let gateways = ["bath", "hall", "kitchen", "study"]

    private(set) var fleet: SiteFleet
    /// The gateways that take part. Each does what the list at the broker asks it to.
    var present = gateways
    /// What a gateway measures more than others, dB.
    var gains: [String: Float] = [:]
    /// What a gateway hears and sends less than usual, dB.
    var covers: [String: Float] = [:]
    /// The rooms that gateways name, if it is another one than their own.
    var rooms: [String: String] = [:]
    /// Gateways that refuse to send, or do not know the member `survey`.
    var refusing: Set<String> = []
    var silent: Set<String> = []

    /// - Parameters:
    ///   - surveyors: The services with the setting.
    ///   - isMeasured: Whether the usual levels were measured in an earlier run.
    ///   - gains: What a gateway measures more than others, dB, in that run, too.
    init(surveyors: Set<String> = ["a"], isMeasured: Bool = true, gains: [String: Float] = [:]) {
        self.gains = gains
        fleet = SiteFleet(surveyors: surveyors)
        var stored = SiteFleet.stored("Jane:7")
        if isMeasured { stored.surveyLevels = Self.usual(gains) }
        fleet.start("a", stored: stored)
        fleet.run(5)
        live(seconds: 20)
    }

    /// The levels of a week, in which gateways measured more than others, dB.
    static func usual(_ gains: [String: Float] = [:]) -> [LevelSurvey.StoredPair] {
        gateways.flatMap { sender in
            gateways.filter { $0 != sender }.map { receiver in
                LevelSurvey.StoredPair(
                    sender: sender, receiver: receiver, mean: level(sender, at: receiver) + (gains[receiver] ?? 0),
                    variance: 2, blocks: 3360)
            }
        }
    }

    private static func level(_ sender: String, at receiver: String) -> Float {
        let places = [sender, receiver].map { gateways.firstIndex(of: $0) ?? 0 }
        return -50 - 6 * Float(abs(places[0] - places[1]))
    }

    // MARK: What happens

    mutating func change(_ change: (inout SiteFleet) -> Void) { change(&fleet) }

    /// For so many minutes the gateways say now and then what they hear, and at the end often enough to count as listening.
    mutating func live(minutes: Int) {
        live(seconds: 60 * minutes, step: minutes < 60 ? 60 : 150)
        live(seconds: 10, step: 2)
    }

    mutating func live(seconds: Int, step: Int = 1) {
        for _ in 0..<seconds / step {
            fleet.run(step)
            for gateway in present { speak(gateway) }
        }
    }

    private mutating func speak(_ gateway: String) {
        publishCard(of: gateway)
        // Read once: it is parsed each time.
        let listed = listed
        let heard = (listed?.beacons(heardBy: gateway) ?? []).compactMap { beacon -> String? in
            guard let sender = listed?.gateway(sending: beacon), present.contains(sender), !refusing.contains(sender),
                !silent.contains(sender)
            else { return nil }
            let level =
                Self.level(sender, at: gateway) - (covers[sender] ?? 0) - (covers[gateway] ?? 0) + (gains[gateway] ?? 0)
            return #"{"id":"\#(beacon)","n":1,"rssi":\#(Int(level)),"max":\#(Int(level)),"power":-59,"age":12}"#
        }
        say(gateway, heard)
    }

    /// A message of a gateway with these readings.
    mutating func say(_ gateway: String, _ readings: [String]) {
        let second = fleet.now.nanoseconds / 1_000_000_000
        fleet.publish(
            RoomTopic.heard(site: "home", gateway: gateway).text,
            Array(
                #"{"v":1,"boot":"b","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":40,"beacons":[\#(readings.joined(separator: ","))]}"#
                    .utf8))
    }

    mutating func publishCard(of gateway: String) {
        var survey = ""
        if let minor = listed?.minors[gateway], !silent.contains(gateway) {
            let state = refusing.contains(gateway) ? #""refused":"no room""# : #""interval":1000"#
            survey = #","survey":{"minor":\#(minor),\#(state)}"#
        }
        let room = rooms[gateway] ?? gateway.prefix(1).uppercased() + gateway.dropFirst()
        let card = #"{"v":1,"room":"\#(room)","scanner":"mgmt","version":"1.1"\#(survey)}"#
        publish("gateway/\(gateway)", card)
    }

    mutating func publish(_ topic: String, _ payload: String) {
        let topic = "ibeacon-rooms/home/\(topic)"
        guard fleet.retained[topic] != Array(payload.utf8) else { return }
        fleet.publish(topic, Array(payload.utf8))
    }

    // MARK: What came of it

    /// What the list at the broker asks the gateways to send.
    var listed: SurveyBeacons? { list?.survey }

    var list: TagList? { fleet.retained[SiteFleet.listTopic].flatMap { try? FeedDecoder.tags($0) } }

    func health(_ gateway: String) -> HealthMessage? {
        fleet.retained[RoomTopic.health(site: "home", gateway: gateway).text].flatMap { HealthMessage($0) }
    }
}
