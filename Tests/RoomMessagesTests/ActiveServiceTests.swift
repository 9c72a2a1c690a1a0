import Base
import SiteCore
import Testing

/// Which of several services of a site publishes decisions.
@Suite struct ActiveServiceTests {
    private func instant(_ seconds: Double) -> MonotonicInstant { .zero.advanced(by: .seconds(seconds)) }

    /// Runs until `end` and tells the effects with their seconds.
    private func run(_ service: inout ActiveService, until end: Double) -> [String] {
        var said: [String] = []
        while let due = service.nextDeadline, due <= instant(end) {
            for effect in service.tick(at: due) { said.append("\(due.nanoseconds / 1_000_000) \(effect)") }
        }
        return said
    }

    @Test func `A service that is alone is active after a second, and its counter moves every two`() {
        var service = ActiveService(instance: "b")
        #expect(service.connected(at: instant(0)).isEmpty)
        #expect(
            run(&service, until: 5) == [
                "1000 began", "1000 publish(isActive: true, counter: 1)", "3000 publish(isActive: true, counter: 2)",
                "5000 publish(isActive: true, counter: 3)",
            ])
    }

    @Test func `A service that finds another one's counter moving stays standby`() {
        var service = ActiveService(instance: "a")
        _ = service.connected(at: instant(0))
        _ = service.heard("b", isActive: true, counter: 7, at: instant(0.1))
        #expect(
            service.heard("b", isActive: true, counter: 8, at: instant(2)) == [.publish(isActive: false, counter: 0)])
        #expect(service.role == .standby)
        for second in stride(from: 4.0, to: 60, by: 2) {
            _ = service.heard("b", isActive: true, counter: UInt64(second) + 8, at: instant(second))
            #expect(run(&service, until: second).isEmpty)
        }
        #expect(service.role == .standby)
    }

    @Test func `A retained card of a service that is gone delays the start by ten seconds`() {
        var service = ActiveService(instance: "a")
        _ = service.connected(at: instant(0))
        _ = service.heard("b", isActive: true, counter: 7, at: instant(0.1))
        #expect(run(&service, until: 10).isEmpty)
        #expect(run(&service, until: 10.2).first == "10100 began")
    }

    @Test func `A standby takes over ten seconds after the counter stands still`() {
        var service = ActiveService(instance: "a")
        _ = service.connected(at: instant(0))
        _ = service.heard("b", isActive: true, counter: 1, at: instant(0))
        _ = service.heard("b", isActive: true, counter: 2, at: instant(2))
        #expect(run(&service, until: 11.9).isEmpty)
        #expect(run(&service, until: 12).first == "12000 began")
    }

    @Test func `A standby takes over at once when the other says that it is not active`() {
        var service = ActiveService(instance: "a")
        _ = service.connected(at: instant(0))
        _ = service.heard("b", isActive: true, counter: 1, at: instant(0))
        _ = service.heard("b", isActive: true, counter: 2, at: instant(2))
        _ = service.heard("b", isActive: false, counter: 2, at: instant(3))
        #expect(run(&service, until: 3).first == "3000 began")
    }

    @Test func `Of two that are active the one with the larger name stands down`() {
        var first = ActiveService(instance: "a")
        var second = ActiveService(instance: "b")
        for service in [0, 1] { _ = service == 0 ? first.connected(at: instant(0)) : second.connected(at: instant(0)) }
        _ = (first.tick(at: instant(1)), second.tick(at: instant(1)))
        #expect(second.heard("a", isActive: true, counter: 1, at: instant(1)).isEmpty)
        #expect(first.heard("b", isActive: true, counter: 1, at: instant(1)).isEmpty)
        #expect(first.heard("b", isActive: true, counter: 2, at: instant(3)).isEmpty)
        #expect(first.role == .active)
        #expect(second.heard("a", isActive: true, counter: 2, at: instant(3)).first == .stoodDown(for: "a"))
        #expect(second.role == .standby)
    }

    @Test func `A short loss of the connection is none, and after a long one the service listens first`() {
        var service = ActiveService(instance: "b")
        _ = service.connected(at: instant(0))
        _ = run(&service, until: 1)
        service.disconnected(at: instant(2))
        #expect(service.connected(at: instant(11)) == [.publish(isActive: true, counter: 2)])
        service.disconnected(at: instant(20))
        #expect(service.connected(at: instant(30)).isEmpty)
        #expect(service.role == .listening)
    }

    /// Lets each card of the service come back, as a broker does that takes it.
    private func runEchoed(_ service: inout ActiveService, until end: Double) -> [String] {
        var said: [String] = []
        while let due = service.nextDeadline, due <= instant(end) {
            for effect in service.tick(at: due) {
                said.append("\(effect)")
                guard case .publish(let isActive, let counter) = effect else { continue }
                said += service.heard(service.instance, isActive: isActive, counter: counter, at: due).map { "\($0)" }
            }
        }
        return said.filter { !$0.hasPrefix("publish") }
    }

    @Test func `A service whose card comes back is told once that it is taken`() {
        var service = ActiveService(instance: "b")
        _ = service.connected(at: instant(0))
        #expect(runEchoed(&service, until: 60) == ["began", "taken"])
        #expect(service.isTaken && !service.isRefused)
    }

    @Test func `A service whose card does not come back is refused after some seconds, and taken when it comes`() {
        var service = ActiveService(instance: "b")
        _ = service.connected(at: instant(0))
        let said = run(&service, until: 60).filter { !$0.contains("publish") }
        #expect(said == ["1000 began", "7000 refused"])
        #expect(!service.isTaken && service.isRefused)
        #expect(runEchoed(&service, until: 70) == ["taken"])
        #expect(service.isTaken)
        // The rights are taken away again.
        #expect(run(&service, until: 120).filter { !$0.contains("publish") }.map { $0.suffix(7) } == ["refused"])
    }

    @Test func `Another's card under the own name, or one of an earlier run, is no sign that the broker takes the own`()
    {
        var service = ActiveService(instance: "b")
        _ = service.connected(at: instant(0))
        _ = run(&service, until: 1)
        for (isActive, counter) in [(true, UInt64(0)), (true, 2), (true, 9), (false, 1)] {
            #expect(service.heard("b", isActive: isActive, counter: counter, at: instant(1)).isEmpty)
        }
        #expect(!service.isTaken)
    }

    @Test
    func
        `A service that is refused gives way to any other whose counter moves, and a loss of the connection is no refusal`()
    {
        var service = ActiveService(instance: "a")
        _ = service.connected(at: instant(0))
        _ = run(&service, until: 12)
        #expect(service.isRefused)
        _ = service.heard("b", isActive: true, counter: 1, at: instant(12))
        #expect(service.heard("b", isActive: true, counter: 2, at: instant(14)).first == .stoodDown(for: "b"))
        #expect(service.role == .standby && !service.isRefused)
        var other = ActiveService(instance: "a")
        _ = other.connected(at: instant(0))
        _ = run(&other, until: 12)
        other.disconnected(at: instant(13))
        #expect(!other.isRefused)
    }

    @Test func `The own card says nothing`() {
        var service = ActiveService(instance: "a")
        _ = service.connected(at: instant(0))
        #expect(service.heard("a", isActive: true, counter: 9, at: instant(0)).isEmpty)
        #expect(service.other == nil)
    }

    /// Two services have become active because neither heard the other for five seconds. From the third second on `invent` is
    /// called each half second, with the service `b` and the half second.
    ///
    /// - Returns: How long both stay active from then on, seconds.
    private func contradiction(_ invent: (inout ActiveService, Int) -> Void) -> Double {
        var (first, second) = (ActiveService(instance: "a"), ActiveService(instance: "b"))
        _ = (first.connected(at: instant(0)), second.connected(at: instant(0)))
        var both = 0.0
        for half in 0..<120 {
            let now = instant(Double(half) / 2)
            if half >= 6 { invent(&second, half) }
            for effect in first.tick(at: now) {
                guard half >= 10, case .publish(let isActive, let counter) = effect else { continue }
                _ = second.heard("a", isActive: isActive, counter: counter, at: now)
            }
            _ = second.tick(at: now)
            if half == 9 { #expect(first.role == .active && second.role == .active) }
            if half >= 10, first.role == .active, second.role == .active { both += 0.5 }
        }
        #expect(first.role == .active)
        return both
    }

    @Test(arguments: [32, 300])
    func `Invented services, however many, do not keep two active for ten seconds`(_ count: Int) {
        let both = contradiction { service, half in
            for number in 0..<count {
                _ = service.heard("zz\(number)", isActive: true, counter: UInt64(half), at: instant(Double(half) / 2))
            }
        }
        #expect(both <= 10)
    }

    @Test func `Smaller names that do not count give way to a service that does`() {
        let both = contradiction { service, half in
            guard half % 20 == 0 else { return }
            for number in 0..<250 {
                _ = service.heard("0\(half)-\(number)", isActive: true, counter: 1, at: instant(Double(half) / 2))
            }
        }
        #expect(both <= 10)
    }

    @Test func `A card that says that a service ended is not believed again once the service went on`() {
        let both = contradiction { service, half in
            _ = service.heard("a", isActive: false, counter: 0, at: instant(Double(half) / 2))
        }
        #expect(both <= 10)
    }

    @Test func `A service that went on once is believed again ten minutes later when it says that it ends`() {
        var service = ActiveService(instance: "b")
        _ = service.connected(at: instant(0))
        for second in stride(from: 0.0, to: 620, by: 2) {
            _ = service.heard("a", isActive: true, counter: UInt64(second) + 1, at: instant(second))
            if second == 4 { _ = service.heard("a", isActive: false, counter: 0, at: instant(second)) }
            _ = service.tick(at: instant(second))
        }
        _ = service.heard("a", isActive: false, counter: 0, at: instant(620))
        #expect(run(&service, until: 620).first == "620000 began")
    }

    // MARK: Cards that stay

    /// The other services whose cards are removed, with the milliseconds. The broker takes the cards of this service.
    ///
    /// - Parameter hear: Called before each tick, with the second.
    private func removals(
        _ service: inout ActiveService, until end: Double, _ hear: (inout ActiveService, Double) -> Void = { _, _ in }
    ) -> [String] {
        var said: [String] = []
        while let due = service.nextDeadline, due <= instant(end) {
            hear(&service, Double(due.nanoseconds) / 1e9)
            for effect in service.tick(at: due) {
                switch effect {
                case .remove(let name): said.append("\(due.nanoseconds / 1_000_000) \(name)")
                case .publish(let isActive, let counter):
                    _ = service.heard(service.instance, isActive: isActive, counter: counter, at: due)
                default: break
                }
            }
        }
        return said
    }

    @Test func `The card of a service that is gone is removed once this one is active and its own card is taken`() {
        var service = ActiveService(instance: "b")
        _ = service.connected(at: instant(0))
        _ = service.heard("attic-old", isActive: true, counter: 17, at: instant(0.1))
        #expect(removals(&service, until: 60) == ["12100 attic-old"])
        // The broker has it again after it was away.
        service.disconnected(at: instant(61))
        _ = service.connected(at: instant(62))
        _ = service.heard("attic-old", isActive: true, counter: 17, at: instant(62))
        #expect(removals(&service, until: 100) == ["72000 attic-old"])
    }

    @Test func `The card of a standby, of a service that ended or came back, and one that moves, is never removed`() {
        var service = ActiveService(instance: "b")
        _ = service.connected(at: instant(0))
        _ = service.heard("standby", isActive: false, counter: 0, at: instant(0.1))
        _ = removals(&service, until: 5)
        #expect(service.role == .active)
        _ = service.heard("ended", isActive: true, counter: 3, at: instant(5))
        _ = service.heard("ended", isActive: false, counter: 3, at: instant(6))
        _ = service.heard("started-again", isActive: true, counter: 3, at: instant(6))
        var counter: UInt64 = 0
        let removed = removals(&service, until: 60) { service, second in
            counter += 1
            if second > 12 { _ = service.heard("started-again", isActive: false, counter: 0, at: instant(second)) }
            _ = service.heard("zz", isActive: true, counter: counter, at: instant(second))
        }
        #expect(removed == [])
    }

    @Test func `A service whose own card the broker does not take, and a standby, remove none`() {
        var service = ActiveService(instance: "b")
        _ = service.connected(at: instant(0))
        _ = service.heard("attic-old", isActive: true, counter: 17, at: instant(0.1))
        #expect(!run(&service, until: 60).contains { $0.contains("remove") })
        var standby = ActiveService(instance: "b")
        _ = standby.connected(at: instant(0))
        _ = standby.heard("attic-old", isActive: true, counter: 17, at: instant(0.1))
        for second in stride(from: 0.0, to: 60, by: 2) {
            _ = standby.heard("a", isActive: true, counter: UInt64(second) + 1, at: instant(second))
            #expect(removals(&standby, until: second) == [])
        }
        #expect(standby.role == .standby)
    }

    @Test func `Two services that did not hear each other for a while do not go on removing each other's cards`() {
        var (first, second) = (ActiveService(instance: "a"), ActiveService(instance: "b"))
        _ = (first.connected(at: instant(0)), second.connected(at: instant(0)))
        var removed = 0
        for half in 0..<240 {
            let now = instant(Double(half) / 2)
            // For the first minute the second service hears one card of the first, and the first none of the second.
            var said: [ActiveService.Effect] = []
            for effect in first.tick(at: now) {
                if case .remove = effect { removed += 1 }
                guard case .publish(let isActive, let counter) = effect else { continue }
                _ = first.heard("a", isActive: isActive, counter: counter, at: now)
                if half > 120 || half < 4 { said += second.heard("a", isActive: isActive, counter: counter, at: now) }
            }
            for effect in said + second.tick(at: now) {
                if case .remove = effect { removed += 1 }
                guard case .publish(let isActive, let counter) = effect else { continue }
                _ = second.heard("b", isActive: isActive, counter: counter, at: now)
                if half > 120 { _ = first.heard("b", isActive: isActive, counter: counter, at: now) }
            }
        }
        #expect(first.role == .active && second.role == .standby)
        #expect(removed == 1)
    }

    @Test func `Hundreds of invented cards are removed a few at a time`() {
        var service = ActiveService(instance: "m")
        _ = service.connected(at: instant(0))
        _ = removals(&service, until: 4)
        for number in 0..<1000 { _ = service.heard("x\(number)", isActive: true, counter: 1, at: instant(4)) }
        let turns = Dictionary(grouping: removals(&service, until: 100)) { $0.split(separator: " ").first }
        #expect(turns.values.allSatisfy { $0.count <= 16 })
        #expect(turns.values.reduce(0) { $0 + $1.count } == 250)
    }

    @Test func `A thousand names that are invented are bounded, and end`() {
        var service = ActiveService(instance: "m")
        _ = service.connected(at: instant(0))
        for number in 0..<1000 { _ = service.heard("x\(number)", isActive: true, counter: 1, at: instant(0.5)) }
        #expect(run(&service, until: 11).contains { $0.hasSuffix("began") })
    }
}
