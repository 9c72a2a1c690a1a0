import Glibc
import JSON
import OwnTracks
import TestSupport
import Testing

/// Much at once, and for long. `Scripts/soak` asks for more than the tests do by themselves.
@Suite(.serialized) struct EnduranceTests {
    private static func seconds(_ name: String, or usual: Int) -> Int {
        getenv(name).flatMap { Int(String(cString: $0)) } ?? usual
    }

    /// What a service occupied, second by second.
    private struct Usage {
        var kibibytes: [Int] = []
        var descriptors: [Int] = []

        mutating func sample(_ gateway: GatewayProcess) {
            kibibytes.append(gateway.residentKiB)
            descriptors.append(gateway.descriptorCount)
        }

        /// Growth for each minute over the second half of `samples`, a second apart: the slope of the straight line
        /// that fits best.
        static func slope(_ samples: [Int]) -> Double {
            let half = samples.suffix(samples.count / 2).map(Double.init)
            let times = half.indices.map(Double.init)
            let (meanTime, mean) = (times.reduce(0, +) / Double(half.count), half.reduce(0, +) / Double(half.count))
            let spread = times.map { ($0 - meanTime) * ($0 - meanTime) }.reduce(0, +)
            let joint = zip(times, half).map { ($0 - meanTime) * ($1 - mean) }.reduce(0, +)
            return spread > 0 ? joint / spread * 60 : 0
        }

        /// How much more there was at the end than in the second quarter, at the least: what was open for an instant
        /// only, as a file of `/proc` is, does not count.
        static func growth(_ samples: [Int]) -> Int {
            let quarter = max(1, samples.count / 4)
            return (samples.suffix(quarter).min() ?? 0) - (samples.dropFirst(quarter).prefix(quarter).min() ?? 0)
        }
    }

    private func watch(_ gateway: GatewayProcess, for seconds: Int, _ consumer: TransitionLog) -> Usage {
        var usage = Usage()
        for _ in 0..<seconds {
            usleep(1_000_000)
            usage.sample(gateway)
            consumer.read()
        }
        return usage
    }

    /// Visits of half a second, every four seconds.
    private func visits(_ air: inout BeaconScript, until end: Int) -> [String] {
        let count = end / 4
        for visit in 0..<count { air.advertise(7, from: Double(visit) * 4, to: Double(visit) * 4 + 0.5) }
        return [[String]](repeating: ["enter", "leave"], count: count).flatMap(\.self)
    }

    @Test func `A flood of strangers and of commands costs bounded memory and no transition`() throws {
        let seconds = Self.seconds("IBEACON_GATEWAY_FLOOD_SECONDS", or: 16)
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let consumer = try TransitionLog(broker)
        let street = #"{"_type":"waypoint","tst":1,"rid":"Street","desc":"Street:\#(BeaconScript.uuid):2"}"#
        let gateway = try GatewayProcess(
            """
            waypoints: [\(BeaconScript.waypoint("Ada", minor: 7)), \(street)], leaveAfter: 1,
            scanner: {capture: "air.btsnoop"}
            """, port: broker.port)
        var air = BeaconScript()
        let expected = visits(&air, until: seconds)
        // Every other of the 50,000 belongs to no region, the others to one that is so never left.
        for frame in 0..<3000 * seconds {
            let stranger = frame % 50_000
            let (minor, major) = (UInt16(stranger / 2 + 100), UInt16(stranger % 2 + 1))
            air.hear(minor, major: major, at: Double(frame) / 3000)
        }
        try air.write(to: gateway.directory.file("air.btsnoop"))
        let commands = [
            "{", #"{"_type":"cmd","action":"dance"}"#, #"{"_type":"cmd","action":"reportLocation"}"#,
            #"{"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[\#(street)]}}"#,
            #"{"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[{"desc":"x"}]}}"#,
        ]
        let lines = (0..<100).map { commands[$0 % commands.count] }.joined(separator: "\n") + "\n"
        let file = try gateway.directory.write(lines, to: "commands")
        try gateway.start()
        #expect(gateway.says("connected to"), "\(gateway.log)")
        let publisher = try ChildProcess(
            "sh",
            [
                "-c",
                "for i in $(seq \(seconds * 10)); do cat '\(file)'; sleep 0.1; done | "
                    + "mosquitto_pub -h 127.0.0.1 -p \(broker.port) -t owntracks/jane/hall/cmd -l",
            ], output: gateway.directory.file("publisher"))
        let usage = watch(gateway, for: seconds, consumer)
        publisher.wait()
        #expect(
            eventually(within: .seconds(180)) {
                consumer.read()
                return consumer.events["Ada"]?.count ?? 0 >= expected.count
                    && consumer.events["Street"]?.count ?? 0 >= 2
            })
        #expect(consumer.events["Ada"] == expected)
        #expect(consumer.events["Street"] == ["enter", "leave"])
        let (first, most) = (usage.kibibytes[seconds / 2], usage.kibibytes.max() ?? 0)
        #expect(most < 100 * 1024, "\(most) KiB")
        #expect(Usage.growth(usage.descriptors) <= 0, "\(usage.descriptors)")
        #expect(gateway.stop() == 0)
        print(
            "flood of \(seconds) s: memory \(first) KiB at half time, \(most) KiB at most,",
            "\(Int(Usage.slope(usage.kibibytes))) KiB/min; \(consumer.count) transitions, \(consumer.repeats) repeats")
    }

    @Test func `Memory and descriptors stay flat in a busy house, and no transition is lost`() throws {
        let seconds = Self.seconds("IBEACON_GATEWAY_SOAK_SECONDS", or: 60)
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let consumer = try TransitionLog(broker)
        let gateway = try GatewayProcess(
            """
            waypoints: [\(BeaconScript.waypoint("Ada", minor: 7))], leaveAfter: 1, lat: 48.2, lon: 16.4,
            scanner: {capture: "air.btsnoop"}
            """, port: broker.port)
        var air = BeaconScript()
        let expected = visits(&air, until: seconds)
        for frame in 0..<500 * seconds { air.hear(UInt16(100 + frame % 60), at: Double(frame) / 500) }
        try air.write(to: gateway.directory.file("air.btsnoop"))
        try gateway.start()
        let usage = watch(gateway, for: seconds, consumer)
        #expect(
            eventually {
                consumer.read()
                return consumer.count >= expected.count
            })
        #expect(consumer.events == ["Ada": expected])
        let slope = Usage.slope(usage.kibibytes)
        #expect(slope < 256, "\(slope) KiB each minute")
        #expect(Usage.growth(usage.descriptors) <= 0, "\(usage.descriptors)")
        #expect(gateway.stop() == 0)
        print(
            "soak of \(seconds) s: memory \(usage.kibibytes.last ?? 0) KiB, \(Int(slope)) KiB/min; descriptors",
            "\(usage.descriptors.last ?? 0), \(Int(Usage.slope(usage.descriptors)))/min; \(consumer.count) transitions")
    }

    @Test func `In a still house the card is written to once a minute`() throws {
        let minutes = Self.seconds("IBEACON_GATEWAY_STILL_MINUTES", or: 1)
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let port = try LoopbackPort.free()
        let gateway = try GatewayProcess(
            "waypoints: [\(BeaconScript.waypoint("Ada", minor: 7))], scanner: {capture: \"air.btsnoop\"}",
            port: broker.port, http: "{listen: \"127.0.0.1:\(port)\"}")
        var air = BeaconScript()
        air.advertise(7, from: 0, to: Double(minutes) * 60 + 60)
        try air.write(to: gateway.directory.file("air.btsnoop"))
        try gateway.start()
        #expect(gateway.says("entered Ada"), "\(gateway.log)")
        // Acknowledgements go to the disk together, two seconds later.
        usleep(5_000_000)
        func writes() throws -> Int64 {
            let status = try JSONValue(parsing: Array(try gateway.ask("status", "--json").utf8))
            guard case .integer(let writes)? = status["store"]?["writes"] else { throw SupportError("\(status.text)") }
            return writes
        }
        let before = try writes()
        for _ in 0..<minutes { usleep(60_000_000) }
        let written = try writes() - before
        #expect((1...Int64(minutes) + 1).contains(written), "\(written) writes")
        #expect(gateway.stop() == 0)
        print("still house, \(minutes) min: \(written) writes")
    }

    @Test func `In a day of virtual time no beacon that stays leaves, and each visit is reported`() throws {
        let gateway = try GatewayProcess("waypoints: [], leaveAfter: 60", port: 0)
        let regions = [("Ada", 7), ("Bob", 8)].map { BeaconScript.waypoint($0.0, minor: $0.1) }
        let file = try gateway.directory.write(
            "{\"_type\":\"waypoints\",\"waypoints\":[\(regions.joined(separator: ","))]}", to: "regions.otrw")
        var air = BeaconScript()
        let day = 86_400.0
        air.advertise(7, from: 0, to: day, every: 2)
        for hour in 0..<24 { air.advertise(8, from: Double(hour) * 3600, to: Double(hour) * 3600 + 1800, every: 2) }
        let capture = gateway.directory.file("day.btsnoop")
        try air.write(to: capture)
        let printed = try gateway.ask("--quiet", "replay", capture, "--regions", file)
        let events = printed.split(separator: "\n").filter { $0.contains("/event") }
        #expect(events.count { $0.contains("Ada") } == 1)
        #expect(events.count { $0.contains("Bob") && $0.contains("\"enter\"") } == 24)
        #expect(events.count { $0.contains("Bob") && $0.contains("\"leave\"") } == 24)
    }
}
