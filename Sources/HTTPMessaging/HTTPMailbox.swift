import Base
import Synchronization
import System

/// What the owner and the thread that posts share: a bounded queue of messages, and the order to stop.
final class HTTPMailbox: Sendable {
    private struct State {
        var waiting: [HTTPPost] = []
        var stopBy: MonotonicInstant?
    }

    private let limit: Int
    private let state = Mutex(State())
    /// Rung for the thread: there is something new.
    let bell: Waker

    /// - Throws: when the process has no descriptors left.
    init(limit: Int) throws(SystemError) {
        self.limit = limit
        bell = try Waker()
    }

    // MARK: The owner's side

    /// false: it is full, and nothing was taken.
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

    /// Until when to go on; nil: there is no end in sight. The bell is silent afterwards.
    func takeDeadline() -> MonotonicInstant? {
        bell.clear()
        return state.withLock { $0.stopBy }
    }

    /// The oldest message; it stays the oldest until it is removed.
    var next: HTTPPost? { state.withLock { $0.waiting.first } }

    /// Removes the oldest message.
    func removeNext() { state.withLock { _ = $0.waiting.removeFirst() } }

    /// Waits until there is a message or an order to stop.
    func waitForMessage() {
        while takeDeadline() == nil, next == nil { bell.wait(until: nil) }
    }

    /// Waits for a time, or until there is an order to stop.
    func pause(for duration: Duration) {
        let end = Clocks.now().advanced(by: duration)
        while takeDeadline() == nil, bell.wait(until: end) {}
    }
}
