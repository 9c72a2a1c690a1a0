import Storage

/// How many stored messages may be on their way to the broker, and whether those of an earlier connection are delivered again.
struct Delivery {
    /// The limit of unacknowledged messages. The outbox delivers no more.
    static let usualWindow = 20
    /// The limit while the broker refuses some messages for now, so that the messages that it takes do not wait for those that it
    /// refuses. Messages that are in no outbox cannot take these places.
    static let wideWindow = 200

    /// How many messages of the outbox may be on their way; 0: none is delivered now.
    private(set) var window = 0
    /// How often a connection was closed whose unacknowledged messages are delivered again.
    private(set) var generation = 0
    /// Whether the next connection begins with these messages.
    private var redelivers = false
    /// The last token of a message that does not go through the outbox. Those of the outbox are positive.
    private var lastToken: Int64 = 0

    /// Begins or ends the delivery.
    ///
    /// - Parameter isRefused: Whether the broker refuses some messages for now.
    mutating func turn(on isOn: Bool, isRefused: Bool) -> StoreRequest {
        open(isOn ? (isRefused ? Self.wideWindow : Self.usualWindow) : 0)
    }

    /// One message is handed to a link that is not connected, because only a message shows whether it can be.
    mutating func one() -> StoreRequest { open(1) }

    private mutating func open(_ window: Int) -> StoreRequest {
        self.window = window
        return .window(window)
    }

    /// The token of a message that does not go through the outbox.
    mutating func nextToken() -> Int64 {
        lastToken -= 1
        return lastToken
    }

    /// A connection was left. Its unfinished messages are sent on the next one. Until then some may be acknowledged yet.
    mutating func connectionWasLeft() {
        generation += 1
        redelivers = true
    }

    /// What the store has to do when the broker accepts a connection; nil: nothing.
    mutating func redelivery() -> StoreRequest? {
        guard redelivers else { return nil }
        redelivers = false
        return .redeliver(generation: generation)
    }
}
