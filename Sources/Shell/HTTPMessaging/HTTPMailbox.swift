import Base
import Synchronization
import System

/// Shared by the owner and the posting thread: a bounded queue of messages, and the request to stop.
final class HTTPMailbox: Sendable {
    private struct State {
        var waiting: [HTTPPost] = []
        var stopBy: MonotonicInstant?
    }

    private let limit: Int
    private let state = Mutex(State())
    /// Wakes the thread when there is a new message or request.
    let bell: Waker

    /// - Throws: when the process has no descriptors left.
    init(limit: Int) throws(SystemError) {
        self.limit = limit
        bell = try Waker()
    }

    // MARK: The owner's side

    /// false: the queue is full, and the message was not accepted.
    func add(_ post: HTTPPost) -> Bool {
        let isTaken = state.withLock { state in
            guard state.waiting.count < limit else { return false }
            state.waiting.append(post)
            return true
        }
        if isTaken { bell.wake() }
        return isTaken
    }

    func stop(by end: MonotonicInstant) {
        state.withLock { $0.stopBy = end }
        bell.wake()
    }

    // MARK: The thread's side

    /// The deadline of a requested stop; nil: none is requested. Clears the pending wake-ups.
    func drainDeadline() -> MonotonicInstant? {
        bell.clear()
        return state.withLock { $0.stopBy }
    }

    /// The oldest message; it stays the oldest until it is removed.
    var next: HTTPPost? { state.withLock { $0.waiting.first } }

    /// Removes the oldest message.
    func removeNext() { state.withLock { _ = $0.waiting.removeFirst() } }

    /// Waits until there is a message or a request to stop.
    func waitForMessage() {
        while drainDeadline() == nil, next == nil { bell.wait(until: nil) }
    }

    /// Waits for a time, or until there is a request to stop.
    func pause(for duration: Duration) {
        let end = Clocks.now().advanced(by: duration)
        while drainDeadline() == nil, bell.wait(until: end) {}
    }
}
