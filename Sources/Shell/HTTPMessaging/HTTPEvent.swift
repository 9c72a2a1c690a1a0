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
}
