import Glibc
import TestSupport
import Testing

/// The whole service, and everything that brokers and networks do. All faults at one time, each with a house of
/// its own, since most of it is waiting.
@Suite struct BrokerFaultRunTests {
    private struct Case {
        let house: BrokenBroker
        var begun: Duration = .zero
        var busy: Duration = .zero
        var complaint = ""
        var cured: ContinuousClock.Instant?
        var recovered: Duration?
    }

    /// Long enough for several tries.
    private static let lasting: Duration = .seconds(12)

    @Test func `Whatever is wrong with the broker, each transition arrives once it is cured, in order`() throws {
        var cases = try BrokenBroker.Fault.allCases.map { Case(house: try BrokenBroker($0)) }
        for one in cases { try one.house.gateway.start() }
        let start = ContinuousClock.now
        sleep(until: start + .seconds(3))
        for one in cases { try one.house.breakIt() }
        for index in cases.indices { cases[index].begun = cases[index].house.gateway.processorTime }
        let broken = ContinuousClock.now
        while ContinuousClock.now < broken + Self.lasting {
            sleep(until: ContinuousClock.now + .seconds(1))
            for one in cases { one.house.tick() }
        }
        let lasted = broken.duration(to: .now)
        for index in cases.indices {
            cases[index].busy = cases[index].house.gateway.processorTime - cases[index].begun
            cases[index].complaint = cases[index].house.status
            try cases[index].house.cure()
            cases[index].cured = .now
        }
        // A lost acknowledgement is noticed after a minute.
        let end = ContinuousClock.now + .seconds(150)
        while ContinuousClock.now < end, cases.contains(where: { $0.recovered == nil }) {
            usleep(50_000)
            for index in cases.indices where cases[index].recovered == nil {
                cases[index].house.consumer.read()
                guard cases[index].house.consumer.count >= BrokenBroker.transitions.count else { continue }
                cases[index].recovered = cases[index].cured?.duration(to: .now)
            }
        }
        // For what would come too often.
        usleep(2_000_000)
        for one in cases { check(one, lasted) }
    }

    private func check(_ one: Case, _ lasted: Duration) {
        let house = one.house
        let name = house.fault.rawValue
        house.consumer.read()
        #expect(house.consumer.events == ["Ada": BrokenBroker.transitions], "\(name)\n\(house.gateway.log)")
        #expect(house.consumer.strange.isEmpty, "\(name)")
        if let complaint = house.complaint {
            #expect(one.complaint.contains(complaint), "\(name) is not in the status:\n\(one.complaint)")
        }
        let share = one.busy / lasted
        #expect(share < 0.01, "\(name): the processor is busy \(share * 100) % of the time")
        #expect(house.end() == 0, "\(name)")
        let figures = [
            "\(house.consumer.count) transitions", "\(house.consumer.repeats) repeats",
            "processor \(Double(Int(share * 10_000)) / 100) %",
            "all told \(one.recovered.map { "\(Double(Int($0 / .milliseconds(100))) / 10)" } ?? "?") s after the cure",
        ]
        print("\(name): \(figures.joined(separator: ", "))")
    }

    private func sleep(until instant: ContinuousClock.Instant) {
        let rest = ContinuousClock.now.duration(to: instant)
        if rest > .zero { usleep(UInt32(rest / .microseconds(1))) }
    }
}
