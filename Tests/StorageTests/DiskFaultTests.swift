import Base
import Testing

@testable import Storage

@Suite struct DiskFaultTests {
    let directory: TemporaryDirectory
    let disk = FaultySQLite()

    init() throws { directory = try TemporaryDirectory() }

    private func harness(_ adjust: (inout StoreSettings) -> Void = { _ in }) -> Harness {
        Harness(directory.path) {
            $0.vfs = disk.name
            adjust(&$0)
        }
    }

    @Test(arguments: [FaultySQLite.Fault.diskFull, .ioError, .readOnly, .syncFails])
    func `a commit that the disk does not take is kept, said, and written when the disk is well again`(
        fault: FaultySQLite.Fault
    ) {
        let store = harness()
        store.send(.window(9))
        disk.set(fault)
        let events = store.send(.commit([.message(message("kept")), .history(entry("Hall"))]))
        #expect(events.failed == [true])
        #expect(events.troubles.count == 1)
        for _ in 0..<20 { store.pass(.seconds(30)) }
        #expect(store.events.delivered.isEmpty)
        #expect(store.events.troubles.count < 5, "the same trouble is not said again and again")
        disk.set(.none)
        store.pass(.seconds(30))
        #expect(store.commits == 1)
        #expect(store.events.delivered.map(\.text) == ["kept"])
        #expect(store.events.recoveries.count == 1)
        store.stop()
        #expect(Harness(directory.path).send(.window(9)).delivered.map(\.text) == ["kept"])
    }

    @Test func `at a stop the commits behind a failed one are written, when the disk works again`() {
        let store = harness()
        store.send(.window(9))
        disk.set(.diskFull)
        for text in ["a", "b", "c"] { store.send(.commit([.message(message(text)), .value(key: "last", [1])])) }
        disk.set(.none)
        store.stop()
        #expect(store.events.unsaved == 0)
        #expect(store.commits == 3)
        let second = Harness(directory.path)
        #expect(second.send(.window(9)).delivered.map(\.text) == ["a", "b", "c"])
    }

    @Test func `at a stop all commits are counted that a full disk does not take`() {
        let store = harness()
        store.send()
        disk.set(.diskFull)
        for text in ["a", "b", "c"] { store.send(.commit([.message(message(text))])) }
        store.stop()
        #expect(store.events.unsaved == 3)
    }

    @Test func `tries grow rarer up to half a minute`() {
        let store = harness()
        store.send()
        disk.set(.diskFull)
        store.send(.commit([.message(message("x"))]))
        var tries: [Int] = []
        for second in 1...300 {
            let before = store.worker.counters.failedTransactions
            store.pass(.seconds(1))
            if store.worker.counters.failedTransactions > before { tries.append(second) }
        }
        #expect(tries.count < 20)
        let gaps = zip(tries, tries.dropFirst()).map { $1 - $0 }
        #expect((gaps.max() ?? 99) <= 31)
    }

    @Test func `requests that come during trouble do not hurry the next try`() {
        let store = harness()
        store.send()
        disk.set(.diskFull)
        for token in 1...1000 { store.send(.commit([.message(message("\(token)"))])) }
        #expect(store.worker.counters.failedTransactions == 1)
        disk.set(.none)
        store.pass(.seconds(1))
        store.send()
        #expect(store.commits == 1000)
    }

    @Test func `memory is bounded while the disk takes nothing, and locations go before transitions`() {
        let store = harness { $0.memoryLimit = 100 }
        store.send()
        disk.set(.diskFull)
        store.send(.commit([.message(message("first"))]))
        for token in 1...300 {
            store.send(
                .commit(
                    [
                        .message(message("L\(token)", topic: "base", kind: .location))
                    ] + (token % 10 == 0 ? [.message(message("T\(token)"))] : [])))
        }
        #expect(store.events.notices.contains { $0.contains("dropped from memory") })
        disk.set(.none)
        store.pass(.seconds(30))
        store.send(.window(10_000))
        let texts = store.events.delivered.map(\.text)
        #expect(texts.filter { !$0.hasPrefix("L") } == ["first"] + (1...30).map { "T\($0 * 10)" })
        #expect(texts.last == "T300")
        #expect(store.worker.counters.dropped.locations == 300 - UInt64(texts.filter { $0.hasPrefix("L") }.count))
        #expect(store.worker.counters.dropped.transitions == 0)
    }

    @Test func `the disk is not blamed for a decision that does not fit into memory`() {
        let store = harness { $0.memoryLimit = 100 }
        store.send(.commit((1...300).map { .message(message("\($0)")) }))
        let notices = store.events.notices.filter { $0.contains("dropped from memory") }
        #expect(notices.count == 1 && notices[0].hasPrefix("there was more to write at once than memory holds"))
    }

    @Test func `acknowledgements are taken while the disk is full, and those rows do not come again`() {
        let store = harness()
        store.send(.window(2), .commit((1...4).map { .message(message("\($0)")) }))
        disk.set(.diskFull)
        store.send(.acknowledged(1), .acknowledged(2))
        store.pass(.seconds(10))
        #expect(store.events.delivered.map(\.text) == ["1", "2", "3", "4"])
        #expect(store.send(.redeliver(generation: 1)).delivered.map(\.text) == ["3", "4"])
    }

    @Test func `a directory that cannot be written from the start is read, and written later`() {
        let first = Harness(directory.path)
        first.send(.commit([.presence(presence([1, 2, 3])), .message(message("old"))]))
        first.stop()
        disk.set(.readOnly)
        let store = harness()
        store.send(.window(5), .commit([.message(message("new"))]))
        #expect(store.snapshot?.presence?.state == [1, 2, 3])
        #expect(store.snapshot?.outboxCount == 1)
        disk.set(.none)
        store.pass(.seconds(60))
        #expect(store.commits == 1)
        #expect(store.events.delivered.map(\.text) == ["old", "new"])
    }

    @Test func `a directory that is missing is waited for`() throws {
        let path = directory.path + "/later"
        let store = Harness(path)
        store.send(.commit([.message(message("x"))]))
        #expect(store.events.unavailable.count + store.events.troubles.count == 1)
        try FileManagerShim.makeDirectory(path)
        store.pass(.seconds(1))
        #expect(store.commits == 1)
    }

    @Test func `a file that is deleted under the store is begun again, and the daemon is told`() throws {
        let store = Harness(directory.path)
        store.send(.commit([.message(message("1"))]))
        for name in directory.names { try FileManagerShim.remove(directory.path + "/" + name) }
        store.send(.commit([.message(message("2"))]))
        store.pass(.seconds(1))
        #expect(store.events.isStateLost)
        #expect(store.commits == 2)
        store.stop()
        #expect(Harness(directory.path).send(.window(9)).delivered.map(\.text) == ["2"])
    }

    @Test(arguments: [nil, StoreRequest.pruneHistory(before: 0), .acknowledged(2)], [false, true])
    func `what the broker still has of a file that was deleted is not taken for what the new one holds`(
        noticedBy request: StoreRequest?, isFromDisk: Bool
    ) throws {
        let first = Harness(directory.path)
        first.send(.window(9), .commit([.message(message("1")), .message(message("x"))]))
        if isFromDisk { first.stop() }
        let store = isFromDisk ? Harness(directory.path) : first
        if isFromDisk { store.begin() }
        store.send(.window(9))
        for name in directory.names { try FileManagerShim.remove(directory.path + "/" + name) }
        if let request { store.send(request) }
        store.pass(.seconds(2))
        store.pass(.seconds(1))
        store.send(.commit([.message(message("2"))]))
        store.pass(.seconds(1))
        #expect(store.events.isStateLost)
        #expect(store.events.delivered.map(\.text) == ["1", "x", "2"])
        store.send(.acknowledged(1))
        store.pass(.seconds(2))
        #expect(store.worker.counters.outboxRows == 1)
        #expect(store.worker.counters.outboxBytes == 1)
        #expect(store.send(.redeliver(generation: 1)).delivered.map(\.text) == ["2"])
    }

    @Test func `a second store on the same directory is refused while the first runs`() {
        let first = Harness(directory.path)
        first.send()
        let second = Harness(directory.path)
        #expect(second.send().unavailable.map(\.error) == [.inUse(path: directory.path)])
        first.stop()
        #expect(second.pass(.seconds(30)).opened != nil)
    }

    @Test func `a message that is too large fails at once and leaves the others alone`() {
        let store = harness { $0.payloadLimit = 100 }
        let large = message(String(repeating: "x", count: 101))
        store.send(
            .window(9), .commit([.message(large), .message(message("beside"))]), .commit([.message(message("fine"))]))
        #expect(store.events.failed == [false])
        #expect(store.events.delivered.map(\.text) == ["beside", "fine"])
    }

    @Test func `a full disk is said once, however many commits wait, and the last value is kept`() {
        let store = harness { $0.memoryLimit = 100 }
        store.send()
        disk.set(.diskFull)
        for token in 1...1000 {
            store.send(.commit([.value(key: "mode", [UInt8(token % 256)])]))
            store.clock.advance(by: .seconds(1))
        }
        #expect(store.events.failed == [true])
        disk.set(.none)
        store.pass(.seconds(60))
        store.send()
        #expect(store.commits == 1000)
        store.stop()
        let second = Harness(directory.path)
        second.send()
        #expect(second.snapshot?.values == ["mode": [232]])
    }

    @Test func `a checkpoint does not overtake a commit that waits`() throws {
        let store = harness()
        store.send()
        disk.set(.diskFull)
        store.send(.commit([.message(message("1")), .presence(presence([1]))]))
        store.send(.commit([.message(message("2")), .presence(presence([2]))]))
        // It holds what commit 2 decided, whose message is still in the mailbox.
        store.send(.checkpoint(presence([3])))
        disk.set(.none)
        store.pass(.seconds(1))
        // Commit 1 is written, commit 2 not yet taken: a crash now.
        #expect(store.commits == 1)
        let copy = try directory.copy()
        let second = Harness(copy.path)
        second.send(.window(5))
        #expect(second.events.delivered.map(\.text) == ["1"])
        #expect(second.snapshot?.presence?.state == [1])
        store.send()
        store.stop()
        let third = Harness(directory.path)
        third.send()
        #expect(third.snapshot?.presence?.state == [3])
    }
}
