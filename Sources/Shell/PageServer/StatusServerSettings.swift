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
