package import Configuration
package import System

/// The settings of the status page's server.
package struct StatusServerSettings: Sendable {
    /// Where clients connect.
    package enum Entrance: Hashable, Sendable {
        /// A TCP port, for browsers and scrapers.
        case port(ListenAddress)
        /// A Unix socket, for the commands of this machine. Root and the user of this process may do everything; other
        /// users may read if `isReadingOpen`.
        case socket(LocalSocket, isReadingOpen: Bool)
    }

    package var entrance: Entrance
    /// The secret that a client of a port needs for changes, and also for reading if the address is not loopback. At
    /// least 16 characters that a cookie allows. If it is nil, nothing can be changed there.
    package var token: String?
    /// The names of this machine that a request may use, besides numeric addresses and `localhost`. Any other name is
    /// refused, because the page of an attacker could point its own name to this address (DNS rebinding).
    package var hostNames: [String]
    /// The name of the cookie with the token. Browsers send a cookie to all ports of a machine, so each page has its
    /// own name.
    package var cookieName = "ibeacon_gateway"
    /// Largest number of open connections, including event streams.
    package var connectionLimit = 512
    /// Largest number of open event streams.
    package var streamLimit = 256
    /// A connection that has not sent a whole request or received a whole answer within this time is dropped, even if
    /// single bytes still arrive.
    package var patience: Duration = .seconds(15)

    package init(address: ListenAddress, token: String?, hostNames: [String] = []) {
        entrance = .port(address)
        self.token = token
        self.hostNames = hostNames
    }

    /// The settings for the commands of this machine.
    package init(socket: LocalSocket, isReadingOpen: Bool) {
        entrance = .socket(socket, isReadingOpen: isReadingOpen)
        hostNames = []
        (connectionLimit, streamLimit) = (32, 4)
    }

    /// Length of the shortest accepted token, characters.
    package static let shortestToken = 16
}

/// Counters of a page's clients since the start.
package struct ClientCounters: Hashable, Sendable {
    /// Number of event streams that are open now.
    package var streams = 0
    /// Connections dropped because the client sent or read too slowly.
    package var dropped: UInt64 = 0
    /// Event streams refused because of `streamLimit`.
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
    /// Without a token, other machines on the network could read and change the state of the home.
    case needsToken(address: String)
    case unusableToken
    /// The address must be numeric, but is a name.
    case notAnAddress(String)
    case listen(address: String, errno: CInt)
    /// The socket for commands cannot be opened.
    case socket(path: String, errno: CInt)
    /// The HTTP library could not start.
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
        case .socket(let path, let number):
            "commands cannot ask this service, because \(path) cannot be opened: \(errorText(number))"
        case .library:
            "the HTTP library could not be started"
        }
    }
}
