package import Base

/// The server and the way of posting.
package struct HTTPSettings: Sendable {
    /// Begins with `http://` or `https://` and contains no login.
    package var url: String
    /// The login for basic authentication; nil: none is sent.
    package var username: String?
    package var password: Secret?
    /// PEM file; nil: the system's certificates.
    package var caFile: String?
    /// PEM files, both or none.
    package var clientCertificateFile: String?
    package var clientKeyFile: String?
    /// The user agent of the requests.
    package var userAgent = "ibeacon-gateway"
    package var limits = HTTPLimits()

    package init(url: String) { self.url = url }
}

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

/// The identity that posts a message.
package struct HTTPSender: Equatable, Sendable {
    /// `X-Limit-U`
    package var user: String
    /// `X-Limit-D`
    package var device: String

    package init(user: String, device: String) {
        self.user = user
        self.device = device
    }
}

/// A message to post.
package struct HTTPPost: Equatable, Sendable {
    /// The owner's number of the message.
    package var token: Int64
    /// What the message is called in the log: its topic.
    package var name: String
    package var body: [UInt8]
    package var sender: HTTPSender

    package init(token: Int64, name: String = "", body: [UInt8], sender: HTTPSender) {
        self.name = name
        self.token = token
        self.body = body
        self.sender = sender
    }
}
