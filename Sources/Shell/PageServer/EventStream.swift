import Base
import CMicroHTTPD

/// The event stream of one browser. It holds at most one event. Each event is the whole state, so a slow client skips
/// states and no queue grows.
///
/// It is used only on the loop's thread, because the library makes its calls from within `MHD_run`.
final class EventStream {
    private let connection: OpaquePointer
    let client: Client
    private let feed: EventFeed
    private var event: [UInt8] = []
    private var offset = 0
    private var sentVersion: UInt64 = 0
    private var isSuspended = false
    private var isEnding = false

    init(connection: OpaquePointer, client: Client, feed: EventFeed) {
        self.connection = connection
        self.client = client
        self.feed = feed
    }

    /// Resumes the stream: data is available, and the client must receive it before `deadline`.
    func wake(deadline: MonotonicInstant) {
        guard isSuspended else { return }
        isSuspended = false
        client.deadline = deadline
        MHD_resume_connection(connection)
    }

    /// Ends the stream at the next opportunity.
    func end(deadline: MonotonicInstant) {
        isEnding = true
        wake(deadline: deadline)
    }

    /// Fills the library's buffer, or suspends the connection.
    fileprivate func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        if isEnding { return endOfStream }
        if offset == event.count {
            guard feed.version != sentVersion else {
                client.deadline = nil
                isSuspended = true
                MHD_suspend_connection(connection)
                return 0
            }
            (event, offset, sentVersion) = (feed.event, 0, feed.version)
            client.deadline = feed.deadline
        }
        let count = min(buffer.count, event.count - offset)
        event.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count])) }
        offset += count
        return count
    }
}

/// MHD_CONTENT_READER_END_OF_STREAM, a macro with a cast.
private let endOfStream = -1

/// The library's `MHD_ContentReaderCallback`.
@Sendable func readEventStream(
    _ context: UnsafeMutableRawPointer?, _ offset: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int
) -> Int {
    guard let context, let buffer else { return endOfStream }
    return Unmanaged<EventStream>.fromOpaque(context).takeUnretainedValue()
        .read(into: UnsafeMutableRawBufferPointer(start: buffer, count: capacity))
}

/// The library's `MHD_ContentReaderFreeCallback`.
@Sendable func releaseEventStream(_ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<EventStream>.fromOpaque(context).release()
}
