import Glibc
import JSON
import OwnTracks
import TestSupport
import Testing

/// The whole service with a wall clock that is set while it runs. Ada is there for a second and leaves four seconds
/// later; Bob stays. The clock jumps in between.
@Suite struct ClockRunTests {
    private static let tenYears: Int64 = 3653 * 86_400
    private static let leaveAfter: Int64 = 4

    private final class GatewayFixture {
        let broker: MosquittoBroker
        let consumer: TransitionLog
        let gateway: GatewayProcess
        /// What the true clock showed when the service was started.
        private(set) var start: Int64 = 0

        init() throws {
            broker = try MosquittoBroker()
            consumer = try TransitionLog(broker)
            gateway = try GatewayProcess(
                """
                waypoints: [\(BeaconScript.waypoint("Ada", minor: 7)), \(BeaconScript.waypoint("Bob", minor: 8))],
                leaveAfter: \(leaveAfter), scanner: {capture: "air.btsnoop"}
                """, port: broker.port)
            var air = BeaconScript()
            air.advertise(7, from: 0, to: 1)
            air.advertise(8, from: 0, to: 60)
            try air.write(to: gateway.directory.file("air.btsnoop"))
        }

        deinit { broker.stop() }

        func start(clockOffBy offset: Int64) throws {
            try set(offset)
            try gateway.start(environment: [
                "LD_PRELOAD=\(try GatewayProcess.directoryOfTests)/libFalseClock.so",
                "FALSE_CLOCK=\(gateway.directory.file("offset"))",
            ])
            #expect(gateway.says("entered Ada") && gateway.says("entered Bob"), "\(gateway.log)")
            start = Int64(time(nil))
        }

        /// The wall clock is set: wrong by so many seconds.
        func set(_ offset: Int64) throws { try gateway.directory.write("\(offset)", to: "offset") }

        func hears(_ count: Int, within limit: Duration = .seconds(90)) -> Bool {
            eventually(within: limit) {
                consumer.read()
                return consumer.count >= count
            }
        }

        /// What was told, and each time against the true one of its moment.
        func check(enterOffBy enter: Int64, leaveOffBy leave: Int64) throws {
            // For what must not come.
            usleep(1_000_000)
            consumer.read()
            #expect(consumer.events == ["Ada": ["enter", "leave"], "Bob": ["enter"]], "\(gateway.log)")
            #expect(consumer.repeats == 0 && consumer.strange.isEmpty)
            let times = consumer.times["Ada"] ?? []
            #expect(times.count == 2)
            #expect(abs((times.first ?? 0) - start - enter) <= 2, "\(times), started at \(start)")
            // The last frame is heard a second after the first.
            #expect(abs((times.last ?? 0) - start - leave - leaveAfter - 1) <= 2, "\(times), started at \(start)")
            let history = try gateway.ask("history", "--json").split(separator: "\n")
                .map { try JSONValue(parsing: Array($0.utf8)) }
            #expect(history.count == 3)
            let ada = history.filter { $0["desc"] == "Ada" }
            #expect(ada.map { $0["tst"]?.asInteger } == times.map(Optional.some), "\(history)")
            #expect(gateway.stop() == 0)
        }
    }

    @Test func `From 1970 to now: what happened before is told then, with its right time`() throws {
        let house = try GatewayFixture()
        try house.start(clockOffBy: -Int64(time(nil)) + 5)
        #expect(house.gateway.says("connected to") && house.gateway.says("left Ada"), "\(house.gateway.log)")
        usleep(500_000)
        house.consumer.read()
        #expect(house.consumer.count == 0, "a message has a time from 1970")
        try house.set(0)
        #expect(house.hears(3), "\(house.gateway.log)")
        try house.check(enterOffBy: 0, leaveOffBy: 0)
    }

    @Test func `Ten years forward in the middle of a countdown: no beacon leaves sooner`() throws {
        let house = try GatewayFixture()
        try house.start(clockOffBy: 0)
        #expect(house.hears(2), "\(house.gateway.log)")
        usleep(2_000_000)
        try house.set(ClockRunTests.tenYears)
        usleep(1_000_000)
        #expect(!house.gateway.log.contains("left Ada"), "\(house.gateway.log)")
        #expect(house.hears(3, within: .seconds(20)), "\(house.gateway.log)")
        try house.check(enterOffBy: 0, leaveOffBy: ClockRunTests.tenYears)
    }

    @Test func `Ten years back in the middle of a countdown: the leave is in time, stamped by the clock as it was`()
        throws
    {
        let house = try GatewayFixture()
        try house.start(clockOffBy: 0)
        #expect(house.hears(2), "\(house.gateway.log)")
        usleep(2_000_000)
        // A time before this program was written is not plausible.
        try house.set(-ClockRunTests.tenYears)
        usleep(1_000_000)
        #expect(!house.gateway.log.contains("left Ada"), "\(house.gateway.log)")
        #expect(house.hears(3, within: .seconds(20)), "\(house.gateway.log)")
        #expect(house.gateway.log.contains("cannot be right"), "\(house.gateway.log)")
        try house.check(enterOffBy: 0, leaveOffBy: 0)
    }
}
