import Glibc
import TestSupport
import Testing

/// A house on a cluster of brokers, one of which is killed and stays down. `Tests/Cluster/test` runs it: it needs nats-server, and
/// how long the surviving nodes take is not ours to decide.
@Suite(
    .enabled(if: getenv("IBEACON_GATEWAY_CLUSTER") != nil, "Tests/Cluster/test runs it, and installs nats-server"))
struct NATSClusterTests {
    private static let rooms = ["Kitchen", "Hall", "Bath"]
    /// What each gateway hears of the tag that is in the room of this number, dBm.
    private static let levels: [[Int8]] = [[-50, -75, -85], [-72, -52, -70], [-86, -74, -50]]

    /// A list of hosts that begins with this one.
    private func hosts(from first: Int) -> String {
        let hosts = NATSCluster.hosts
        return (hosts[first...] + hosts[..<first]).map { "\"\($0)\"" }.joined(separator: ", ")
    }

    /// A gateway in the room of this number, whose first host is the node of the same number. The tag stays for `stay`
    /// seconds in each room, and in the last one for ten minutes.
    private func gateway(_ number: Int, stay: Double, in cluster: NATSCluster) throws -> GatewayProcess {
        let gateway = try GatewayProcess("", port: cluster.port, device: "g\(number)")
        var air = BeaconScript()
        for (room, levels) in Self.levels.enumerated() {
            let start = stay * Double(room)
            air.advertise(7, from: start, to: room == 2 ? start + 600 : start + stay, every: 0.3, level: levels[number])
        }
        try air.write(to: gateway.directory.file("air.btsnoop"))
        try gateway.directory.write(
            """
            {_type: "configuration", host: [\(hosts(from: number))], port: \(cluster.port), \(NATSCluster.login),
             deviceId: "g\(number)", room: "\(Self.rooms[number])", http: null, lat: 52, lon: 6, tls: false,
             waypoints: [\(BeaconScript.waypoint("Tag", minor: 7))],
             scanner: {capture: "\(gateway.directory.file("air.btsnoop"))"}}
            """, to: "config.json")
        return gateway
    }

    /// It prints how long the reports paused: JetStream's elections take longer than the ten seconds that are wanted.
    @Test func `A node is killed during a walk and stays down: reports continue, and nothing is lost`() throws {
        let cluster = try NATSCluster()
        defer { cluster.stop() }
        let log = try TemporaryDirectory()
        let witness = try ChildProcess(
            "mosquitto_sub",
            NATSCluster.options(host: NATSCluster.hosts[2], port: cluster.port) + [
                "-q", "1", "-v", "-t", "ibeacon-rooms/home/tag/#", "-t", "owntracks/#",
            ], output: log.file("lines"))
        defer { witness.send(SIGKILL) }
        var lines: [Substring] {
            String(decoding: (try? log.read("lines")) ?? [], as: UTF8.self).split(separator: "\n")
        }
        func reports(_ room: String) -> Bool {
            lines.last { $0.contains("/tag/") }?.contains(#""roomName":"\#(room)""#) == true
        }

        let service = try RoomsProcess(port: cluster.port, instance: "one")
        try service.directory.write(
            """
            {_type: "configuration", host: [\(hosts(from: 0))], port: \(cluster.port), \(NATSCluster.login),
             rooms: {site: "home", instance: "one", http: null, tags: ["Jane:\(BeaconScript.uuid):1:7"]}}
            """, to: "config.json")
        try service.start()
        defer { service.kill() }
        #expect(service.says("is the active one of site"), "\(service.log)")
        // Long enough that the first room is known before the tag leaves it, also on a busy machine.
        let stay = 40.0
        let gateways = try (0..<3).map { try gateway($0, stay: stay, in: cluster) }
        defer { gateways.forEach { $0.kill() } }
        for gateway in gateways { try gateway.start() }
        let clock = ContinuousClock()
        let start = clock.now
        #expect(eventually(within: .seconds(stay)) { reports("Kitchen") }, "\(service.log)")

        // The tag goes to the hall, and at this moment the node of the service and of the first gateway dies.
        while clock.now - start < .seconds(stay) { usleep(50_000) }
        cluster.kill(0)
        let killed = clock.now
        _ = try gateways[0].ask("regions", "add", "Pantry:\(BeaconScript.uuid):1:7")
        #expect(eventually(within: .seconds(180)) { reports("Hall") || reports("Bath") }, "\(service.log)\(lines)")
        let delay = clock.now - killed
        print("the next report came \(delay) after the node was killed")
        #expect(eventually(within: .seconds(120)) { lines.contains { $0.contains("Pantry") && $0.contains("enter") } })
        #expect(eventually(within: .seconds(90)) { reports("Bath") }, "\(service.log)")
        #expect(!lines.contains { $0.contains("/tag/") && $0.contains(#""home":false"#) }, "\(lines)")
        #expect(!service.log.contains("is away"))
        // Each transition of the tag's own device at most once, in the order of the walk. The hall may be over before the
        // cluster works again.
        let entered = lines.compactMap { line -> String? in
            guard line.hasPrefix("owntracks/jane/jane/event"), line.contains(#""event":"enter""#) else { return nil }
            return Self.rooms.first { line.contains(#""desc":"\#($0)""#) }
        }
        #expect(entered == Self.rooms || entered == ["Kitchen", "Bath"], "\(lines)")
    }
}
