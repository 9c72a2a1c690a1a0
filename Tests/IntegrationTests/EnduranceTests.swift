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

    /// What a service occupied, sample by sample.
    private struct Usage {
        var kibibytes: [Int] = []
        var descriptors: [Int] = []

        mutating func sample(_ gateway: GatewayProcess) {
            kibibytes.append(gateway.residentKiB)
            descriptors.append(gateway.descriptorCount)
        }

        /// Growth for each minute over the second half of `samples`, so far apart: the slope of the straight line that
        /// fits best.
        static func slope(_ samples: [Int], every interval: Duration) -> Double {
            let half = samples.suffix(samples.count / 2).map(Double.init)
            let times = half.indices.map(Double.init)
            let (meanTime, mean) = (times.reduce(0, +) / Double(half.count), half.reduce(0, +) / Double(half.count))
            let spread = times.map { ($0 - meanTime) * ($0 - meanTime) }.reduce(0, +)
            let joint = zip(times, half).map { ($0 - meanTime) * ($1 - mean) }.reduce(0, +)
            return spread > 0 ? joint / spread * (.seconds(60) / interval) : 0
        }

        /// How much more there was at the end than in the second quarter, at the least: what was open for an instant
        /// only, as a file of `/proc` is, does not count.
        static func growth(_ samples: [Int]) -> Int {
            let quarter = max(1, samples.count / 4)
            return (samples.suffix(quarter).min() ?? 0) - (samples.dropFirst(quarter).prefix(quarter).min() ?? 0)
        }
    }

    /// Looks at the service each quarter of a second until `isOver`, at least so often.
    private func watch(
        _ gateway: GatewayProcess, _ consumer: TransitionLog, atLeast count: Int, until isOver: () -> Bool
    )
        -> Usage
    {
        var usage = Usage()
        let end = ContinuousClock.now + .patience + .milliseconds(250) * count
        while ContinuousClock.now < end {
            usleep(250_000)
            usage.sample(gateway)
            consumer.read()
            if usage.kibibytes.count >= count, isOver() { break }
        }
        return usage
    }

    private static func visitor(_ number: Int) -> String { "Ada\(number)" }

    /// Somebody comes for half a second, every four seconds: each time another person, so that no machine is so slow
    /// that two visits become one. What a machine that is late may do to them is a delay.
    ///
    /// - Returns: their waypoints, and what a consumer must have heard of them in the end.
    private func visits(_ air: inout BeaconScript, until end: Int) -> (
        waypoints: [String], expected: [String: [String]]
    ) {
        let visitors = 0..<end / 4
        for visitor in visitors {
            air.advertise(UInt16(visitor + 1), from: Double(visitor) * 4, to: Double(visitor) * 4 + 0.5)
        }
        return (
            visitors.map { BeaconScript.waypoint(Self.visitor($0), minor: UInt16($0 + 1)) },
            Dictionary(uniqueKeysWithValues: visitors.map { (Self.visitor($0), ["enter", "leave"]) })
        )
    }

    /// That comings and goings of one person are told apart under such a flood is specified in virtual time (`FloodTests`
    /// of the core).
    @Test func `A flood of strangers and of commands costs bounded memory and no transition`() throws {
        let seconds = Self.seconds("IBEACON_GATEWAY_FLOOD_SECONDS", or: 16)
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let consumer = try TransitionLog(broker)
        let street = #"{"_type":"waypoint","tst":1,"rid":"Street","desc":"Street:\#(BeaconScript.uuid):2"}"#
        var air = BeaconScript()
        var (waypoints, expected) = visits(&air, until: seconds)
        expected["Street"] = ["enter", "leave"]
        let gateway = try GatewayProcess(
            """
            waypoints: [\(waypoints.joined(separator: ",")), \(street)], leaveAfter: 1,
            scanner: {capture: "air.btsnoop"}
            """, port: broker.port)
        // Every other of the 50,000 belongs to no region, the others to one that is so never left.
        for frame in 0..<3000 * seconds {
            let stranger = frame % 50_000
            let (minor, major) = (UInt16(stranger / 2 + 1000), UInt16(stranger % 2 + 1))
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
        #expect(gateway.hearsCommands(of: broker), "\(gateway.log)")
        let publisher = try ChildProcess(
            "sh",
            [
                "-c",
                "for i in $(seq \(seconds * 10)); do cat '\(file)'; sleep 0.1; done | "
                    + "mosquitto_pub -h 127.0.0.1 -p \(broker.port) -t owntracks/jane/hall/cmd -l",
            ], output: gateway.directory.file("publisher"))
        let usage = watch(gateway, consumer, atLeast: seconds * 4) { consumer.count >= 2 * expected.count }
        #expect(publisher.wait() == 0)
        #expect(consumer.events == expected, "\(gateway.log.suffix(4000))")
        let (first, most) = (usage.kibibytes[usage.kibibytes.count / 2], usage.kibibytes.max() ?? 0)
        #expect(most < 100 * 1024, "\(most) KiB")
        #expect(Usage.growth(usage.descriptors) <= 0, "\(usage.descriptors)")
        #expect(gateway.stop() == 0)
        print(
            "flood of \(seconds) s: memory \(first) KiB at half time, \(most) KiB at most;",
            "\(consumer.count) transitions, \(consumer.repeats) repeats")
    }

    /// Without a length of its own the recording is played four times as fast: memory that is lost for each frame, visit or
    /// message is lost as it would be in a minute.
    @Test func `Memory and descriptors stay flat in a busy house, and no transition is lost`() throws {
        let (seconds, speed) = (Self.seconds("IBEACON_GATEWAY_SOAK_SECONDS", or: 60), Self.soakSpeed)
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let consumer = try TransitionLog(broker)
        var air = BeaconScript()
        let (waypoints, expected) = visits(&air, until: seconds)
        let gateway = try GatewayProcess(
            """
            waypoints: [\(waypoints.joined(separator: ","))], leaveAfter: 1, lat: 48.2, lon: 16.4,
            scanner: {capture: "air.btsnoop", speed: \(speed)}
            """, port: broker.port)
        for frame in 0..<500 * seconds { air.hear(UInt16(1000 + frame % 60), at: Double(frame) / 500) }
        try air.write(to: gateway.directory.file("air.btsnoop"))
        try gateway.start()
        // Four samples for each second of playing.
        let usage = watch(gateway, consumer, atLeast: seconds * 4 / speed) { consumer.count >= 2 * expected.count }
        #expect(consumer.events == expected, "\(gateway.log.suffix(4000))")
        let slope = Usage.slope(usage.kibibytes, every: .milliseconds(250 * speed))
        #expect(slope < 256, "\(slope) KiB each minute of the recording: \(usage.kibibytes)")
        #expect(Usage.growth(usage.descriptors) <= 0, "\(usage.descriptors)")
        #expect(gateway.stop() == 0)
        print(
            "soak of \(seconds) s: memory \(usage.kibibytes.last ?? 0) KiB, \(Int(slope)) KiB/min; descriptors",
            "\(usage.descriptors.last ?? 0); \(consumer.count) transitions")
    }

    private static let soakSpeed = getenv("IBEACON_GATEWAY_SOAK_SECONDS") == nil ? 4 : 1

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

/// Apart from the others, which measure one after the other: it waits for a minute and takes no processor time.
@Suite struct EnduranceStillTests {
    @Test func `In a still house the card is written to once a minute`() throws {
        let minutes = getenv("IBEACON_GATEWAY_STILL_MINUTES").flatMap { Int(String(cString: $0)) } ?? 1
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
        func writes() throws -> Int64 {
            let status = try JSONValue(parsing: Array(try gateway.ask("status", "--json").utf8))
            guard case .integer(let writes)? = status["store"]?["writes"] else { throw SupportError("\(status.text)") }
            return writes
        }
        // Acknowledgements go to the disk together, two seconds later. On a busy machine it may be later.
        var before = try writes()
        _ = try eventually {
            usleep(5_000_000)
            defer { before = (try? writes()) ?? before }
            return try writes() == before
        }
        let begin = ContinuousClock.now
        for _ in 0..<minutes { usleep(60_000_000) }
        let written = try eventual({ try writes() - before }) { $0 >= 1 }
        // A busy machine makes the minutes longer.
        let passed = Int64(begin.duration(to: .now) / .seconds(60))
        #expect((1...passed + 1).contains(written), "\(written) writes in \(passed) minutes")
        #expect(gateway.stop() == 0)
        print("still house, \(minutes) min: \(written) writes")
    }
}
