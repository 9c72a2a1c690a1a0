import Beacon
import Glibc
import TestSupport
import Testing

/// Invented beacons, and beacons that belong to very many regions, with the program and a real broker.
/// `Scripts/soak` runs them with a release build, which is held to the real limit; an unoptimised build is held to a wide
/// limit only.
@Suite(.serialized) struct StrangerRunTests {
    private static let longestTurn = GatewayProcess.measured == nil ? 3000 : 100
    private static let mostPeakKiB = 100 * 1024
    private static let home = "00112233-4455-6677-8899-AABBCCDDEEFF"

    private static func region(_ name: String, _ pattern: String) -> String {
        #"{"_type":"waypoint","tst":1600000000,"rid":"\#(name)","desc":"\#(name):\#(pattern)"}"#
    }

    /// Plays what is in the air until `isOver`, and prints what it cost.
    private func play(
        _ air: BeaconScript, _ regions: [String], to broker: MosquittoBroker, called name: String,
        until isOver: (GatewayProcess) throws -> Bool
    ) throws {
        let gateway = try GatewayProcess(
            """
            waypoints: [\(regions.joined(separator: ","))], leaveAfter: 60, lat: 48.2, lon: 16.4,
            scanner: {capture: "air.btsnoop"}
            """, port: broker.port)
        try air.write(to: gateway.directory.file("air.btsnoop"))
        let slowdown = try MachineSlowdown()
        try gateway.start()
        #expect(try isOver(gateway), "\(gateway.log.suffix(2000))")
        let (peak, used) = (gateway.peakKiB, gateway.processorTime)
        let turn = try gateway.stopAndReadLongestTurn()
        print("\(name): longest turn of the loop \(turn) ms, peak \(peak) KiB, processor time \(used)")
        #expect(turn <= slowdown.scaled(Self.longestTurn))
        #expect(peak <= Self.mostPeakKiB)
    }

    @Test func `A thousand invented beacons a second displace no beacon of another UUID, and are reported`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let home = try #require(BeaconUUID(Self.home))
        var air = BeaconScript()
        // After 12 seconds the places that they can have are taken.
        for number in 0..<18_000 { air.hear(UInt16(number), major: 2, at: Double(number) / 1000) }
        for second in 14...24 { air.hear(1, uuid: home, at: Double(second)) }
        let regions = [Self.region("Street", "\(BeaconScript.uuid)"), Self.region("Family", Self.home)]
        let start = ContinuousClock.now
        try play(air, regions, to: broker, called: "strangers") { gateway in
            guard gateway.says("entered Family", within: .seconds(180)) else { return false }
            let lines = gateway.log.split(separator: "\n").filter {
                $0.contains("too many beacons belong to region Street of owntracks/jane/hall")
            }
            // Once a minute.
            let minutes = Int(start.duration(to: .now) / .seconds(60)) + 1
            #expect((1...minutes).contains(lines.count), "\(lines)")
            return gateway.says("entered Street")
        }
    }

    @Test func `A thousand regions without numbers and three thousand beacons cost little`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let home = try #require(BeaconUUID(Self.home))
        var air = BeaconScript()
        for round in 0..<6 {
            for beacon in 0..<3000 {
                air.hear(UInt16(beacon), major: 2, at: 2 + Double(round) + Double(beacon) / 3000)
            }
        }
        air.hear(1, uuid: home, at: 9)
        let regions =
            (0..<1000).map { Self.region("R\($0)", "\(BeaconScript.uuid)") } + [Self.region("End", "\(Self.home):1:1")]
        try play(air, regions, to: broker, called: "1,000 regions of 3,000 beacons") { gateway in
            gateway.says("entered R999", within: .seconds(180)) && gateway.says("entered End", within: .seconds(180))
        }
    }
}
