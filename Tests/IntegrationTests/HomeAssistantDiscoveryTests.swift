import Glibc
import TestSupport
import Testing

/// What a broker keeps for Home Assistant. Home Assistant itself is in Tests/HomeAssistant.
@Suite struct HomeAssistantDiscoveryTests {
    private static let uuid = "CA271EAE-5FA8-4E80-8F08-2A302A95A959"
    private static let kitchen = waypoint("k", "Kitchen", ":1:7")
    private static let hall = waypoint("h", "Hall", ":2:9")
    private static let home =
        "homeAssistant: {discovery: true}, scanner: {capture: \"\(GatewayProcess.fixtures)/demo.btsnoop\", speed: 2}, leaveAfter: 3"
    private static let node = "homeassistant/+/ibeacon-gateway-hall/+/config"
    private static let presence = "ibeacon-gateway/hall/presence/owntracks%2Fjane%2Fhall"

    private static func waypoint(_ rid: String, _ name: String, _ suffix: String) -> String {
        #"{"_type":"waypoint","tst":1600000000,"rid":"\#(rid)","desc":"\#(name):\#(uuid)\#(suffix)"}"#
    }

    private func publish(_ broker: MosquittoBroker, _ topic: String, _ payload: String) throws {
        try run("mosquitto_pub", ["-h", "127.0.0.1", "-p", "\(broker.port)", "-t", topic, "-m", payload, "-q", "1"])
    }

    @Test func `Every entity is described, and the tracker is home while a beacon is inside`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker)
        let gateway = try GatewayProcess("waypoints: [\(Self.kitchen)], \(Self.home)", port: broker.port)
        try gateway.start()
        func states() -> [String] { witness.lines.filter { $0.topic == Self.presence }.map(\.text) }
        #expect(eventually { states().contains { $0.contains(#""state":"home""#) } }, "\(gateway.log)")
        #expect(
            eventually { states().last?.contains(#""state":"not_home""#) == true },
            "\(gateway.log)")
        let described = eventual({ Set(witness.lines.filter { $0.topic.hasSuffix("/config") }.map(\.topic)) }) {
            $0.count { $0.contains("_k_") } == 5 && $0.contains { $0.hasPrefix("homeassistant/device_tracker/") }
        }
        #expect(described.count { $0.contains("_k_") } == 5, "occupancy, RSSI, distance, last seen, beacon")
        #expect(described.contains { $0.hasPrefix("homeassistant/device_tracker/") })
        #expect(gateway.stop() == 0)
    }

    @Test func `A region that goes takes its entities along, and a birth brings everything again`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let gateway = try GatewayProcess("waypoints: [\(Self.kitchen), \(Self.hall)], \(Self.home)", port: broker.port)
        try gateway.start()
        let witness = try Subscriber(to: broker, topic: Self.node)
        func count(_ text: String, isRemoval: Bool) -> Int {
            witness.lines.count { $0.topic.contains(text) && $0.text.isEmpty == isRemoval }
        }
        #expect(
            eventually { count("_h_", isRemoval: false) == 5 && count("_k_", isRemoval: false) == 5 },
            "\(gateway.log)")
        _ = try gateway.ask("regions", "remove", "h")
        #expect(eventually { count("_h_", isRemoval: true) == 5 }, "\(gateway.log)")
        #expect(count("_k_", isRemoval: true) == 0)
        let before = count("_k_", isRemoval: false)
        try publish(broker, "homeassistant/status", "online")
        #expect(eventually { count("_k_", isRemoval: false) == before + 5 }, "\(gateway.log)")
        #expect(gateway.stop() == 0)
    }

    @Test func `What is chosen and pressed in Home Assistant is done`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker)
        let gateway = try GatewayProcess("lat: 48, lon: 16, \(Self.home)", port: broker.port)
        try gateway.start()
        #expect(eventually { witness.lines.contains { $0.topic == Self.presence } }, "\(gateway.log)")
        let commands = "ibeacon-gateway/hall/command"
        try publish(broker, commands, "monitoring:0:quiet")
        #expect(eventually { witness.lines.last { $0.topic == Self.presence }?.text.contains("quiet") == true })
        try publish(broker, commands, "report-location:0")
        #expect(eventually { witness.lines.contains { $0.topic == "owntracks/jane/hall" } }, "\(gateway.log)")
        for nonsense in ["monitoring:9:quiet", "monitoring:-1:quiet", "report-location:99", "restart-scan", "{", ""] {
            try publish(broker, commands, nonsense)
        }
        #expect(gateway.says("a recording is played once"), "\(gateway.log)")
        #expect(gateway.stop() == 0)
    }

    @Test func `With an encryption key nothing that comes in the clear is obeyed`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker)
        let gateway = try GatewayProcess("encryptionKey: \"secret\", \(Self.home)", port: broker.port)
        try gateway.start()
        #expect(eventually { witness.lines.contains { $0.topic == Self.presence } }, "\(gateway.log)")
        #expect(!witness.lines.contains { $0.topic.contains("homeassistant/button") })
        #expect(gateway.stop() == 0)
    }
}
