import Base
import OwnTracks
import Regions
import TestSupport
import Testing

@testable import Gateway

/// Time in which the loop was blocked is no silence: a run with stalls against the same run without.
@Suite struct StallTests {
    private struct Event: Comparable {
        let instant: MonotonicInstant
        let minor: UInt16
        static func < (left: Self, right: Self) -> Bool { (left.instant, left.minor) < (right.instant, right.minor) }
    }

    private struct Outcome {
        var name: String
        var instant: MonotonicInstant
    }

    /// A time in which nothing is handled; reports wait in the socket.
    private struct Stall {
        let begin: MonotonicInstant
        let end: MonotonicInstant
    }

    private static func seconds(_ seconds: Double) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(seconds * 1e9))
    }

    /// Beacons that come and go. A visit is longer than a stall and so is the time between two visits: what begins and
    /// ends within one stall cannot be told apart from what never was.
    private static func reports(_ random: inout SplitMix64) -> [Event] {
        var events: [Event] = []
        for minor: UInt16 in 1...6 {
            let interval = Double.random(in: 0.1...2, using: &random)
            var time = Double.random(in: 1...60, using: &random)
            while time < 600 {
                let end = time + Double.random(in: 30...120, using: &random)
                while time < end {
                    events.append(Event(instant: seconds(time), minor: minor))
                    time += interval * Double.random(in: 0.9...1.1, using: &random)
                }
                time += Double.random(in: 120...200, using: &random)
            }
        }
        return events.sorted()
    }

    private static func stalls(_ random: inout SplitMix64) -> [Stall] {
        var stalls: [Stall] = []
        var time = Double.random(in: 1...20, using: &random)
        while time < 700 {
            let end = time + Double.random(in: 0.15...20, using: &random)
            stalls.append(Stall(begin: seconds(time), end: seconds(end)))
            time = end + Double.random(in: 0.5...40, using: &random)
        }
        return stalls
    }

    private static func run(_ reports: [Event], stalls: [Stall], leaveAfter: String) throws -> [Outcome] {
        let waypoints = (1...6).map { GatewayHarness.waypoint("B\($0)", rid: "b\($0)", suffix: ":1:\($0)") }
        var harness = try GatewayHarness("waypoints: [\(waypoints.joined(separator: ","))], \(leaveAfter)")
        /// When the loop gets to what happens at `instant`.
        func handled(_ instant: MonotonicInstant) -> MonotonicInstant {
            stalls.first { $0.begin <= instant && instant < $0.end }?.end ?? instant
        }
        var outcomes: [Outcome] = []
        func collect() {
            for case .record(let record) in harness.effects {
                outcomes.append(
                    Outcome(name: "\(record.event) \(record.name)", instant: record.happened))
            }
            _ = harness.drainMessages()
        }
        func tick(before end: MonotonicInstant) {
            while let deadline = harness.gateway.nextDeadline, handled(max(deadline, harness.now)) < end {
                harness.pass(harness.now.duration(to: handled(max(deadline, harness.now))))
                harness.handle(.tick)
                collect()
            }
        }
        for report in reports {
            let instant = handled(report.instant)
            // The radio is read before the tick.
            tick(before: instant)
            harness.pass(harness.now.duration(to: instant))
            try harness.hear(minor: report.minor)
            collect()
        }
        tick(before: seconds(3600))
        return outcomes
    }

    @Test(arguments: 1...20)
    func `Stalls change no transition, and delay each by at most themselves`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let reports = Self.reports(&random)
        let stalls = Self.stalls(&random)
        let leaveAfter = seed.isMultiple(of: 2) ? "leaveAfter: 30" : "leaveAfter: 45"
        let calm = try Self.run(reports, stalls: [], leaveAfter: leaveAfter)
        let stalled = try Self.run(reports, stalls: stalls, leaveAfter: leaveAfter)
        #expect(calm.count > 20)
        for minor in 1...6 {
            let expected = calm.filter { $0.name.hasSuffix("B\(minor)") }
            let seen = stalled.filter { $0.name.hasSuffix("B\(minor)") }
            #expect(seen.map(\.name) == expected.map(\.name), "seed \(seed)")
            for (mine, other) in zip(seen, expected) {
                // All stalls that overlap the time from the last report on count.
                let from = other.instant.advanced(by: .seconds(-45))
                let allowed = stalls.filter { $0.end >= from && $0.begin <= mine.instant }
                    .reduce(Duration.zero) { $0 + $1.begin.duration(to: $1.end) }
                let delay = other.instant.duration(to: mine.instant)
                #expect(delay >= .zero, "seed \(seed): \(mine.name) comes sooner by \(delay)")
                #expect(delay <= allowed + .milliseconds(100), "seed \(seed): \(mine.name) \(delay) later")
            }
        }
    }

    @Test func `Where every tick is late, many beacons still leave`() throws {
        var harness = try GatewayHarness(
            #"waypoints: [\#(GatewayHarness.waypoint("Street", rid: "street", suffix: ""))], leaveAfter: 1"#)
        for minor: UInt16 in 1...1000 {
            try harness.hear(minor: minor)
            harness.pass(.milliseconds(1))
        }
        for _ in 1...60 {
            harness.pass(.milliseconds(300))
            harness.handle(.tick)
        }
        let events = harness.effects.compactMap { effect in
            if case .record(let record) = effect { record.isEnter ? "enter" : "leave" } else { nil }
        }
        #expect(events == ["enter", "leave"])
    }
}
