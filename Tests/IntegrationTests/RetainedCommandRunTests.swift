import TestSupport
import Testing

/// Commands that a real broker retains, and sends to the rooms service at each start.
@Suite struct RetainedCommandRunTests {
    private static let topic = "owntracks/jane/rooms-home/cmd"
    private static let clear = #"{"_type":"cmd","action":"clearWaypoints"}"#
    private static let keys =
        #"{"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":["#
        + BeaconScript.waypoint("Keys", minor: 9) + "]}}"

    private func retain(_ payload: String, at broker: MosquittoBroker) throws {
        try run(
            "mosquitto_pub",
            ["-h", "127.0.0.1", "-p", "\(broker.port)", "-t", Self.topic, "-r", "-q", "1", "-m", payload])
    }

    /// Starts the service, and waits until it has said something so many times in all its runs.
    private func start(_ service: RoomsProcess, until words: String, times: Int) throws {
        try service.start()
        let isSaid = eventually { service.log.split(separator: words, omittingEmptySubsequences: false).count > times }
        #expect(isSaid, "\(words) \(times) times: \(service.log)")
    }

    private func tags(_ service: RoomsProcess) throws -> String { try service.ask("rooms", "tags", "list") }

    @Test func `A retained clearWaypoints deletes no tag, at no start`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        try retain(Self.clear, at: broker)
        let service = try RoomsProcess(port: broker.port, instance: "a", tags: [])
        _ = try service.ask("rooms", "tags", "add", "Jane:\(BeaconScript.uuid):1:7")
        for run in 1...2 {
            try start(service, until: "refused: the broker had retained it", times: run)
            #expect(try tags(service).contains("Jane"), "\(service.log)")
            #expect(service.stop() == 0)
        }
        #expect(try tags(service).contains("Jane"), "\(service.log)")
    }

    @Test func `A retained setWaypoints does not bring a removed tag back, until the state is lost`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        try retain(Self.keys, at: broker)
        let service = try RoomsProcess(port: broker.port, instance: "a")
        try service.start()
        #expect(try eventually { try tags(service).contains("Keys") }, "\(service.log)")
        _ = try service.ask("rooms", "tags", "remove", "Keys")
        #expect(try eventually { try !tags(service).contains("Keys") }, "\(service.log)")
        for run in 1...2 {
            service.kill()
            try start(service, until: "was applied before, and is not applied again", times: run)
            #expect(try !tags(service).contains("Keys"), "\(service.log)")
        }
        #expect(service.stop() == 0)
        try run("rm", ["-r", service.directory.file("state")])
        try service.start()
        #expect(try eventually { try tags(service).contains("Keys") }, "\(service.log)")
        #expect(service.stop() == 0)
    }
}
