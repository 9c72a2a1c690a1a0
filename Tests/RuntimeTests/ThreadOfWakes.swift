import Glibc
import System

/// A thread that wakes a loop a number of times and ends.
final class ThreadOfWakes {
    fileprivate final class Work: Sendable {
        let waker: Waker
        let wakes: Int
        let before: @Sendable () -> Void

        init(waker: Waker, wakes: Int, before: @escaping @Sendable () -> Void) {
            self.waker = waker
            self.wakes = wakes
            self.before = before
        }
    }

    private let thread: pthread_t

    /// - Parameter before: called on the thread before each wake-up.
    init(_ waker: Waker, wakes: Int, before: @escaping @Sendable () -> Void = {}) throws {
        let work = Unmanaged.passRetained(Work(waker: waker, wakes: wakes, before: before))
        var thread = pthread_t()
        let status = pthread_create(&thread, nil, wakeRepeatedly, work.toOpaque())
        guard status == 0 else {
            work.release()
            throw SystemError("pthread_create", code: status)
        }
        self.thread = thread
    }

    func join() { pthread_join(thread, nil) }
}

private func wakeRepeatedly(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let work = Unmanaged<ThreadOfWakes.Work>.fromOpaque(context).takeRetainedValue()
    for _ in 0..<work.wakes {
        work.before()
        work.waker.wake()
    }
    return nil
}
