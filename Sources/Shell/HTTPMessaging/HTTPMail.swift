import System

/// The messages for the posting thread, and its events for the owner.
struct HTTPMail<Event: Sendable>: WorkerMail {
    var queue: PostQueue
    private var events: [Event] = []

    /// - Parameter limit: Largest number of messages.
    init(limit: Int) { queue = PostQueue(limit: limit) }

    mutating func append(_ post: HTTPPost) -> Bool { queue.append(post) }

    mutating func post(_ events: [Event]) { self.events += events }

    mutating func drainEvents() -> [Event] {
        defer { events = [] }
        return events
    }
}
