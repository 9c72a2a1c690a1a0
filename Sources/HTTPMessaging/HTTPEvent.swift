/// What the thread that posts tells its owner. Values only.
package enum HTTPEvent: Equatable, Sendable {
    /// The server is there and takes messages.
    case reached
    /// Messages cannot be posted; the next attempt follows by itself after `retryIn`.
    case failed(HTTPFailure, retryIn: Duration)
    /// The server has the message.
    case taken(token: Int64)
    /// The server does not take this message, however often it is tried.
    case refused(token: Int64, status: Int)
}
