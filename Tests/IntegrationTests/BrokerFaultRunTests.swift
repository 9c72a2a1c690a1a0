import Base
import Glibc
import TestSupport
import Testing

/// The whole service, and everything that brokers and networks do. All faults at one time, each with a house of
/// its own, since most of it is waiting.
@Suite struct BrokerFaultRunTests {
    private struct Case {
        let house: BrokenBroker
        /// When the first try failed, at the earliest.
        var begun: ContinuousClock.Instant
        var processorTime: Duration = .zero
        var share = 0.0
        var status = BrokenBroker.Status()
        var cured: ContinuousClock.Instant?
        var recovered: Duration?
        /// When all must be told, after the remedy.
        var limit: Duration = .zero
    }

    /// Long enough for several tries.
    private static let lasting: Duration = .seconds(12)
    /// What the machine may take beyond the service's own waiting.
    private static let tolerance: Duration = .seconds(3)

    @Test func `Whatever is wrong with the broker, each transition arrives once it is cured, in order`() throws {
        let start = ContinuousClock.now
        var cases = try BrokenBroker.Fault.allCases.map { Case(house: try BrokenBroker($0), begun: .now) }
        for index in cases.indices {
            try cases[index].house.gateway.start()
            cases[index].begun = .now
        }
        let started = ContinuousClock.now
        for one in cases where !one.house.fault.isFromTheStart {
            #expect(one.house.gateway.says("connected to"), "\(one.house.fault)\n\(one.house.gateway.log)")
        }
        // On a busy machine, what takes the service no time takes as long as its start and its first connection.
        let tolerance = Self.tolerance + started.duration(to: .now)
        sleep(until: started + .seconds(3))
        for index in cases.indices {
            if !cases[index].house.fault.isFromTheStart { cases[index].begun = .now }
            try cases[index].house.breakIt()
            cases[index].processorTime = cases[index].house.gateway.processorTime
        }
        let broken = ContinuousClock.now
        while ContinuousClock.now < broken + Self.lasting {
            sleep(until: ContinuousClock.now + .seconds(1))
            for one in cases { one.house.tick() }
        }
        for index in cases.indices {
            try remedy(&cases[index], broken: broken, end: started + BrokenBroker.end, tolerance)
        }
        waitForRecovery(&cases)
        // For what would come too often.
        usleep(2_000_000)
        let usual = cases.first { $0.house.fault == .none }?.share ?? 0
        for one in cases { check(one, usual, tolerance) }
        print("broker faults: \(start.duration(to: .now).components.seconds) s")
    }

    private func remedy(
        _ one: inout Case, broken: ContinuousClock.Instant, end: ContinuousClock.Instant, _ tolerance: Duration
    ) throws {
        let house = one.house
        one.share = (house.gateway.processorTime - one.processorTime) / broken.duration(to: .now)
        // On a slow machine a try takes its time.
        _ = try eventually {
            one.status = try house.status()
            return one.status.text.contains(house.complaint.text)
        }
        try house.remedy()
        let cured = ContinuousClock.now
        one.cured = cured
        // Within the wait that it is in; if that may have been over before the remedy was, within the next.
        let wait = one.status.nextTry.flatMap { $0 > cured + tolerance ? cured.duration(to: $0) : nil }
        one.limit = max(wait ?? Self.longestStep(after: one.begun.duration(to: cured)), cured.duration(to: end))
    }

    /// The longest wait that can be in force when tries have failed for so long. Each is twice as long as the one before
    /// it, and jitter makes it shorter or longer.
    private static func longestStep(after elapsed: Duration) -> Duration {
        var (step, shortest) = (Backoff.first, Duration.zero)
        while true {
            shortest += step * (1 - Backoff.jitter)
            guard shortest < elapsed, step < Backoff.longest else { return step * (1 + Backoff.jitter) }
            step = min(step * 2, Backoff.longest)
        }
    }

    private func waitForRecovery(_ cases: inout [Case]) {
        let end = ContinuousClock.now + .patience
        while ContinuousClock.now < end, cases.contains(where: { $0.recovered == nil }) {
            usleep(50_000)
            for index in cases.indices where cases[index].recovered == nil {
                let house = cases[index].house
                guard house.isTold else { continue }
                cases[index].recovered = cases[index].cured?.duration(to: .now)
            }
        }
    }

    /// - Parameter usual: Share of the processor that a house with several people takes when nothing is wrong.
    private func check(_ one: Case, _ usual: Double, _ tolerance: Duration) {
        let house = one.house
        let name = house.fault.rawValue
        #expect(house.isTold, "\(name): \(house.consumer.events)\n\(house.gateway.log)")
        #expect(house.consumer.strange.isEmpty, "\(name)")
        #expect(one.status.text.contains(house.complaint.text), "\(name): the status says '\(one.status.text)'")
        #expect(
            one.status.remedy.contains(house.complaint.remedy), "\(name): the status advises '\(one.status.remedy)'")
        if house.fault == .none {
            #expect(one.status.text.hasSuffix("is connected"), "\(one.status.text)")
        } else {
            let share = house.fault == .losesPackets ? one.share - usual : one.share
            #expect(share < 0.01, "\(name): the processor is busy \(share * 100) % of the time")
        }
        if let recovered = one.recovered {
            #expect(
                recovered <= one.limit + tolerance,
                "\(name): told \(recovered) after the cure\n\(house.gateway.log)")
        }
        #expect(one.recovered != nil, "\(name)")
        if house.fault == .losesPackets { #expect(house.lostCount >= 2) }
        #expect(house.end() == 0, "\(name)")
        func seconds(_ duration: Duration) -> Double { Double(Int(duration / .milliseconds(100))) / 10 }
        let figures = [
            "\(house.consumer.count) transitions", "\(house.consumer.repeats) repeats",
            "processor \(Double(Int(one.share * 10_000)) / 100) %",
            "all told \(one.recovered.map { "\(seconds($0))" } ?? "?") s after the cure, due by \(seconds(one.limit)) s",
            house.lostCount > 0 ? "\(house.lostCount) packets lost" : "", "status: \(one.status.text)",
        ]
        print("\(name): \(figures.filter { !$0.isEmpty }.joined(separator: ", "))")
    }

    private func sleep(until instant: ContinuousClock.Instant) {
        let rest = ContinuousClock.now.duration(to: instant)
        if rest > .zero { usleep(UInt32(rest / .microseconds(1))) }
    }
}
