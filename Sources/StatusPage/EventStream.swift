internal import CMicroHTTPD
internal import Glibc

/// One browser that watches. It holds at most one event: who reads slowly skips states, and nothing
/// piles up, since each event is the whole state.
///
/// All of it happens on the loop's thread: the library calls only from within `MHD_run`.
final class EventStream {
    private let connection: OpaquePointer
    let client: Client
    private unowned let server: StatusServer
    private var event: [UInt8] = []
    private var offset = 0
    private var sentVersion: UInt64 = 0
    private var isSuspended = false
    private var isEnding = false

    init(connection: OpaquePointer, client: Client, server: StatusServer) {
        self.connection = connection
        self.client = client
        self.server = server
    }

    /// Whether the last event has not gone out yet.
    var isBusy: Bool { !isSuspended }

    /// Something is there to be sent.
    func wake() {
        guard isSuspended else { return }
        isSuspended = false
        client.deadline = server.patienceFromNow
        MHD_resume_connection(connection)
    }

    /// Ends the stream at the next opportunity.
    func end() {
        isEnding = true
        wake()
    }

    /// Fills the library's buffer, or goes to sleep.
    fileprivate func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        if isEnding { return endOfStream }
        if offset == event.count {
            let (newest, version) = server.newestEvent
            guard version != sentVersion else {
                client.deadline = nil
                isSuspended = true
                MHD_suspend_connection(connection)
                return 0
            }
            (event, offset, sentVersion) = (newest, 0, version)
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
    _ context: UnsafeMutableRawPointer?, _ position: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int
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
