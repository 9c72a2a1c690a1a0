package import Base
import CSystem
import Glibc
import Synchronization

/// A thread that does one piece of work and ends with it. It outlives this object if the work does.
///
/// No signal is delivered to it: only the event loop handles signals. SIGPIPE, which a write to a closed connection may
/// raise, becomes an error of that write.
package final class WorkerThread: Sendable {
    /// nil after the thread was joined.
    private let thread: Mutex<pthread_t?>
    private let finished: Waker

    /// Starts the thread.
    ///
    /// - Parameter name: The name that `ps` shows, at most 15 bytes.
    /// - Throws: when no thread or descriptor is left.
    package init(name: String, _ work: @escaping @Sendable () -> Void) throws(SystemError) {
        finished = try Waker()
        var created = pthread_t()
        let context = Unmanaged.passRetained(WorkerContext(name: name, work: work, finished: finished))
        // The thread inherits the mask, so no signal can arrive before the thread blocks them.
        var every = sigset_t()
        var before = sigset_t()
        sigfillset(&every)
        pthread_sigmask(SIG_SETMASK, &every, &before)
        let result = pthread_create(&created, nil, runWorker, context.toOpaque())
        pthread_sigmask(SIG_SETMASK, &before, nil)
        guard result == 0 else {
            context.release()
            throw SystemError("pthread_create", code: result)
        }
        thread = Mutex(created)
    }

    /// Waits until the work is done.
    ///
    /// - Returns: false if the work is not done at `end`. The thread continues, and ends with its work.
    package func join(until end: MonotonicInstant) -> Bool {
        guard finished.wait(until: end) else { return false }
        thread.withLock { thread in
            // The thread does nothing after its report, so this does not wait.
            if let running = thread { pthread_join(running, nil) }
            thread = nil
        }
        return true
    }

    deinit {
        if let running = thread.withLock({ $0 }) { pthread_detach(running) }
    }
}

/// The data of the thread.
private final class WorkerContext: Sendable {
    let name: String
    let work: @Sendable () -> Void
    let finished: Waker

    init(name: String, work: @escaping @Sendable () -> Void, finished: Waker) {
        self.name = name
        self.work = work
        self.finished = finished
    }
}

/// A function of the file, not a closure: it is called on another thread, where a closure's inherited isolation would
/// trap.
private func runWorker(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let given = Unmanaged<WorkerContext>.fromOpaque(context).takeRetainedValue()
    name_this_thread(given.name)
    given.work()
    given.finished.wake()
    return nil
}
