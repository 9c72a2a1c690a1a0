import Glibc

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

    /// What a person can do while it is tried again.
    package var remedy: String {
        switch self {
        case .listen(let address, EADDRINUSE):
            "another program listens there: sudo ss -ltnp 'sport = :\(address.split(separator: ":").last ?? "")' names it; end that, or "
                + "give the page another port (listen) and restart the service; the service tries again by itself"
        case .listen(_, EADDRNOTAVAIL):
            "this machine does not have that address, or not yet; write one that it has, or * for all (listen), and restart the "
                + "service; the service tries again by itself"
        case .listen: "the service tries again by itself; see http in the configuration"
        case .needsToken, .unusableToken, .notAnAddress, .socket, .library:
            "correct http in the configuration, and restart the service"
        }
    }
}
