/// Counters of a page's clients since the start.
package struct ClientCounters: Hashable, Sendable {
    /// Number of event streams that are open now.
    package var streams = 0
    /// Connections dropped because the client sent or read too slowly.
    package var dropped: UInt64 = 0
    /// Event streams refused because of `streamLimit`.
    package var streamsRefused: UInt64 = 0
    /// How often `connectionLimit` was reached.
    package var timesFull: UInt64 = 0

    package init(streams: Int = 0, dropped: UInt64 = 0) {
        self.streams = streams
        self.dropped = dropped
    }
}
