/// An event of the posting thread for its owner. Values only.
package enum HTTPEvent: Equatable, Sendable {
    /// The server is reachable and accepts messages.
    case reached
    /// Messages cannot be posted; the next attempt follows by itself after `retryIn`.
    case failed(HTTPFailure, retryIn: Duration)
    /// The server has the message.
    case taken(token: Int64)
    /// The server will never accept this message.
    case refused(token: Int64, status: Int)
    /// Whether the server accepts messages is not known, because it did not accept the empty message in a way that may concern
    /// that message alone. Only a real message shows it. It follows `failed`.
    case wantsMessage
    /// The server did not accept this message `failures` times and accepted later ones. It is posted again once an hour.
    case steppedAside(token: Int64, name: String, HTTPFailure, failures: Int)
    /// Too many messages stepped aside, and this one is not posted again.
    case givenUp(token: Int64)
}
