import Base
import Beacon
package import Configuration
import OwnTracks

/// How the status page is served.
package struct StatusServerSettings: Sendable {
    package var address: ListenAddress
    /// What a client must know to change things, and to see anything if `address` is not loopback.
    /// nil: nothing can be changed. At least 16 characters that may stand in a cookie.
    package var token: String?
    /// The names by which browsers may call this machine, besides addresses in figures and `localhost`.
    /// Any other is refused: a page from elsewhere could give its own name our address (DNS rebinding).
    package var hostNames: [String]
    /// What the cookie with the token is called. Browsers tell ports of one machine not apart, so each page has its own.
    package var cookieName = "ibeacon_gateway"
    /// Open connections, event streams among them.
    package var connectionLimit = 512
    /// Open event streams.
    package var streamLimit = 256
    /// A connection that has not sent a whole request, or has not taken a whole answer, in this time is
    /// dropped, however busily it trickles.
    package var patience: Duration = .seconds(15)

    package init(address: ListenAddress, token: String?, hostNames: [String] = []) {
        self.address = address
        self.token = token
        self.hostNames = hostNames
    }

    /// The shortest token that is taken.
    package static let shortestToken = 16
}

/// What became of those who asked, since the start.
package struct ClientCounters: Hashable, Sendable {
    /// Status pages that are open now.
    package var streams = 0
    /// Too slow, in sending or in reading.
    package var dropped: UInt64 = 0
    /// Status pages beyond `streamLimit`.
    package var streamsRefused: UInt64 = 0
    /// How often `connectionLimit` was reached.
    package var timesFull: UInt64 = 0

    package init(streams: Int = 0, dropped: UInt64 = 0) {
        self.streams = streams
        self.dropped = dropped
    }
}

/// Why the status page cannot be served.
package enum StatusServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Others on the network could see who is at home, and change it.
    case needsToken(address: String)
    case unusableToken
    /// A name where only an address in figures will do.
    case notAnAddress(String)
    case listen(address: String, errno: CInt)
    /// The HTTP library would not start.
    case library

    package var description: String {
        switch self {
        case .needsToken(let address):
            "the status page would listen on \(address), beyond this machine, without a token; "
                + "set a token, or listen on 127.0.0.1"
        case .unusableToken:
            "the status page's token is not usable; it must be \(StatusServerSettings.shortestToken) to 256 "
                + "letters, digits, '-', '.', '_' or '~'"
        case .notAnAddress(let host):
            "the status page cannot listen on '\(host)'; write an address in figures, such as 127.0.0.1 or 0.0.0.0"
        case .listen(let address, let number):
            "the status page cannot listen on \(address): \(errorText(number))"
        case .library:
            "the HTTP library could not be started"
        }
    }
}
