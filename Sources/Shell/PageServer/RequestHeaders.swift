import Glibc

/// The headers that decide whether a request is allowed, and who sent them.
struct RequestHeaders: Hashable, Sendable {
    var host: String?
    var origin: String?
    /// `Sec-Fetch-Site`: the browser's statement about the origin of the request.
    var fetchSite: String?
    var authorization: String?
    var cookie: String?
    var contentType: String?
    /// nil if missing or not a number.
    var contentLength: UInt64?
    /// The user at the other end of a Unix socket; nil if the request came through a port.
    var user: uid_t?
}
