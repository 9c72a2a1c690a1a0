import Base
package import Configuration

/// Where messages are posted, and how.
package struct HTTPSettings: Sendable {
    /// Begins with `http://` or `https://` and holds no login.
    package var url: String
    /// The login for basic authentication; nil: none is sent.
    package var username: String?
    package var password: Secret?
    /// PEM file; nil: the system's certificates.
    package var caFile: String?
    /// PEM files, both or none.
    package var clientCertificateFile: String?
    package var clientKeyFile: String?
    /// What the requests call the program.
    package var userAgent = "ibeacon-gateway"
    package var limits = HTTPLimits()

    package init(url: String) { self.url = url }
}

/// What a request and its answer may cost.
package struct HTTPLimits: Sendable {
    /// Until there is a connection, the name look-up and TLS included.
    package var connecting: Duration = .seconds(10)
    /// Until the answer has come whole.
    package var request: Duration = .seconds(30)
    /// Bytes of an answer's body. What exceeds it is not read.
    package var answer = 256 << 10
    /// Messages that wait to be posted.
    package var queue = 256
    /// The first delay between attempts; the next ones double it.
    package var firstRetryDelay = Backoff.first
    /// The least time between an answer with commands and the next request. A server that puts a command into every
    /// answer would otherwise be told the result, and answer that, as fast as the network allows.
    package var pause: Duration = .seconds(1)

    package init() {}
}

/// In whose name a message is posted.
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
    /// The owner's own number for it.
    package var token: Int64
    package var body: [UInt8]
    package var sender: HTTPSender

    package init(token: Int64, body: [UInt8], sender: HTTPSender) {
        self.token = token
        self.body = body
        self.sender = sender
    }
}

/// What a server answers to a request.
package struct HTTPAnswer: Sendable {
    package var status: Int
    /// Empty if it was larger than the limit.
    package var body: [UInt8] = []
    /// The body was larger than the limit, by the bytes that had come when reading was given up; nil: it was not.
    package var excess: Int?

    /// The server has the message.
    package var isSuccess: Bool { (200...299).contains(status) }

    /// The server does not take this message, however often it is tried. Other errors are about the login, about the
    /// address, or of the moment.
    package var isRefusal: Bool {
        (400...499).contains(status) && ![401, 403, 404, 405, 407, 408, 410, 421, 425, 429].contains(status)
    }

    /// Nothing takes messages at this address: it is wrong, or the server is set up wrong. Where the server takes other
    /// messages, it is this one that it does not take.
    package var isAboutAddress: Bool { [404, 405, 410, 421].contains(status) }
}
