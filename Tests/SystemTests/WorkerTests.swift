import Base
import System
import Testing

@Suite struct WorkerTests {
    private typealias Mail = BoundedMail<Int, String>

    private static func soon(_ limit: Duration = .seconds(60)) -> MonotonicInstant { Clocks.now().advanced(by: limit) }

    /// Answers each order by its number, and a stop by "end". It waits before each order while `gate` is not open.
    private static func answer(_ mailbox: WorkerMailbox<Mail>, after gate: Waker? = nil) {
        while true {
            gate?.wait(until: nil)
            let (order, stopBy) = mailbox.take { mail, stopBy in
                defer { if mail.first != nil { mail.removeFirst() } }
                return (mail.first, stopBy)
            }
            if let order {
                mailbox.post(["\(order)"])
            } else if stopBy != nil {
                return mailbox.post(["end"])
            } else {
                mailbox.wait(until: nil)
            }
        }
    }

    @Test func `An order that has no room is refused, and room comes with what was carried out`() throws {
        let (gate, woken) = (try Waker(), try Waker())
        let worker = try Worker(Mail(limit: 2), wake: woken.wake)
        #expect([1, 2, 3].map { worker.submit($0) } == [true, true, false])
        try worker.start(name: "bounded") { Self.answer($0, after: gate) }
        gate.wake()
        #expect(woken.wait(until: Self.soon()))
        while worker.read({ $0.first }) != nil { woken.wait(until: Self.soon(.milliseconds(1))) }
        #expect(worker.submit(4))
    }

    @Test func `An order wakes the thread, and events wake the owner, in order`() throws {
        let woken = try Waker()
        let worker = try Worker(Mail(limit: 10), wake: woken.wake)
        try worker.start(name: "wakes") { Self.answer($0) }
        var events: [String] = []
        for number in 1...3 {
            worker.submit(number)
            while events.count < number, woken.wait(until: Self.soon()) {
                woken.clear()
                events += worker.drainEvents()
            }
        }
        #expect(events == ["1", "2", "3"])
        #expect(worker.drainEvents().isEmpty)
    }

    @Test func `All orders before a stop are carried out`() throws {
        let worker = try Worker(Mail(limit: 1000), wake: {})
        try worker.start(name: "last orders") { Self.answer($0) }
        for number in 1...1000 { worker.submit(number) }
        #expect(worker.stop(within: .seconds(60)))
        #expect(worker.drainEvents() == (1...1000).map(String.init) + ["end"])
    }

    @Test func `A stop waits no longer than its limit, and can be repeated`() throws {
        let gate = try Waker()
        let worker = try Worker(Mail(limit: 1), wake: {})
        try worker.start(name: "held up") { Self.answer($0, after: gate) }
        let start = Clocks.now()
        #expect(!worker.stop(within: .milliseconds(40)))
        #expect(start.duration(to: Clocks.now()) >= .milliseconds(40))
        gate.wake()
        #expect(worker.stop(within: .seconds(60)))
        #expect(worker.drainEvents() == ["end"])
    }

    @Test func `A worker that was never started stops at once`() throws {
        let worker = try Worker(Mail(limit: 1), wake: {})
        #expect(worker.stop(within: .seconds(60)))
    }

    @Test func `A thread whose owner is gone carries out its orders and ends`() throws {
        let ended = try Waker()
        do {
            let worker = try Worker(Mail(limit: 2), wake: {})
            worker.submit(1)
            try worker.start(name: "alone") { mailbox in
                Self.answer(mailbox)
                if mailbox.withMail({ $0.drainEvents() }) == ["1", "end"] { ended.wake() }
            }
        }
        #expect(ended.wait(until: Self.soon()))
    }
}
