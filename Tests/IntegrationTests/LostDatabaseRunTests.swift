import Glibc
import TestSupport
import Testing

/// A broker that is killed, and comes back without what it retained. Everything that a service should have there is back within 20 s.
@Suite struct LostDatabaseRunTests {
    private static let limit: Duration = .seconds(20)

    /// The topics that the broker retains, or takes to be retained while this listens.
    private final class Retained {
        private let witness: Subscriber

        init(at broker: MosquittoBroker) throws {
            witness = try Subscriber(to: broker, options: ["-V", "5", "--retain-as-published"])
        }

        var topics: Set<String> {
            witness.lines.reduce(into: []) { topics, line in
                guard line.retained else { return }
                if line.text.isEmpty { topics.remove(line.topic) } else { topics.insert(line.topic) }
            }
        }

        /// The topics, once there were no new ones for so long.
        func settled(for quiet: Duration) -> Set<String> {
            var known = topics
            while eventually(within: quiet, { topics != known }) { known = topics }
            return known
        }
    }

    /// Kills the broker, and starts it with an empty database.
    private func lose(_ broker: MosquittoBroker) throws -> Retained {
        broker.stop(abruptly: true)
        unlink(broker.directory.file("mosquitto.db"))
        try broker.restart()
        return try Retained(at: broker)
    }

    @Test func `All that two trackers retain, with Home Assistant's entities, is back within 20 s`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let gateway = try GatewayProcess(
            """
            lat: 48, lon: 16, homeAssistant: {discovery: true}, scanner: {capture: "air.btsnoop"},
            waypoints: [\(BeaconScript.waypoint("Ada", minor: 7))],
            trackers: [{deviceId: "keys", tid: "K1", waypoints: [\(BeaconScript.waypoint("Keys", minor: 8))]}]
            """, port: broker.port)
        var air = BeaconScript()
        air.advertise(7, from: 0, to: 600)
        air.advertise(8, from: 0, to: 600)
        try air.write(to: gateway.directory.file("air.btsnoop"))
        let first = try Retained(at: broker)
        try gateway.start()
        #expect(gateway.says("entered Ada") && gateway.says("entered Keys"), "\(gateway.log)")
        let before = first.settled(for: .seconds(6))
        for topic in [
            "owntracks/jane/hall", "owntracks/jane/keys", "ibeacon-gateway/hall/region/Ada",
            "ibeacon-gateway/keys/region/Keys", "ibeacon-gateway/hall/availability", "ibeacon-gateway/hall/gateway",
        ] { #expect(before.contains(topic), "\(before.sorted())") }
        #expect(before.count { $0.hasPrefix("homeassistant/") } > 20, "\(before.sorted())")
        let begin = ContinuousClock.now
        let second = try lose(broker)
        let isBack = eventually(within: Self.limit - begin.duration(to: .now)) { before.isSubset(of: second.topics) }
        print("\(before.count) topics are back after \(begin.duration(to: .now)): \(isBack)")
        #expect(isBack, "missing: \(before.subtracting(second.topics).sorted())\n\(gateway.log)")
        #expect(gateway.stop() == 0)
    }

    @Test func `All that the rooms service retains, with the locations of tags, is back within 20 s`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let service = try RoomsProcess(
            port: broker.port, instance: "a", ", lat: 52, lon: 6, homeAssistant: {discovery: true}")
        try service.start()
        #expect(service.says("the active one"), "\(service.log)")
        let first = try Retained(at: broker)
        let house = try RoomsHouse(port: broker.port)
        #expect(try house.stay(in: 0) { first.topics.contains("owntracks/jane/jane") }, "\(service.log)")
        try house.stay(in: 0, seconds: 3)
        // The cards are those of the gateways, which are not here.
        let before = first.topics.filter { !$0.hasPrefix("ibeacon-rooms/home/gateway/") }
        for topic in ["owntracks/jane/jane", "ibeacon-rooms/home/tag/jane", "ibeacon-rooms/home/tags"] {
            #expect(before.contains(topic), "\(before.sorted())")
        }
        let begin = ContinuousClock.now
        let second = try lose(broker)
        let isBack = eventually(within: Self.limit - begin.duration(to: .now)) { before.isSubset(of: second.topics) }
        print("\(before.count) topics are back after \(begin.duration(to: .now)): \(isBack)")
        #expect(isBack, "missing: \(before.subtracting(second.topics).sorted())\n\(service.log)")
        #expect(service.stop() == 0)
    }
}
