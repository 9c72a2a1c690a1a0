import Glibc
import Storage
import TestSupport
import Testing

/// The whole service on a disk with which something is wrong for a while. All faults at one time.
@Suite struct DiskFaultRunTests {
    enum Fault: String, CaseIterable {
        case full
        case io
        case readonly
        case readonlyAtStart
        case slow = "slow 2000"

        var text: String { self == .readonlyAtStart ? "readonly" : rawValue }
    }

    private final class GatewayFixture {
        let fault: Fault
        let broker: MosquittoBroker
        let consumer: TransitionLog
        let gateway: GatewayProcess
        var kibibytesBefore = 0
        var kibibytesAfter = 0
        var recovered: Duration?

        init(_ fault: Fault) throws {
            self.fault = fault
            broker = try MosquittoBroker()
            consumer = try TransitionLog(broker)
            gateway = try GatewayProcess(
                """
                waypoints: [\(BeaconScript.waypoint("Ada", minor: 7))], leaveAfter: 1, lat: 48.2, lon: 16.4,
                scanner: {capture: "air.btsnoop"}
                """, port: broker.port)
            var air = BeaconScript()
            for visit in 0..<6 { air.advertise(7, from: Double(visit) * 4, to: Double(visit) * 4 + 0.5) }
            // Other beacons in the house, in no region: a hundred frames a second.
            for minor in 100..<110 { air.advertise(UInt16(minor), from: 0, to: 30) }
            try air.write(to: gateway.directory.file("air.btsnoop"))
            try set(fault == .readonlyAtStart ? fault.text : "")
            try gateway.start(environment: [
                "LD_PRELOAD=\(try GatewayProcess.directoryOfTests)/libFaultyDisk.so",
                "FAULTY_DISK=\(gateway.directory.file("fault"))",
            ])
        }

        private static let all = [[String]](repeating: ["enter", "leave"], count: 6).flatMap(\.self)

        /// Whether the consumer has heard all that happened, in order. On a machine that keeps the service waiting, visits
        /// may have become one; then all is what its history has when the last is over.
        var isTold: Bool {
            consumer.read()
            if consumer.events == ["Ada": Self.all] { return true }
            guard gateway.hadToWait, gateway.log.contains("the recording has ended"),
                let history = try? gateway.history()
            else { return false }
            return history["Ada"]?.last == "leave" && consumer.events == history
        }

        func set(_ text: String) throws { try gateway.directory.write(text, to: "fault") }
    }

    @Test func `After a disk fault each transition is delivered, and the loop never waits for the disk`() throws {
        let houses = try Fault.allCases.map { try GatewayFixture($0) }
        let started = ContinuousClock.now
        for house in houses where house.fault != .readonlyAtStart {
            #expect(house.gateway.says("connected to"), "\(house.fault)\n\(house.gateway.log)")
        }
        // On a busy machine, what takes the service no time takes as long as its start and its first connection.
        let tolerance = Duration.seconds(3) + started.duration(to: .now)
        let early = started.duration(to: .now)
        if early < .seconds(3) { usleep(UInt32((.seconds(3) - early) / .microseconds(1))) }
        let broken = ContinuousClock.now
        for house in houses {
            house.kibibytesBefore = house.gateway.residentKiB
            try house.set(house.fault.text)
        }
        usleep(12_000_000)
        for house in houses {
            house.kibibytesAfter = house.gateway.residentKiB
            try house.set("")
        }
        let cured = ContinuousClock.now
        // A step that is in force, or the last visit, which is told 22 s after the start.
        let limit = max(Self.longestStep(after: broken.duration(to: cured)), cured.duration(to: started + .seconds(22)))
        while cured.duration(to: .now) < .patience, houses.contains(where: { $0.recovered == nil }) {
            usleep(50_000)
            for house in houses where house.recovered == nil {
                if house.isTold { house.recovered = cured.duration(to: .now) }
            }
        }
        usleep(1_000_000)
        for house in houses { try check(house, limit + tolerance) }
    }

    /// The longest wait between two tries that can be in force when they have failed for so long.
    private static func longestStep(after elapsed: Duration) -> Duration {
        let delays = StoreSettings.retryDelays
        var (step, begun) = (delays.lowerBound, Duration.zero)
        while begun + step < elapsed, step < delays.upperBound {
            begun += step
            step = min(step * 2, delays.upperBound)
        }
        return step
    }

    private func check(_ house: GatewayFixture, _ limit: Duration) throws {
        let name = house.fault.rawValue
        #expect(house.gateway.stop() == 0, "\(name)")
        #expect(house.isTold, "\(name): \(house.consumer.events)\n\(house.gateway.log)")
        #expect(house.consumer.repeats == 0 && house.consumer.strange.isEmpty, "\(name)")
        let starts = house.gateway.log.split(separator: "\n").count { $0.contains("is running:") }
        #expect(starts == 1, "\(name)")
        #expect(
            house.recovered.map { $0 <= limit } == true,
            "\(name): \(house.recovered.map { "\($0)" } ?? "never")")
        let growth = house.kibibytesAfter - house.kibibytesBefore
        #expect(growth < 4096, "\(name): \(growth) KiB more after 12 s")
        // How far it is from what the disk makes it wait for shows whether it waits for the disk: two seconds, where the disk is slow.
        let turn = try house.gateway.longestTurn()
        #expect(turn < 1000, "\(name): the radio had to wait \(turn) ms")
        #expect(try house.gateway.history() == house.consumer.events, "\(name)")
        if house.fault != .slow {
            #expect(house.gateway.log.contains("the state can be written again"), "\(name)\n\(house.gateway.log)")
        }
        let seconds = house.recovered.map { "\(Double(Int($0 / .milliseconds(100))) / 10)" } ?? "?"
        print("disk \(name): longest stall \(turn) ms, memory +\(growth) KiB, all told \(seconds) s after the cure")
        house.broker.stop()
    }
}
