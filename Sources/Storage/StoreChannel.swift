import Base
import Beacon
import Glibc
import Synchronization

/// What the daemon's thread and the store's thread share: a bounded mailbox one way, events the other.
final class StoreChannel: Sendable {
    private struct Shared {
        var mailbox: StoreMailbox
        var events: [StoreEvent] = []
        var counters = StoreCounters()
        var isJoined = false
    }

    private let settings: StoreSettings
    private let wake: @Sendable () -> Void
    private let shared: Mutex<Shared>
    /// Becomes readable when there is mail.
    private let mailSignal: EventDescriptor
    /// Becomes readable, for ever, when the thread ends.
    private let endSignal: EventDescriptor

    init(_ settings: StoreSettings, wake: @escaping @Sendable () -> Void) throws(StoreError) {
        self.settings = settings
        self.wake = wake
        shared = Mutex(Shared(mailbox: StoreMailbox(settings)))
        mailSignal = try EventDescriptor()
        endSignal = try EventDescriptor()
    }

    func submit(_ request: StoreRequest) {
        shared.withLock { $0.mailbox.append(request) }
        mailSignal.set()
    }

    func drain() -> [StoreEvent] {
        shared.withLock { shared in
            defer { shared.events = [] }
            return shared.events
        }
    }

    var currentCounters: StoreCounters {
        shared.withLock { shared in
            var counters = shared.counters
            counters.pending += shared.mailbox.pending
            counters.pendingBytes += shared.mailbox.pendingBytes
            return counters
        }
    }

    func waitForEnd(within limit: Duration) -> Bool { endSignal.wait(for: limit) }

    var isJoined: Bool { shared.withLock { $0.isJoined } }

    /// - Returns: false if another call has done it.
    func markJoined() -> Bool {
        shared.withLock { shared in
            defer { shared.isJoined = true }
            return !shared.isJoined
        }
    }

    /// The thread.
    func run() {
        let worker = StoreWorker(settings)
        while !worker.isFinished {
            let wait = settings.now().duration(to: worker.nextDeadline)
            if wait > .zero { _ = mailSignal.wait(for: wait) }
            mailSignal.clear()
            let mail = shared.withLock { $0.mailbox.take(withCommit: worker.takesCommits) }
            let events = worker.step(mail, at: settings.now())
            let isIdle = shared.withLock { shared in
                shared.events += events
                shared.counters = worker.counters
                return shared.mailbox.pending == 0
            }
            if !events.isEmpty { wake() }
            if isIdle { worker.tidy() }
        }
        endSignal.set()
    }
}

/// A pipe that is readable or not: one thread sets it, another waits for it. (An eventfd would do with
/// one descriptor, but Swift's Glibc does not have it.)
private final class EventDescriptor: Sendable {
    private let readEnd: CInt
    private let writeEnd: CInt

    init() throws(StoreError) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .system(operation: "open", path: "a pipe", errno: errno) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    func set() {
        var byte: UInt8 = 1
        // A full pipe, the only way to fail, is set.
        _ = write(writeEnd, &byte, 1)
    }

    func clear() {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            while read(readEnd, buffer.baseAddress, buffer.count) == buffer.count {}
        }
    }

    /// - Returns: Whether it is set.
    func wait(for duration: Duration) -> Bool {
        var wanted = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
        // Rounded up, or the last millisecond would be spent turning.
        let milliseconds = CInt(clamping: (max(.zero, duration).nanoseconds / 1_000_000) + 1)
        return poll(&wanted, 1, milliseconds) > 0
    }
}
