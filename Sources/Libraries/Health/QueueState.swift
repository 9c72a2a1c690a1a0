package import JSON

/// Messages on their way to the broker.
package struct QueueState: Hashable, Sendable {
    package var pending = 0
    /// Messages that the broker refused for good; a person must decide about them.
    package var refused = 0
    /// Messages dropped because of a limit, since the start.
    package var dropped: UInt64 = 0
    /// Messages that the broker acknowledged, since the start.
    package var sent: UInt64 = 0

    package init(pending: Int = 0, refused: Int = 0, dropped: UInt64 = 0, sent: UInt64 = 0) {
        self.pending = pending
        self.refused = refused
        self.dropped = dropped
        self.sent = sent
    }
}

extension QueueState {
    package init(reading json: JSONValue) {
        func number(_ member: String) -> Int { Int(clamping: json[member]?.asCount ?? 0) }
        self.init(
            pending: number("pending"), refused: number("setAside"), dropped: json["dropped"]?.asCount ?? 0,
            sent: json["sent"]?.asCount ?? 0)
    }
}
