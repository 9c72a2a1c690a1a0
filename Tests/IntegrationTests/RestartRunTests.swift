import Glibc
import TestSupport
import Testing

@testable import Storage

/// The service is killed, or ends, and is started again.
@Suite struct RestartRunTests {
    private static let members = """
        waypoints: [\(BeaconScript.waypoint("Ada", minor: 7)), \(BeaconScript.waypoint("Bob", minor: 8))],
        leaveAfter: 2, scanner: {capture: "air.btsnoop"}
        """

    /// `enter Ada` for each transition. After a crash, what the broker had not acknowledged comes again, byte
    /// for byte: consumers know it by that.
    private func events(_ witness: Subscriber) -> [String] {
        var seen: Set<String> = []
        return witness.lines.map(\.text).filter { seen.insert($0).inserted }.map { text in
            let event = text.contains("\"event\":\"enter\"") ? "enter" : "leave"
            return "\(event) \(text.contains("Ada") ? "Ada" : "Bob")"
        }
    }

    private func air(_ gateway: GatewayProcess, _ script: (inout BeaconScript) -> Void) throws {
        var air = BeaconScript()
        script(&air)
        try air.write(to: gateway.directory.file("air.btsnoop"))
    }

    /// A gateway that both have just entered, and its witness. Ada stays.
    private func occupied(
        withBobUntil end: Double
    ) throws -> (broker: MosquittoBroker, witness: Subscriber, gateway: GatewayProcess) {
        let broker = try MosquittoBroker()
        let witness = try Subscriber(to: broker, topic: "owntracks/+/+/event")
        let gateway = try GatewayProcess(Self.members, port: broker.port)
        try air(gateway) {
            $0.advertise(7, from: 0, to: 600)
            $0.advertise(8, from: 0, to: end)
        }
        try gateway.start()
        // A Bob who goes soon may have left by then.
        #expect(eventually { events(witness).count >= 2 }, "\(gateway.log)")
        return (broker, witness, gateway)
    }

    @Test(arguments: [true, false])
    func `A beacon that stayed does not enter again, one that left while we were down leaves`(isKilled: Bool) throws {
        let (broker, witness, gateway) = try occupied(withBobUntil: 600)
        defer { broker.stop() }
        if isKilled { gateway.kill() } else { #expect(gateway.stop() == 0) }
        try air(gateway) { $0.advertise(7, from: 0, to: 600) }
        try gateway.start()
        #expect(eventually { events(witness).count >= 3 }, "\(gateway.log)")
        usleep(500_000)
        #expect(events(witness).sorted() == ["enter Ada", "enter Bob", "leave Bob"])
        #expect(gateway.stop() == 0)
    }

    @Test func `A service that was stopped for longer than leaveAfter and continues causes no leave`() throws {
        let (broker, witness, gateway) = try occupied(withBobUntil: 0.5)
        defer { broker.stop() }
        gateway.process?.send(SIGSTOP)
        usleep(3_000_000)
        gateway.process?.send(SIGCONT)
        #expect(eventually { events(witness).count >= 3 }, "\(gateway.log)")
        #expect(gateway.says("no receiver listened for"))
        usleep(500_000)
        #expect(events(witness).sorted() == ["enter Ada", "enter Bob", "leave Bob"])
        #expect(gateway.stop() == 0)
    }

    @Test func `A machine that is sometimes too busy causes no leave`() throws {
        let gateway = try GatewayProcess(Self.members, port: 0)
        try air(gateway) { $0.advertise(7, from: 0, to: 600, every: 0.2) }
        try gateway.start()
        #expect(gateway.says("entered Ada"), "\(gateway.log)")
        // About the 2 s of leaveAfter, so that some end just before the leave is due and some just after.
        for milliseconds in stride(from: 1500, through: 2400, by: 100) {
            gateway.process?.send(SIGSTOP)
            usleep(UInt32(milliseconds) * 1000)
            gateway.process?.send(SIGCONT)
            usleep(500_000)
        }
        #expect(!gateway.log.contains("left Ada"), "\(gateway.log)")
        #expect(gateway.stop() == 0)
    }

    @Test func `A second service on the same state ends and says why`() throws {
        let gateway = try GatewayProcess(Self.members, port: 0)
        try air(gateway) { $0.advertise(7, from: 0, to: 600) }
        try gateway.start()
        #expect(gateway.says("is running"), "\(gateway.log)")
        let second = try GatewayProcess(Self.members, port: 0, in: gateway.directory)
        let process = try ChildProcess(
            try GatewayProcess.program, second.arguments + ["run"], output: gateway.directory.file("second.log"))
        #expect(eventually { !process.isRunning })
        #expect(process.wait() == 69)
        let log = String(decoding: try gateway.directory.read("second.log"), as: UTF8.self)
        #expect(log.contains("another ibeacon-gateway uses"), "\(log)")
        #expect(gateway.stop() == 0)
    }

    @Test func `State that a newer version has written is left alone, and the service says so`() throws {
        let gateway = try GatewayProcess(Self.members, port: 0)
        try air(gateway) { $0.advertise(7, from: 0, to: 600) }
        try gateway.start()
        #expect(gateway.says("is running"), "\(gateway.log)")
        #expect(gateway.stop() == 0)
        do {
            let database = try Database(path: gateway.directory.file("state/state.db"))
            try database.run("PRAGMA user_version = 99")
            try Inspection.seal(database, version: 99)
        }
        try gateway.start()
        #expect(gateway.says("was written by a newer version"), "\(gateway.log)")
        #expect(gateway.ends() == 78)
    }

    @Test func `Regions that were changed while the service was down are in force when it starts`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker, topic: "owntracks/+/+/event")
        // Not in the configuration, which would bring them back.
        let gateway = try GatewayProcess("leaveAfter: 2, scanner: {capture: \"air.btsnoop\"}", port: broker.port)
        try air(gateway) { $0.advertise(7, from: 0, to: 600) }
        _ = try gateway.ask("regions", "add", "Ada:\(BeaconScript.uuid):1:7", "--rid", "a")
        try gateway.start()
        #expect(eventually { events(witness).count >= 1 }, "\(gateway.log)")
        #expect(gateway.stop() == 0)
        _ = try gateway.ask("regions", "remove", "a")
        _ = try gateway.ask("regions", "add", "Bob:\(BeaconScript.uuid):1:7", "--rid", "b")
        try gateway.start()
        #expect(eventually { events(witness).count >= 3 }, "\(gateway.log)")
        #expect(events(witness) == ["enter Ada", "leave Ada", "enter Bob"])
        #expect(gateway.stop() == 0)
        try gateway.start()
        #expect(eventually { gateway.log.split(separator: "is running").count > 3 }, "\(gateway.log)")
        usleep(1_000_000)
        #expect(events(witness) == ["enter Ada", "leave Ada", "enter Bob"])
        #expect(gateway.stop() == 0)
    }
}
