import Glibc
import JSON
import Runtime
import System
import TestSupport
import Testing

/// A bus, a broker, a disk and an HTTP server that accept, and then do nothing for half a minute.
@Suite struct SilentWorldRunTests {
    /// Who is silent.
    enum Silent: String, CaseIterable {
        /// Nobody: the same run, for comparison.
        case nobody
        case broker, server
        /// The bus accepts no connection, either.
        case brokerAndFullBus
    }

    private static let duration: Duration = .seconds(30)

    @Test(arguments: Silent.allCases)
    func `No turn of the service lasts a second, also when settings need a new connection`(silent: Silent) throws {
        let directory = try TemporaryDirectory()
        let bus = try LocalSocket(directory.file("bus")).listen()
        defer { close(bus) }
        var places: [CInt] = []
        defer { for place in places { close(place) } }
        if silent == .brokerAndFullBus {
            repeat {
                places.append(LocalSocket.make(isBlocking: false))
            } while LocalSocket(directory.file("bus"))
                .connect(places[places.count - 1]) == 0
        }
        let listener = try LoopbackPort.Listener()
        let broker = silent == .nobody ? try MosquittoBroker() : nil
        let port = broker?.port ?? listener.port
        let members = { (client: String) in
            """
            clientId: "\(client)", scanner: "bluez", homeAssistant: {discovery: true}, remoteConfigurationTrial: 5,
            waypoints: [\(GatewayFixture.waypoint("k", "Kitchen"))],
            \(silent == .server ? "mode: 3, url: \"http://127.0.0.1:\(port)/\"," : "")
            """
        }
        let gateway = try GatewayProcess(members("first"), port: port, in: directory)
        try directory.write("", to: "fault")
        try gateway.start(environment: [
            "LD_PRELOAD=\(try GatewayProcess.directoryOfTests)/libFaultyDisk.so",
            "FAULTY_DISK=\(directory.file("fault"))",
            "DBUS_SYSTEM_BUS_ADDRESS=unix:path=\(directory.file("bus"))",
        ])
        #expect(gateway.says("1 region, "), "\(gateway.log)")
        if silent != .nobody { try directory.write("slow 30000", to: "fault") }
        let end = ContinuousClock.now + Self.duration
        var (reloads, longestAnswer) = (0, Duration.zero)
        while ContinuousClock.now < end {
            // The service answers meanwhile, and takes settings.
            let begin = ContinuousClock.now
            _ = try gateway.ask("status", "--json")
            longestAnswer = max(longestAnswer, ContinuousClock.now - begin)
            reloads += 1
            try gateway.configure(members("client-\(reloads)"), port: port)
            gateway.process?.send(SIGHUP)
            usleep(5_000_000)
        }
        #expect(reloads >= 2)
        try directory.write("", to: "fault")
        let code = gateway.stop()
        // What the disk has begun to write it ends after half a minute, and the service waits for ten seconds.
        let isLost = gateway.log.contains("unwritten data is lost")
        #expect(code == (isLost ? 74 : 0), "\(gateway.log)")
        #expect(silent != .nobody || !isLost, "\(gateway.log)")
        let turn = try gateway.longestTurn()
        print("silent \(silent): longest turn \(turn) ms, longest answer to status \(longestAnswer)")
        #expect(turn < 1000, "\(gateway.log)")
    }
}
