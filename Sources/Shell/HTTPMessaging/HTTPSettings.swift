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
package struct HTTPPost: Sendable {
    /// The owner's number of the message.
    package var token: Int64
    package var body: [UInt8]
    package var sender: HTTPSender

    package init(token: Int64, body: [UInt8], sender: HTTPSender) {
        self.token = token
        self.body = body
        self.sender = sender
    }
}

/// The answer of a server to a request.
package struct HTTPAnswer: Sendable {
    package var status: Int
    /// Empty if it was larger than the limit.
    package var body: [UInt8] = []
    /// Received bytes when reading was given up because the body exceeded the limit; nil: it did not.
    package var excess: Int?

    /// The server has the message.
    package var isSuccess: Bool { (200...299).contains(status) }

    /// The server will never accept this message. Other errors concern the login or the address, or are temporary.
    package var isRefusal: Bool {
        (400...499).contains(status) && ![401, 403, 404, 405, 407, 408, 410, 421, 425, 429].contains(status)
    }

    /// The server says that the body of this message is too large or cannot be understood.
    package var isAboutBody: Bool { [413, 415, 422].contains(status) }

    /// The server accepts no messages at this address: the address or the configuration of the server is wrong. If the
    /// server accepts other messages there, only this one is refused.
    package var isAboutAddress: Bool { [404, 405, 410, 421].contains(status) }
}
