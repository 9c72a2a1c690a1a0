import Base

/// The newest event, shared by all event streams. It is separate from the server because the library decides how long a
/// stream lives.
final class EventFeed {
    private(set) var event: [UInt8] = []
    private(set) var version: UInt64 = 0
    /// When each client must have received the event.
    private(set) var deadline = MonotonicInstant.zero

    func replace(by event: [UInt8], deadline: MonotonicInstant) {
        self.event = event
        self.deadline = deadline
        version += 1
    }
}
