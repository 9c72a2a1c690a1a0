import Base

/// Why messages cannot be posted, in a form that a status page can show and a user can act on. None is fatal.
package enum HTTPFailure: Error, Equatable, Sendable {
    /// libcurl is not installed.
    case libraryMissing
    /// libcurl lacks a function.
    case libraryTooOld
    /// The settings cannot be used; with libcurl's error text.
    case settings(String)
    case nameNotResolved(String)
    /// TCP could not connect; with libcurl's error text.
    case unreachable(String)
    /// The certificate of the server or the gateway was not accepted; with libcurl's error text.
    case tls(String)
    /// No answer came in time.
    case silent
    /// The connection broke, or the other side does not speak HTTP; with libcurl's error text.
    case broken(String)
    /// The status of an unsuccessful answer.
    case status(Int)
    /// A successful answer with a web page, so that nobody has the message.
    case page
}

extension HTTPFailure {
    /// Whether the message may be the reason: the server was reached, and did not accept what it was sent.
    var isAboutMessage: Bool {
        switch self {
        case .status, .page, .broken, .silent: true
        case .libraryMissing, .libraryTooOld, .settings, .nameNotResolved, .unreachable, .tls: false
        }
    }

    /// Whether a server that accepts messages may answer the empty message like this: it has an internal error, closes the
    /// connection, says nothing, or shows its start page. Other statuses concern the address or the login.
    package var isAboutEmptyMessage: Bool {
        switch self {
        case .status(let status): (500...599).contains(status)
        case .page, .broken, .silent: true
        case .libraryMissing, .libraryTooOld, .settings, .nameNotResolved, .unreachable, .tls: false
        }
    }
}

extension HTTPFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .libraryMissing: "libcurl is not installed, and messages over HTTP need it"
        case .libraryTooOld: "libcurl is older than 7.66"
        case .settings(let why): why
        case .nameNotResolved(let why): "the server's name cannot be resolved: \(why)"
        case .unreachable(let why): "the server cannot be reached: \(why)"
        case .tls(let why): "TLS failed: \(why)"
        case .silent: "the server does not answer in time"
        case .broken(let why): "the server's answer cannot be read: \(why)"
        case .status(let status): "the server answers \(status)\(Self.meaning(of: status))"
        case .page: "the server answers with a web page, so no OwnTracks server has the message"
        }
    }

    private static func meaning(of status: Int) -> String {
        switch status {
        case 300...399: " (it is at another address)"
        case 401: " (wrong user name or password)"
        case 403: " (no right to post there)"
        case 404, 410: " (there is nothing at this address)"
        case 405: " (nothing can be posted at this address)"
        case 407: " (a proxy requires a login)"
        case 429: " (messages come too fast)"
        case 503: " (it is overloaded or being maintained)"
        case 500...599: " (it has an internal error)"
        default: ""
        }
    }

    /// What the user can do about it.
    ///
    /// - Parameter settings: The settings of the failed attempt.
    package func remedy(_ settings: HTTPSettings) -> String {
        switch self {
        case .libraryMissing, .libraryTooOld:
            return "install it: sudo apt install libcurl4 (since Debian 13 it is called libcurl4t64)"
        case .settings: return "change that setting"
        case .nameNotResolved: return "check \"url\"; names in .local need the package libnss-mdns"
        case .unreachable: return "check that the server runs at that port, and that no firewall blocks it"
        case .tls(let why) where why.hasPart("expired"):
            return "renew the server's certificate; if it has not expired, set this machine's clock"
        case .tls where settings.caFile == nil:
            return "if the server has a certificate of its own authority, give that authority as \"caFile\"; "
                + "\"url\" must have the name in the certificate; and the clock must be right"
        case .tls:
            return "check \"caFile\" and that \"url\" has the name in the certificate; the clock must be right"
        case .silent: return "look at the server's machine and its log"
        case .broken: return "is this the right port, and does \"url\" begin with https: if the server has TLS?"
        case .status(401) where settings.password == nil, .status(403) where settings.password == nil:
            return "if this server requires a login, set \"username\" and \"passwordFile\""
        case .status(401), .status(403): return "check \"username\" and the password"
        case .status(300...399):
            return "set \"url\" to the final address: another one is not followed, as the login would go with it"
        case .status(404), .status(405), .status(410), .status(421):
            return "check \"url\"; that of an OwnTracks Recorder ends in /pub"
        case .status: return "look at the server's log"
        case .page:
            return
                "check \"url\": that of an OwnTracks Recorder ends in /pub; or a login page of the network answers instead"
        }
    }
}
