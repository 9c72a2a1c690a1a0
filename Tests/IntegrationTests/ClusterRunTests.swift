import TestSupport
import Testing

/// A cluster of brokers as a client sees it: several hosts, one of which dies and stays dead.
@Suite struct ClusterRunTests {
    /// Two brokers on one port of two loopback addresses, and a gateway that may use both.
    private struct Cluster {
        let first: MosquittoBroker
        let second: MosquittoBroker
        let gateway: GatewayProcess

        init() throws {
            first = try MosquittoBroker()
            second = try MosquittoBroker(["allow_anonymous true", "listener \(first.port) 127.0.0.2"])
            gateway = try GatewayProcess("", port: first.port)
            try gateway.directory.write(
                """
                {_type: "configuration", host: ["127.0.0.1", "127.0.0.2"], port: \(first.port), username: "jane",
                 deviceId: "hall", http: null, lat: 52, lon: 6, waypoints: [\(GatewayFixture.waypoint("k", "Kitchen"))], \(GatewayFixture.stay)}
                """, to: "config.json")
        }

        func stop() {
            gateway.kill()
            first.stop()
            second.stop()
        }
    }

    @Test func `A gateway whose host stays down moves to the next one, and loses nothing`() throws {
        let cluster = try Cluster()
        defer { cluster.stop() }
        let before = try Subscriber(to: cluster.first, topic: "owntracks/+/+/event")
        let after = try Subscriber(to: cluster.second, topic: "owntracks/+/+/event")
        try cluster.gateway.start()
        #expect(eventually { before.lines.contains { $0.text.contains("Kitchen") } }, "\(cluster.gateway.log)")
        cluster.first.stop(abruptly: true)
        // The beacon is there, so its second region is entered at once, with no broker to tell.
        _ = try cluster.gateway.ask("regions", "add", "Pantry:\(GatewayFixture.uuid):1:7")
        #expect(cluster.gateway.says("entered Pantry"), "\(cluster.gateway.log)")
        #expect(eventually { after.lines.contains { $0.text.contains("Pantry") } }, "\(cluster.gateway.log)")
        #expect(cluster.gateway.says("connected to 127.0.0.2:\(cluster.first.port)"), "\(cluster.gateway.log)")
    }

    @Test func `A command's own connection tries every host, too`() throws {
        let cluster = try Cluster()
        defer { cluster.stop() }
        cluster.first.stop(abruptly: true)
        let after = try Subscriber(to: cluster.second, topic: "owntracks/+/+")
        _ = try cluster.gateway.ask("report")
        #expect(eventually { after.lines.contains { $0.text.contains(#""_type":"location""#) } })
    }
}
