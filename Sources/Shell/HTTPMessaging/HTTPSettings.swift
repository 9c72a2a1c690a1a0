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
