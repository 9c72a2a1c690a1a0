import Glibc
import TestSupport
import Testing

/// People who come and go, a service that is killed all the time, and a consumer that must not notice.
@Suite struct KillRunTests {
    private static let people = 50
    /// How often the service is killed; `Scripts/soak` asks for more.
    private static let kills = getenv("IBEACON_GATEWAY_KILLS").flatMap { Int(String(cString: $0)) } ?? 30

    /// Who is there now, and what a consumer must have heard by now.
    private struct World {
        var isPresent = [Bool](repeating: false, count: people)
        var reference: [String: [String]] = [:]
        var random = SystemRandomNumberGenerator()

        static func name(_ person: Int) -> String { "p\(person)" }
        /// Not from 0, which means any.
        static func minor(_ person: Int) -> UInt16 { UInt16(person + 1) }

        var count: Int { reference.values.reduce(0) { $0 + $1.count } }

        /// About half of the people come or go within 0.6 s.
        ///
        /// - Returns: the air while they do, and after.
        mutating func change() -> (during: BeaconScript, after: BeaconScript) {
            var (during, after) = (BeaconScript(), BeaconScript())
            for person in 0..<people {
                let minor = Self.minor(person)
                let moves = Bool.random(using: &random)
                let moment = moves ? Double.random(in: 0...0.6, using: &random) : 0
                switch (isPresent[person], moves) {
                case (true, true): during.advertise(minor, from: 0, to: moment, every: 0.2)
                case (true, false), (false, true): during.advertise(minor, from: moment, to: 12, every: 0.2)
                case (false, false): break
                }
                if moves {
                    isPresent[person].toggle()
                    reference[Self.name(person), default: []].append(isPresent[person] ? "enter" : "leave")
                }
                if isPresent[person] { after.advertise(minor, from: 0, to: 60, every: 0.2) }
            }
            return (during, after)
        }
    }

    @Test func `Killed at random instants, the service tells each coming and going once and in order`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let consumer = try TransitionLog(broker)
        let waypoints = (0..<Self.people).map { BeaconScript.waypoint(World.name($0), minor: World.minor($0)) }
        // A service that is kept from a processor for so long while it reads takes those whose packets it has not read for gone. On a
        // busy machine that may be a second.
        let gateway = try GatewayProcess(
            "waypoints: [\(waypoints.joined(separator: ","))], leaveAfter: 3, scanner: {capture: \"air.btsnoop\"}",
            port: broker.port)
        let air = gateway.directory.file("air.btsnoop")
        var world = World()
        var kills = 0
        while kills < Self.kills {
            let (during, after) = world.change()
            try during.write(to: air)
            let whole = UInt32.random(in: 0...2_000_000)
            try gateway.start()
            usleep(whole / 2)
            // In every third round the broker stands still before the end, with messages in its hands.
            if kills.isMultiple(of: 9) { broker.freeze() }
            usleep(whole / 2)
            gateway.kill()
            broker.thaw()
            try after.write(to: air)
            try live(gateway, for: .random(in: 0...1_500_000))
            kills += 2
            try gateway.start()
            let isComplete = eventually {
                consumer.read()
                return consumer.count >= world.count
            }
            gateway.kill()
            kills += 1
            #expect(isComplete, "after \(kills) kills: \(consumer.count) of \(world.count)")
            guard isComplete else { break }
        }
        // What waits to be repeated, is, and nobody leaves.
        try gateway.start()
        usleep(5_000_000)
        #expect(gateway.stop() == 0)
        consumer.read()
        for (name, expected) in world.reference {
            #expect(consumer.events[name] == expected, "\(name), after \(kills) kills\n\(gateway.log.suffix(4000))")
        }
        #expect(consumer.count == world.count)
        #expect(consumer.strange.isEmpty)
        for times in consumer.times.values { #expect(times == times.sorted()) }
        let history = try gateway.ask("history", "--json").split(separator: "\n").count
        #expect(history == world.count, "each is in the history once")
        let verdict = consumer.events == world.reference ? "lost 0, invented 0" : "not what happened"
        print("killed \(kills) times, \(world.count) transitions, \(consumer.repeats) repeats, \(verdict)")
    }

    @Test
    func `What the broker has not acknowledged when the service is killed is published after the next start`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let proxy = try FaultyProxy(to: broker.port)
        defer { proxy.close() }
        let consumer = try TransitionLog(broker)
        // A visitor every four seconds, each another one.
        let visitors = 0..<100
        var waypoints = visitors.map { BeaconScript.waypoint("v\($0)", minor: UInt16($0 + 1)) }
        waypoints.append(BeaconScript.waypoint("last", minor: 1000))
        let gateway = try GatewayProcess(
            "waypoints: [\(waypoints.joined(separator: ","))], leaveAfter: 1, scanner: {capture: \"air.btsnoop\"}",
            port: proxy.port)
        var air = BeaconScript()
        for visitor in visitors {
            air.advertise(UInt16(visitor + 1), from: Double(visitor) * 4, to: Double(visitor) * 4 + 0.5)
        }
        try air.write(to: gateway.directory.file("air.btsnoop"))
        try gateway.start()
        let isTold = eventually {
            consumer.read()
            return consumer.count >= 2
        }
        #expect(isTold, "\(gateway.log)")
        proxy.behave(.swallows)
        let entered = { gateway.log.split(separator: "entered v").count }
        // The second of two is four seconds later; what is acknowledged leaves the outbox after two.
        let before = entered()
        #expect(eventually { entered() >= before + 2 }, "\(gateway.log)")
        gateway.kill()
        consumer.read()
        #expect(try consumer.events.count < gateway.history().count, "\(gateway.log)")
        proxy.behave(.passes)
        var end = BeaconScript()
        end.advertise(1000, from: 0, to: 600)
        try end.write(to: gateway.directory.file("air.btsnoop"))
        try gateway.start()
        // Whatever waits is published before what is decided now.
        let isLastTold = eventually {
            consumer.read()
            return consumer.events["last"] != nil
        }
        #expect(isLastTold, "\(gateway.log)")
        #expect(try Set(consumer.events.keys) == Set(gateway.history().keys), "\(gateway.log)")
        #expect(consumer.events.values.allSatisfy { $0.first == "enter" }, "\(consumer.events)")
        #expect(gateway.stop() == 0)
    }

    private func live(_ gateway: GatewayProcess, for microseconds: UInt32) throws {
        try gateway.start()
        usleep(microseconds)
        gateway.kill()
    }
}
