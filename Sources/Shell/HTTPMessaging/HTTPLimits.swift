import Base

/// Limits of a request and its answer.
package struct HTTPLimits: Sendable {
    /// Time for the connection, including the name look-up and TLS.
    package var connecting: Duration = .seconds(10)
    /// Time for the whole answer.
    package var request: Duration = .seconds(30)
    /// Time for the answer to the empty message. A server that stays silent then is tried with the first real message.
    package var greeting: Duration = .seconds(10)
    /// Bytes of an answer's body. Further bytes are not read.
    package var answer = 256 << 10
    /// Messages that wait to be posted.
    package var queue = 256
    /// The first delay between attempts; the next ones double it.
    package var firstRetryDelay = Backoff.first
    /// The least time between an answer with commands and the next request. With a server that sends a command in every
    /// answer, results and commands would otherwise alternate as fast as the network allows.
    package var pause: Duration = .seconds(1)

    package init() {}
}
