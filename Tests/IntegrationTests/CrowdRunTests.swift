import Glibc
import OwnTracks
import TestSupport
import Testing

/// A crowd of beacons and a burst of commands, with the program and a real broker. `Scripts/soak` runs them in full
/// with a release build, whose longest turn is measured. That the work is done in turns is specified in virtual time
/// (`CrowdTests` and `CommandBurstTests` of the core): how long a turn takes depends on the machine.
@Suite(.serialized) struct CrowdRunTests {
    private static func number(_ name: String, or usual: Int) -> Int {
        getenv(name).flatMap { Int(String(cString: $0)) } ?? usual
    }

    /// Milliseconds; nil: it is not measured.
    private static let longestTurn = GatewayProcess.measured.map { _ in 100 }
    private static let mostPeakKiB = 100 * 1024

    @Test func `A crowd that enters and leaves at one time is published whole, and nothing else`() throws {
        let count = Self.number("IBEACON_GATEWAY_CROWD", or: 1000)
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let consumer = try TransitionLog(broker)
        let waypoints = (0..<count).map { BeaconScript.waypoint("R\($0)", minor: UInt16($0 + 1)) }
        // An unoptimised program under emulation reads the recording more than ten seconds late.
        let gateway = try GatewayProcess(
            """
            waypoints: [\(waypoints.joined(separator: ","))], leaveAfter: 30, lat: 48.2, lon: 16.4,
            scanner: {capture: "air.btsnoop"}
            """, port: broker.port)
        var air = BeaconScript()
        // Each beacon four times, a second apart.
        for round in 0..<4 {
            for beacon in 0..<count {
                air.hear(UInt16(beacon + 1), at: 2 + Double(round) + Double(beacon) / Double(count))
            }
        }
        try air.write(to: gateway.directory.file("air.btsnoop"))
        try gateway.start()
        let isWhole = eventually {
            consumer.read()
            return consumer.count >= 2 * count
        }
        #expect(isWhole, "\(consumer.count) of \(2 * count) transitions")
        // What would be invented comes later.
        usleep(2_000_000)
        consumer.read()
        #expect(consumer.count == 2 * count)
        #expect(consumer.repeats == 0)
        #expect(consumer.strange.isEmpty)
        #expect((0..<count).allSatisfy { consumer.events["R\($0)"] == ["enter", "leave"] })
        let peak = gateway.peakKiB
        let turn = try gateway.stopAndReadLongestTurn()
        print("crowd of \(count): longest turn of the loop \(turn) ms, peak \(peak) KiB")
        #expect(Self.longestTurn.map { turn <= $0 } ?? true)
        #expect(peak <= Self.mostPeakKiB)
    }

    @Test func `A burst of queries and changes is answered in turns, equal queries once`() throws {
        let count = Self.number("IBEACON_GATEWAY_BURST", or: 64)
        let regions = Self.number("IBEACON_GATEWAY_BURST_REGIONS", or: 10_000)
        let house = try GatewayFixture("\(GatewayFixture.quiet), lat: 48.2, lon: 16.4")
        // More at once would be more values than one message may have.
        for first in stride(from: 0, to: regions, by: 10_000) {
            let numbers = first..<min(first + 10_000, regions)
            try house.setWaypoints(
                numbers.map { GatewayFixture.waypoint("rid\($0)", "Region \($0)", suffix: ":\($0 + 2)") })
            #expect(house.gateway.says("\(numbers.upperBound) regions now"), "\(house.gateway.log)")
        }
        let last = "ibeacon-gateway/hall/region/rid\(regions - 1)"
        #expect(eventually { house.published(on: last).count == 1 })
        let lines = Array(repeating: #"{"_type":"cmd","action":"waypoints"}"#, count: count).joined(separator: "\n")
        let file = try house.gateway.directory.write(lines + "\n", to: "commands")
        try run(
            "sh",
            ["-c", "mosquitto_pub -h 127.0.0.1 -p \(house.broker.port) -t \(house.base)/cmd -q 1 -l < '\(file)'"])
        // Counted when all are done; the answer is behind all the others.
        #expect(eventually { (try? house.counter("commands")) ?? 0 >= Int64(count) })
        let answers = house.published("waypoints").count
        #expect((1...count).contains(answers))
        let peak = house.gateway.peakKiB
        let turn = try house.gateway.stopAndReadLongestTurn()
        print(
            "burst of \(count) with \(regions) regions: \(answers) answers,",
            "longest turn of the loop \(turn) ms, peak \(peak) KiB")
        #expect(Self.longestTurn.map { turn <= $0 } ?? true)
        #expect(peak <= Self.mostPeakKiB)
    }
}
