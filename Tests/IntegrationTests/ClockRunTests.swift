import Glibc
import JSON
import OwnTracks
import TestSupport
import Testing

/// The whole service with a wall clock that is set while it runs. Ada is there for a second, and leaves when she has been
/// silent for long enough; Bob stays. The clock jumps in between.
@Suite struct ClockRunTests {
    private static let tenYears: Int64 = 3653 * 86_400

    private final class GatewayFixture {
        let broker: MosquittoBroker
        let consumer: TransitionLog
        let gateway: GatewayProcess
        let leaveAfter: Int64
        /// What the true clock showed before the service was started, and when its log said that both had entered.
        private(set) var entered: ClosedRange<Int64> = 0...0
        private var start = ContinuousClock.now

        init(leaveAfter: Int64 = 4) throws {
            self.leaveAfter = leaveAfter
            broker = try MosquittoBroker()
            consumer = try TransitionLog(broker)
            gateway = try GatewayProcess(
                """
                waypoints: [\(BeaconScript.waypoint("Ada", minor: 7)), \(BeaconScript.waypoint("Bob", minor: 8))],
                leaveAfter: \(leaveAfter), scanner: {capture: "air.btsnoop"}
                """, port: broker.port)
            var air = BeaconScript()
            air.advertise(7, from: 0, to: 1)
            air.advertise(8, from: 0, to: 300)
            try air.write(to: gateway.directory.file("air.btsnoop"))
        }

        deinit {
            gateway.kill()
            broker.stop()
        }

        func start(clockOffBy offset: Int64) throws {
            try set(offset)
            let before = Int64(time(nil))
            start = .now
            try gateway.start(environment: [
                "LD_PRELOAD=\(try GatewayProcess.directoryOfTests)/libFalseClock.so",
                "FALSE_CLOCK=\(gateway.directory.file("offset"))",
            ])
            #expect(gateway.says("entered Ada") && gateway.says("entered Bob"), "\(gateway.log)")
            entered = before...Int64(time(nil))
        }

        /// The wall clock is set: wrong by so many seconds.
        func set(_ offset: Int64) throws { try gateway.directory.write("\(offset)", to: "offset") }

        func hears(_ count: Int) -> Bool {
            eventually {
                consumer.read()
                return consumer.count >= count
            }
        }

        /// Waits until the log says that Ada has left, which must not be before she was silent for long enough.
        ///
        /// - Returns: what the true clock showed, at the earliest and at the latest.
        func leaves() -> ClosedRange<Int64> {
            #expect(gateway.says("left Ada"), "\(gateway.log)")
            let took = start.duration(to: .now)
            // The last frame is heard 0.9 s after the first.
            #expect(took >= .seconds(leaveAfter) + .milliseconds(900), "left after \(took)\n\(gateway.log)")
            return entered.lowerBound + leaveAfter...Int64(time(nil))
        }

        /// What was told, and each time against the true one of its moment.
        func check(left: ClosedRange<Int64>, offBy offset: Int64) throws {
            // For what must not come.
            usleep(1_000_000)
            consumer.read()
            #expect(consumer.events == ["Ada": ["enter", "leave"], "Bob": ["enter"]], "\(gateway.log)")
            #expect(consumer.repeats == 0 && consumer.strange.isEmpty)
            let times = consumer.times["Ada"] ?? []
            try #require(times.count == 2)
            #expect(
                (entered.lowerBound - 1...entered.upperBound + 1).contains(times[0]), "\(times), entered \(entered)")
            #expect((left.lowerBound - 1...left.upperBound + 1).contains(times[1] - offset), "\(times), left \(left)")
            let expected = ["Ada": ["enter", "leave"], "Bob": ["enter"]]
            #expect(eventual({ try? gateway.history() }) { $0 == expected } == expected)
            let history = try gateway.ask("history", "--json").split(separator: "\n")
                .map { try JSONValue(parsing: Array($0.utf8)) }
            let ada = history.filter { $0["desc"] == "Ada" }
            #expect(ada.map { $0["tst"]?.asInteger } == times.map(Optional.some), "\(history)")
            #expect(gateway.stop() == 0)
        }
    }

    /// A service whose clock is set by so many seconds in the middle of Ada's countdown.
    ///
    /// A busy machine may need longer than the countdown before it gets to the clock. Then it is given a longer one.
    private func jump(by seconds: Int64) throws -> GatewayFixture {
        for leaveAfter: Int64 in [4, 16, 64] {
            let house = try GatewayFixture(leaveAfter: leaveAfter)
            try house.start(clockOffBy: 0)
            #expect(house.hears(2), "\(house.gateway.log)")
            // Ada is heard for a second.
            usleep(1_500_000)
            try house.set(seconds)
            if !house.gateway.log.contains("left Ada") { return house }
        }
        throw SupportError("the countdown was over each time before the clock was set")
    }

    @Test func `From 1970 to now: what happened before is told then, with its right time`() throws {
        let house = try GatewayFixture()
        try house.start(clockOffBy: -Int64(time(nil)) + 5)
        #expect(house.gateway.says("connected to"), "\(house.gateway.log)")
        let left = house.leaves()
        usleep(500_000)
        house.consumer.read()
        #expect(house.consumer.count == 0, "a message has a time from 1970")
        try house.set(0)
        #expect(house.hears(3), "\(house.gateway.log)")
        try house.check(left: left, offBy: 0)
    }

    @Test func `Ten years forward in the middle of a countdown: no beacon leaves sooner`() throws {
        let house = try jump(by: Self.tenYears)
        let left = house.leaves()
        #expect(house.hears(3), "\(house.gateway.log)")
        try house.check(left: left, offBy: Self.tenYears)
    }

    @Test func `Ten years back in the middle of a countdown: the leave is in time, stamped by the clock as it was`()
        throws
    {
        // A time before this program was written is not plausible.
        let house = try jump(by: -Self.tenYears)
        let left = house.leaves()
        #expect(house.hears(3), "\(house.gateway.log)")
        #expect(house.gateway.says("cannot be right"), "\(house.gateway.log)")
        try house.check(left: left, offBy: 0)
    }
}
