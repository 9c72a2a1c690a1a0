import Base
import Testing

@testable import Storage

@Suite struct OutboxTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test func `a message is handed out only after its transaction is on the disk`() {
        let store = Harness(directory.path)
        store.send(.window(10))
        let events = store.send(.commit([.message(message("enter"))]))
        #expect(events.delivered.map(\.text) == ["enter"])
        #expect(store.commits == 1)
    }

    @Test func `nothing is handed out beyond the window, and each acknowledgement makes room for one`() {
        let store = Harness(directory.path)
        store.send(.window(2), .commit((1...5).map { .message(message("\($0)")) }))
        #expect(store.events.delivered.map(\.text) == ["1", "2"])
        #expect(store.send(.acknowledged(1)).delivered.map(\.text) == ["3"])
        #expect(store.send(.acknowledged(3), .acknowledged(2)).delivered.map(\.text) == ["4", "5"])
    }

    @Test func `messages come back after a restart in order and byte for byte, acknowledged ones do not`() {
        let first = Harness(directory.path)
        let bytes = (0...255).map { UInt8($0) }
        var odd = message("", topic: "odd")
        odd.payload = bytes
        var empty = message("", topic: "empty")
        empty.payload = []
        first.send(.window(10), .commit([.message(message("a")), .message(odd), .message(empty)]))
        first.send(.acknowledged(1))
        first.stop()
        let second = Harness(directory.path)
        second.send(.window(10))
        #expect(second.events.delivered.map(\.id) == [2, 3])
        #expect(second.events.delivered.map(\.publication) == [odd, empty])
    }

    @Test func `what was handed out is handed out again in order when the client has lost it`() {
        let store = Harness(directory.path)
        store.send(.window(3), .commit((1...5).map { .message(message("\($0)")) }))
        store.send(.acknowledged(2))
        #expect(store.send(.redeliver(generation: 1)).delivered.map(\.text) == ["1", "3", "4"])
    }

    @Test func `acknowledged rows go together, not each in a transaction of its own`() {
        let store = Harness(directory.path)
        store.send(.window(100), .commit((1...50).map { .message(message("\($0)")) }))
        let before = store.worker.counters.transactions
        for id in 1...50 {
            store.send(.acknowledged(Int64(id)))
            store.clock.advance(by: .milliseconds(10))
        }
        #expect(store.worker.counters.transactions == before)
        store.pass(.seconds(2))
        #expect(store.worker.counters.transactions == before + 1)
        #expect(store.worker.counters.outboxRows == 0)
    }

    @Test(arguments: [false, true])
    func `what is acknowledged is counted out again, whether it came from memory or from the disk`(again: Bool) {
        let store = Harness(directory.path)
        store.send(.window(9), .commit([.message(message("12345")), .message(message("123"))]))
        if again { store.send(.redeliver(generation: 1)) }
        #expect(store.worker.counters.outboxBytes == 8)
        store.send(.acknowledged(1), .acknowledged(1))
        store.pass(.seconds(2))
        #expect(store.worker.counters.outboxRows == 1)
        #expect(store.worker.counters.outboxBytes == 3)
    }

    @Test func `what the broker refuses is set aside with its reason and never handed out again`() throws {
        let store = Harness(directory.path)
        store.send(.window(5), .commit([.message(message("too large")), .message(message("fine"))]))
        store.send(.refused(1, reason: "packet too large"))
        #expect(store.send(.redeliver(generation: 1)).delivered.map(\.text) == ["fine"])
        #expect(store.worker.counters.refusedRows == 1)
        store.stop()
        let refused = try StoreReader(directory: directory.path).summary().refused
        #expect(refused.map(\.reason) == ["packet too large"])
        #expect(refused.map(\.row.text) == ["too large"])
    }

    @Test func `what a limit had set aside goes back in its order, and nothing else does`() throws {
        let store = Harness(directory.path)
        let texts = ["large", "forbidden", "larger", "fine"]
        store.send(.window(9), .commit(texts.map { .message(message($0)) }))
        store.send(.refused(1, reason: "limit"), .refused(2, reason: "rights"), .refused(3, reason: "another limit"))
        let events = store.send(.readmit(reasons: ["limit", "another limit"]))
        #expect(events.delivered.map(\.text) == ["large", "larger"])
        #expect(store.worker.counters.refusedRows == 1 && store.worker.counters.outboxRows == 3)
        store.send(.acknowledged(1), .acknowledged(3), .acknowledged(4))
        store.pass(.seconds(2))
        #expect(store.worker.counters.outboxRows == 0 && store.worker.counters.outboxBytes == 0)
        store.stop()
        let refused = try StoreReader(directory: directory.path).summary().refused
        #expect(refused.map(\.row.text) == ["forbidden"])
    }

    @Test func `a state that a limit had set aside does not go back, and is no longer counted`() throws {
        let store = Harness(directory.path)
        let state = message("large", topic: "ibeacon-gateway/hall/region/k", kind: .state)
        store.send(.window(9), .commit([.message(state), .message(message("fine"))]))
        store.send(.refused(1, reason: "limit"))
        #expect(store.worker.counters.refusedRows == 1)
        #expect(store.send(.readmit(reasons: ["limit"])).delivered.isEmpty)
        #expect(store.worker.counters.refusedRows == 0 && store.worker.counters.outboxRows == 1)
        store.stop()
        #expect(try StoreReader(directory: directory.path).summary().refused.isEmpty)
    }

    @Test func `of what the broker refuses only the latest is kept, and all of it counted`() throws {
        let store = Harness(directory.path) { $0.refusedLimit = 2 }
        store.send(.window(9), .commit((1...5).map { .message(message("\($0)")) }))
        for id in 1...5 as ClosedRange<Int64> { store.send(.refused(id, reason: "no")) }
        #expect(store.worker.counters.refusedRows == 5)
        store.stop()
        let refused = try StoreReader(directory: directory.path).summary().refused
        #expect(refused.map(\.row.text) == ["5", "4"])
    }

    @Test
    func `what the broker refuses is counted by its age, however old the message, and forgotten with the history`()
        throws
    {
        let clock = TestClock()
        let day = Duration.seconds(86_400)
        /// Epoch seconds at the zero of the clock.
        let zero: Int64 = 1_700_000_000
        let start = clock.now
        let store = Harness(directory.path, clock: clock)
        let count = 30
        store.send(.window(99), .commit((1...count).map { .message(message("\($0)")) }))
        // 25 a day later, before the wall clock is known.
        clock.advance(by: day)
        for id in 1...25 as ClosedRange<Int64> { store.send(.refused(id, reason: "no")) }
        store.send(.clockIsKnown(WallClock(epochOffset: zero * 1_000_000_000, isKnown: true)))
        // And 5 ten days after them.
        clock.advance(by: day * 10)
        for id in 26...30 as ClosedRange<Int64> { store.send(.refused(id, reason: "no")) }
        let now = zero + clock.now.nanoseconds / 1_000_000_000
        func counts(since: Int64) throws -> [Int] {
            let summary = try StoreReader(directory: directory.path).summary(since: since)
            return [summary.refusedRows, summary.recentlyRefused]
        }
        #expect(try counts(since: now - 86_400) == [30, 5])
        #expect(try counts(since: now + 1) == [30, 0])
        #expect(try counts(since: now - 11 * 86_400) == [30, 30])
        store.send(.pruneHistory(before: zero + start.nanoseconds / 1_000_000_000))
        #expect(try counts(since: 0) == [30, 30])
        store.send(.pruneHistory(before: now - 86_400))
        #expect(try counts(since: 0) == [5, 5])
    }

    @Test func `what was refused while no clock was known is new until the next boot, and then as old as that`() throws
    {
        let first = Harness(directory.path)
        first.send(.window(9), .commit([.message(message("1"))]))
        first.send(.refused(1, reason: "no"))
        func recent(since: Int64) throws -> Int {
            try StoreReader(directory: directory.path).summary(since: since).recentlyRefused
        }
        #expect(try recent(since: 1_700_000_000) == 1)
        first.stop()
        let second = Harness(directory.path, boot: "boot-2")
        second.begin()
        second.send(.clockIsKnown(WallClock(epochOffset: 1_600_000_000_000_000_000, isKnown: true)))
        #expect(try recent(since: 1_600_000_000) == 1)
        #expect(try recent(since: 1_600_000_001) == 0)
    }

    @Test func `a newer state of a topic takes the place of one that still waits`() {
        let store = Harness(directory.path)
        let states = ["1", "2", "3"].map { StoreChange.message(message($0, topic: "room", kind: .state)) }
        store.send(.commit(states + [.message(message("other", topic: "kitchen", kind: .state))]))
        #expect(store.send(.window(9)).delivered.map(\.text) == ["3", "other"])
        #expect(store.worker.counters.superseded == 2)
    }

    @Test func `a state that the client already has is not taken back`() {
        let store = Harness(directory.path)
        store.send(.window(9), .commit([.message(message("1", topic: "room", kind: .state))]))
        store.send(.commit([.message(message("2", topic: "room", kind: .state))]))
        #expect(store.events.delivered.map(\.text) == ["1", "2"])
        #expect(store.send(.redeliver(generation: 1)).delivered.map(\.text) == ["1", "2"])
    }

    @Test func `of pings that wait only the newest of a topic is kept (Location page)`() {
        let store = Harness(directory.path)
        let pings = ["1", "2", "3"].map { StoreChange.message(message($0, topic: "a", kind: .ping)) }
        let others = [message("other", topic: "b", kind: .ping), message("location", topic: "a", kind: .location)]
        store.send(.commit(pings + others.map { .message($0) }))
        store.send(.commit([.message(message("4", topic: "a", kind: .ping))]))
        #expect(store.send(.window(9)).delivered.map(\.text) == ["other", "location", "4"])
    }

    @Test func `a ping that the client already has is not taken back`() {
        let store = Harness(directory.path)
        store.send(.window(9), .commit([.message(message("1", topic: "a", kind: .ping))]))
        store.send(.commit([.message(message("2", topic: "a", kind: .ping))]))
        #expect(store.send(.redeliver(generation: 1)).delivered.map(\.text) == ["1", "2"])
    }

    @Test(arguments: [Publication.Kind.transition, .location, .other])
    func `only states and pings are ever superseded`(kind: Publication.Kind) {
        let store = Harness(directory.path)
        store.send(.commit([.message(message("1", kind: kind)), .message(message("2", kind: kind))]))
        #expect(store.send(.window(9)).delivered.map(\.text) == ["1", "2"])
    }

    /// What is stored, what comes, and what stays when four have room: T transition, P ping, L location,
    /// S state (each of its own topic), O other.
    @Test(arguments: [
        ("T1 L2 T3 L4", "T5", "T1 T3 L4 T5"),
        ("L1 L2 L3 L4", "L5", "L2 L3 L4 L5"),
        ("T1 T2 T3 L4", "T5", "T1 T2 T3 T5"),
        ("T1 T2 T3 T4", "T5", "T2 T3 T4 T5"),
        ("T1 T2 T3 T4", "L5", "T1 T2 T3 T4"),
        ("T1 T2 T3 T4", "O5", "T1 T2 T3 T4"),
        ("T1 S2 O3 T4", "T5", "T1 O3 T4 T5"),
        ("T1 O2 O3 T4", "S5", "T1 O2 O3 T4"),
        ("T1 O2 O3 T4", "O5", "T1 O3 T4 O5"),
        ("S1 L2 O3 T4", "O5", "S1 O3 T4 O5"),
        ("L1 P2 L3 T4", "L5", "L1 L3 T4 L5"),
    ])
    func `a full outbox gives up pings first, then the oldest location, and a transition last`(
        stored: String, new: String, stays: String
    ) {
        let store = Harness(directory.path) { $0.outboxLimit = 4 }
        for word in (stored + " " + new).split(separator: " ") {
            let kind: Publication.Kind =
                switch word.first {
                case "T": .transition
                case "L": .location
                case "S": .state
                case "P": .ping
                default: .other
                }
            store.send(.commit([.message(message(String(word), topic: "t/\(word)", kind: kind))]))
        }
        let kept = store.send(.window(100)).delivered.map(\.text).joined(separator: " ")
        #expect(kept == stays)
        #expect(store.worker.counters.dropped.total == 1)
        #expect(store.events.notices.count == 1)
    }

    @Test func `the limit in bytes drops as the limit in rows does`() {
        let store = Harness(directory.path) { $0.outboxByteLimit = 1000 }
        let large = String(repeating: "x", count: 400)
        store.send(.commit([.message(message(large, kind: .location)), .message(message(large))]))
        store.send(.commit([.message(message(large))]))
        #expect(store.send(.window(100)).delivered.map(\.publication.kind) == [.transition, .transition])
        #expect(store.worker.counters.dropped.locations == 1)
        #expect(store.worker.counters.outboxBytes == 800)
    }

    @Test func `rows that the client has are not dropped for room`() {
        let store = Harness(directory.path) { $0.outboxLimit = 2 }
        store.send(.window(1), .commit(["1", "2"].map { .message(message($0, kind: .location)) }))
        store.send(.commit([.message(message("3", kind: .location))]))
        #expect(store.send(.redeliver(generation: 1), .window(9)).delivered.map(\.text) == ["1", "3"])
    }
}
