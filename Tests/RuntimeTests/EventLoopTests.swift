import Base
import Glibc
import Runtime
import Synchronization
import System
import Testing

/// What a handler has seen; handlers and tests share one thread.
private final class Seen<Value> {
    var values: [Value] = []
}

@Suite struct EventLoopTests {
    @Test func `a timer fires once at its instant and never early`() throws {
        let loop = try EventLoop()
        let fired = Seen<MonotonicInstant>()
        let timer = try loop.timer(tolerance: .microseconds(1)) { now in
            fired.values.append(now)
            loop.exit(0)
        }
        let due = Clocks.now().advanced(by: .milliseconds(20) + .nanoseconds(1))
        try timer.arm(at: due)
        _ = try loop.run()
        #expect(fired.values.count == 1)
        #expect(fired.values.allSatisfy { $0 >= due })
    }

    @Test func `a timer in the past fires at once`() throws {
        let loop = try EventLoop()
        let timer = try loop.timer { _ in loop.exit(7) }
        try timer.arm(at: .zero)
        #expect(try loop.run() == 7)
    }

    @Test func `a handler that waits has a long turn, and next to no time of a processor`() throws {
        let loop = try EventLoop()
        let slow = Seen<EventLoop.Turn>()
        loop.onSlowTurn = { slow.values.append($0) }
        let timer = try loop.timer { _ in
            usleep(120_000)
            loop.exit(0)
        }
        try timer.arm(at: .zero)
        _ = try loop.run()
        #expect(slow.values.map { $0.elapsed >= .milliseconds(120) } == [true])
        #expect(loop.longestTurn.elapsed >= .milliseconds(120))
        #expect(loop.longestTurn.processor < .milliseconds(60))
    }

    @Test func `a handler that computes has a turn of as much time of a processor`() throws {
        let loop = try EventLoop()
        let timer = try loop.timer { _ in
            let began = Clocks.threadProcessorTime()
            while Clocks.threadProcessorTime() - began < .milliseconds(20) {}
            loop.exit(0)
        }
        try timer.arm(at: .zero)
        _ = try loop.run()
        #expect(loop.longestTurn.processor >= .milliseconds(20))
        #expect(loop.longestTurn.elapsed >= .milliseconds(20))
    }

    @Test func `arming again replaces the earlier instant, and disarming forgets it`() throws {
        let loop = try EventLoop()
        let order = Seen<String>()
        let moved = try loop.timer { _ in order.values.append("moved") }
        let dropped = try loop.timer { _ in order.values.append("dropped") }
        let end = try loop.timer { _ in loop.exit(0) }
        let start = Clocks.now()
        try moved.arm(at: start)
        try moved.arm(at: start.advanced(by: .seconds(3_600)))
        try dropped.arm(at: start)
        dropped.disarm()
        try end.arm(at: start.advanced(by: .milliseconds(20)))
        _ = try loop.run()
        #expect(order.values.isEmpty)
    }

    @Test func `a timer can be armed from its own handler`() throws {
        let loop = try EventLoop()
        let count = Seen<Void>()
        let holder = Seen<LoopTimer>()
        let timer = try loop.timer(tolerance: .microseconds(1)) { now in
            count.values.append(())
            if count.values.count == 5 { return loop.exit(0) }
            try? holder.values.first?.arm(at: now)
        }
        holder.values = [timer]
        try timer.arm(at: .zero)
        _ = try loop.run()
        holder.values = []
        #expect(count.values.count == 5)
    }

    @Test func `a directory watch reports that a program has written to a file in it`() throws {
        let loop = try EventLoop()
        var template = Array("/tmp/directory-watch-XXXXXX".utf8CString)
        #expect(mkdtemp(&template) != nil)
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { rmdir(path) }
        let told = Seen<Void>()
        let watch = try DirectoryWatch(loop: loop, path: path) { told.values.append(()) }
        let file = open(path + "/file", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        defer { unlink(path + "/file") }
        #expect(try !loop.step(timeout: .zero))
        close(file)
        while try loop.step(timeout: .zero) {}
        #expect(told.values.count == 1)
        close(open(path + "/file", O_RDONLY | O_CLOEXEC))
        while try loop.step(timeout: .zero) {}
        #expect(told.values.count == 1, "who only reads is of no interest")
        #expect(throws: SystemError.self) { try DirectoryWatch(loop: loop, path: path + "/none") {} }
        withExtendedLifetime(watch) {}
    }

    @Test func `a descriptor is reported readable until it has been read`() throws {
        let loop = try EventLoop()
        let pipe = try Pipe()
        pipe.put(2)
        let reports = Seen<Readiness>()
        let watch = try loop.watch(pipe.reading) { readiness in
            reports.values.append(readiness)
            pipe.take(1)
        }
        #expect(try loop.step(timeout: .zero))
        #expect(try loop.step(timeout: .zero))
        #expect(try !loop.step(timeout: .zero))
        #expect(reports.values == [.readable, .readable])
        withExtendedLifetime(watch) {}
    }

    @Test func `the end of the other side is a hang-up`() throws {
        let loop = try EventLoop()
        let pipe = try Pipe()
        pipe.closeWriting()
        let reports = Seen<Readiness>()
        let watch = try loop.watch(pipe.reading) { reports.values.append($0) }
        #expect(try loop.step(timeout: .zero))
        #expect(reports.values.first?.contains(.hangUp) == true)
        withExtendedLifetime(watch) {}
    }

    @Test func `a handler may drop its own watch`() throws {
        let loop = try EventLoop()
        let pipe = try Pipe()
        pipe.put(1)
        let holder = Seen<DescriptorWatch>()
        let calls = Seen<Void>()
        holder.values = [
            try loop.watch(pipe.reading) { _ in
                holder.values = []
                calls.values.append(())
            }
        ]
        #expect(try loop.step(timeout: .zero))
        #expect(try !loop.step(timeout: .zero))
        #expect(calls.values.count == 1)
    }

    @Test func `a dropped watch is never called again and leaves the descriptor open`() throws {
        let loop = try EventLoop()
        let pipe = try Pipe()
        var watch: DescriptorWatch? = try loop.watch(pipe.reading) { _ in Issue.record("called after it was dropped") }
        withExtendedLifetime(watch) {}
        watch = nil
        pipe.put(1)
        #expect(try !loop.step(timeout: .zero))
        #expect(fcntl(pipe.reading, F_GETFD) >= 0)
    }

    @Test func `a paused watch reports nothing until it is resumed`() throws {
        let loop = try EventLoop()
        let pipe = try Pipe()
        pipe.put(1)
        let watch = try loop.watch(pipe.reading) { _ in pipe.take(1) }
        try watch.update([])
        #expect(try !loop.step(timeout: .zero))
        try watch.update(.readable)
        #expect(try loop.step(timeout: .zero))
    }

    @Test func `what cannot be watched is an error that names the call`() throws {
        let loop = try EventLoop()
        #expect(throws: SystemError("sd_event_add_io", code: EBADF)) { _ = try loop.watch(1_000_000) { _ in } }
    }

    @Test func `a signal is an ordinary event on the loop's thread`() throws {
        let loop = try EventLoop()
        let watch = try loop.onSignal(SIGUSR1) { loop.exit(3) }
        // To this thread: the test runner has others that do not block it.
        pthread_kill(pthread_self(), SIGUSR1)
        #expect(try loop.run() == 3)
        withExtendedLifetime(watch) {}
    }

    @Test func `wake-ups that come together are one call`() throws {
        let loop = try EventLoop()
        let calls = Seen<Void>()
        let wakerWatch = try loop.waker { calls.values.append(()) }
        for _ in 0..<1_000 { wakerWatch.waker.wake() }
        #expect(try loop.step(timeout: .zero))
        #expect(try !loop.step(timeout: .zero))
        #expect(calls.values.count == 1)
    }

    @Test func `a waker wakes the loop from another thread, and outlives it`() throws {
        var loop: EventLoop? = try EventLoop()
        var wakerWatch: WakerWatch? = try loop?.waker { [weak loop] in loop?.exit(0) }
        let waker = try #require(wakerWatch?.waker)
        let thread = try ThreadOfWakes(waker, wakes: 1)
        #expect(try loop?.run() == 0)
        thread.join()
        wakerWatch = nil
        loop = nil
        waker.wake()
    }

    @Test func `no wake-up is lost while ten thousand come from another thread`() throws {
        let loop = try EventLoop()
        let produced = Atomic<Int>(0)
        let consumed = Seen<Int>()
        let wakerWatch = try loop.waker {
            consumed.values = [produced.load(ordering: .acquiring)]
            if consumed.values == [10_000] { loop.exit(0) }
        }
        let thread = try ThreadOfWakes(wakerWatch.waker, wakes: 10_000) { produced.add(1, ordering: .releasing) }
        _ = try loop.run()
        thread.join()
        #expect(consumed.values == [10_000])
    }
}

/// A pipe that closes itself.
private final class Pipe {
    let reading: Int32
    private var writing: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError("pipe", code: errno) }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        close(reading)
        closeWriting()
    }

    func put(_ count: Int) { _ = write(writing, [UInt8](repeating: 0, count: count), count) }

    func take(_ count: Int) {
        var bytes = [UInt8](repeating: 0, count: count)
        _ = read(reading, &bytes, count)
    }

    func closeWriting() {
        if writing >= 0 { close(writing) }
        writing = -1
    }
}
