import Base
import Foundation
import Regions
import Synchronization
import TestSupport
import Testing

@testable import Storage

/// The store with its thread.
@Suite struct StoreThreadTests {
    /// Wakes as an event loop would.
    private final class Loop: Sendable {
        private let condition = DispatchSemaphore(value: 0)
        private let events = Mutex<[StoreEvent]>([])

        func wake() { condition.signal() }

        /// Drains until `isDone`, or records that it did not come to that.
        func run(_ store: Store, until isDone: ([StoreEvent]) -> Bool) -> [StoreEvent] {
            let end = DispatchTime.now() + .seconds(90)
            while true {
                let all = events.withLock {
                    $0 += store.drain()
                    return $0
                }
                if isDone(all) { return all }
                guard condition.wait(timeout: end) == .success else {
                    Issue.record("waited 90 s; so far: \(all)")
                    return all
                }
            }
        }
    }

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func settings(_ disk: FaultySQLite? = nil) -> StoreSettings {
        let now: @Sendable () -> MonotonicInstant = {
            MonotonicInstant(nanoseconds: Int64(DispatchTime.now().uptimeNanoseconds))
        }
        var settings = StoreSettings(directory: directory.path, boot: "boot", now: now, restamp: renderTime)
        settings.vfs = disk?.name
        return settings
    }

    @Test func `requests are answered through wake and drain, and the end waits for what is pending`() throws {
        let loop = Loop()
        let store = try Store(settings(), wake: loop.wake)
        store.submit(.window(10))
        store.submit(.commit([.message(message("a"))]))
        let events = loop.run(store) { !$0.delivered.isEmpty }
        #expect(events.opened != nil)
        #expect(store.counters.commits == 1)
        store.submit(.commit([.message(message("b"))]))
        #expect(store.stop(within: .seconds(90)))
        #expect(store.drain().isStopped)
        #expect(Harness(directory.path).send(.window(9)).delivered.map(\.text) == ["a", "b"])
    }

    @Test func `a disk whose fsync does not return delays no caller, and many commits share one`() throws {
        let disk = FaultySQLite()
        let loop = Loop()
        let store = try Store(settings(disk), wake: loop.wake)
        _ = loop.run(store) { $0.opened != nil }
        store.submit(.window(1000))
        disk.holdSyncs()
        store.submit(.commit([.message(message("1"))]))
        #expect(eventually { disk.isHolding })
        for token in 2...1000 {
            store.submit(.commit([.message(message("\(token)"))]))
            _ = store.counters
        }
        // Who had waited for the disk would have waited until the sync returned.
        #expect(disk.isHolding)
        disk.releaseSyncs()
        let events = loop.run(store) { $0.delivered.count == 1000 }
        #expect(events.delivered.map(\.text) == (1...1000).map(String.init))
        #expect(store.counters.commits == 1000)
        #expect(store.counters.transactions < 10)
        #expect(store.stop(within: .seconds(90)))
    }

    @Test func `a commit that waited for a failed one is written as soon as that one is`() throws {
        let disk = FaultySQLite()
        let loop = Loop()
        var settings = settings(disk)
        settings.editInterval = .seconds(3600)
        let store = try Store(settings, wake: loop.wake)
        _ = loop.run(store) { $0.opened != nil }
        store.submit(.window(10))
        disk.set(.diskFull)
        store.submit(.commit([.message(message("a"))]))
        _ = loop.run(store) { !$0.failed.isEmpty }
        store.submit(.commit([.message(message("b"))]))
        disk.set(.none)
        #expect(loop.run(store) { $0.delivered.count == 2 }.delivered.map(\.text) == ["a", "b"])
        #expect(store.stop(within: .seconds(90)))
    }

    @Test func `a commit without messages that waited for a failed one is written as soon as that one is`() throws {
        let disk = FaultySQLite()
        let loop = Loop()
        var settings = settings(disk)
        settings.editInterval = .seconds(3600)
        let store = try Store(settings, wake: loop.wake)
        _ = loop.run(store) { $0.opened != nil }
        disk.set(.diskFull)
        store.submit(.commit([.message(message("a"))]))
        _ = loop.run(store) { !$0.failed.isEmpty }
        store.submit(.commit([.value(key: "mode", [1])]))
        disk.set(.none)
        let events = loop.run(store) { $0.contains { if case .kept = $0 { true } else { false } } }
        #expect(events.recoveries.count == 1)
        #expect(store.stop(within: .seconds(90)))
    }

    @Test func `a stop before the next try writes the failed commit and those behind it`() throws {
        let disk = FaultySQLite()
        let loop = Loop()
        var settings = settings(disk)
        settings.retryDelays = .seconds(3600)...(.seconds(3600))
        let store = try Store(settings, wake: loop.wake)
        _ = loop.run(store) { $0.opened != nil }
        disk.set(.diskFull)
        store.submit(.commit([.message(message("a"))]))
        _ = loop.run(store) { !$0.failed.isEmpty }
        store.submit(.commit([.message(message("b"))]))
        store.submit(.commit([.value(key: "mode", [1])]))
        disk.set(.none)
        #expect(store.stop(within: .seconds(90)))
        #expect(store.drain().unsaved == 0)
        let next = Harness(directory.path)
        #expect(next.send(.window(9)).delivered.map(\.text) == ["a", "b"])
        #expect(next.snapshot?.values == ["mode": [1]])
    }

    @Test func `stopping does not wait for a slow disk longer than allowed`() throws {
        let disk = FaultySQLite()
        let loop = Loop()
        let store = try Store(settings(disk), wake: loop.wake)
        _ = loop.run(store) { $0.opened != nil }
        disk.holdSyncs()
        store.submit(.commit([.message(message("a"))]))
        #expect(!store.stop(within: .milliseconds(50)))
        disk.releaseSyncs()
        #expect(store.stop(within: .seconds(90)))
    }

    @Test func `a store that is dropped without being stopped still writes what it was given`() throws {
        let first = Loop()
        var store: Store? = try Store(settings(), wake: first.wake)
        // Open, so that the directory is its own before the second asks for it.
        if let store { _ = first.run(store) { $0.opened != nil } }
        store?.submit(.commit([.message(message("a"))]))
        store = nil
        // The lock of the directory goes when the thread has ended.
        let next = Loop()
        let second = try Store(settings(), wake: next.wake)
        second.submit(.window(5))
        #expect(next.run(second) { !$0.delivered.isEmpty }.delivered.map(\.text) == ["a"])
        #expect(second.stop(within: .seconds(90)))
    }

    @Test func `idle, the thread looks for edits and does nothing else`() throws {
        let disk = FaultySQLite()
        let loop = Loop()
        var settings = settings(disk)
        settings.editInterval = .milliseconds(20)
        let store = try Store(settings, wake: loop.wake)
        _ = loop.run(store) { $0.opened != nil }
        let operations = disk.operations
        try StoreEditor(directory: directory.path).edit("t", [.remove(rid: "x")])
        #expect(loop.run(store) { !$0.edits.isEmpty }.edits.count == 1)
        #expect(disk.operations == operations)
        #expect(store.stop(within: .seconds(90)))
    }
}
