/// The answer of a server to a request.
package struct HTTPAnswer: Sendable {
    package var status: Int
    /// Empty if it was larger than the limit.
    package var body: [UInt8] = []
    /// Received bytes when reading was given up because the body exceeded the limit; nil: it did not.
    package var excess: Int?
    /// The body is a web page or other markup: it begins with `<`, after blanks and a byte order mark. An OwnTracks server
    /// answers JSON or nothing. A router's login page, a proxy or the start page of a server answers 200 with a page, and
    /// nobody has the message. The type in the header does not count: many servers answer `[]` as `text/html`.
    package var isPage = false

    /// What the header says of the time until the next request; nil: nothing.
    package var retryAfter: Duration?

    /// How long the server asks for no further request: it is overloaded or in maintenance, or messages come too fast.
    package var askedPause: Duration? { [429, 503].contains(status) ? retryAfter : nil }

    /// The server has the message.
    package var isSuccess: Bool { (200...299).contains(status) && !isPage }

    /// The server will never accept this message. Other errors concern the login or the address, or are temporary.
    package var isRefusal: Bool {
        (400...499).contains(status) && ![401, 403, 404, 405, 407, 408, 410, 421, 425, 429].contains(status)
    }

    /// The server says that the body of this message is too large or cannot be understood.
    package var isAboutBody: Bool { [413, 415, 422].contains(status) }

    /// The server accepts no messages at this address: the address or the configuration of the server is wrong. If the
    /// server accepts other messages there, only this one is refused.
    package var isAboutAddress: Bool { [404, 405, 410, 421].contains(status) }

    /// Why the answer is no success.
    package var failure: HTTPFailure { (200...299).contains(status) ? .page : .status(status) }
}
