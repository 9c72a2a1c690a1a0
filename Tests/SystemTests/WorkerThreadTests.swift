import Base
import Glibc
import Synchronization
import System
import Testing

@Suite struct WorkerThreadTests {
    private static func soon(_ limit: Duration = .seconds(60)) -> MonotonicInstant { Clocks.now().advanced(by: limit) }

    @Test func `A thread does its work once, and can be joined again and again`() throws {
        let worker = Worker()
        let thread = try WorkerThread(name: "once") { worker.work() }
        #expect(thread.join(until: Self.soon()))
        #expect(worker.count == 1)
        #expect(thread.join(until: Clocks.now()))
    }

    @Test func `Who waits for a thread that is held up is told so, and may wait again`() throws {
        let gate = try Waker()
        let thread = try WorkerThread(name: "held up") { gate.wait(until: nil) }
        #expect(!thread.join(until: Clocks.now().advanced(by: .milliseconds(10))))
        gate.wake()
        #expect(thread.join(until: Self.soon()))
    }

    @Test func `A thread goes on without its owner`() throws {
        let (gate, done) = (try Waker(), try Waker())
        do {
            _ = try WorkerThread(name: "alone") {
                gate.wait(until: nil)
                done.wake()
            }
        }
        gate.wake()
        #expect(done.wait(until: Self.soon()))
    }

    @Test func `A thread has its name, and every signal is blocked in it`() throws {
        let worker = Worker()
        let thread = try WorkerThread(name: "by name") { worker.look() }
        #expect(thread.join(until: Self.soon()))
        #expect(worker.name == "by name")
        #expect(worker.blocksSignals)
    }

    @Test func `A wake-up stays pending until it is cleared, and any number is one`() throws {
        let waker = try Waker()
        #expect(!waker.wait(until: Clocks.now()))
        waker.wake()
        waker.wake()
        #expect(waker.wait(until: Clocks.now()))
        #expect(waker.wait(until: nil))
        waker.clear()
        #expect(!waker.wait(until: Clocks.now().advanced(by: .milliseconds(5))))
    }

    /// What a thread did and saw.
    private final class Worker: Sendable {
        private let state = Mutex((count: 0, name: "", blocksSignals: false))
        var count: Int { state.withLock { $0.count } }
        var name: String { state.withLock { $0.name } }
        var blocksSignals: Bool { state.withLock { $0.blocksSignals } }

        func work() { state.withLock { $0.count += 1 } }

        func look() {
            var letters = [UInt8](repeating: 0, count: 16)
            let file = open("/proc/thread-self/comm", O_RDONLY)
            let count = max(0, read(file, &letters, letters.count))
            close(file)
            var mask = sigset_t()
            pthread_sigmask(SIG_SETMASK, nil, &mask)
            let blocks = [SIGTERM, SIGINT, SIGHUP, SIGPIPE].allSatisfy { sigismember(&mask, $0) == 1 }
            let name = String(decoding: letters.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            state.withLock { $0 = ($0.count, name, blocks) }
        }
    }
}
