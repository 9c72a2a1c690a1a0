package import Base
package import Configuration

/// The token of the link that opens a service's page: `status --link` asks for it at the socket, and the page exchanges it
/// once for its session. Both entrances of a service share one.
///
/// It is in memory alone, so it ends with the process. A newer link replaces the older one.
package final class OneTimeLink {
    /// Time for which a link may be used.
    package static let life: Duration = .seconds(600)

    /// Where the page listens; nil: nothing is served there that could exchange a link.
    package var page: ListenAddress?
    /// Why nothing is served there although a page is wanted, and what to do; nil: it is served, or none is wanted.
    package var obstacle: (text: String, remedy: String)?
    private var issued: (token: [UInt8], until: MonotonicInstant)?

    package init() {}

    /// Makes the token of a new link: 128 bits of the kernel's generator, as 32 hexadecimal digits.
    package func issue(at now: MonotonicInstant) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let token = (0..<32).map { _ in digits[Int.random(in: 0..<16)] }
        issued = (token, now.advanced(by: Self.life))
        return String(decoding: token, as: UTF8.self)
    }

    /// Whether this is the token of the newest link, for the first time and in time.
    package func exchange(_ candidate: some Collection<UInt8>, at now: MonotonicInstant) -> Bool {
        guard let link = issued, now < link.until else {
            issued = nil
            return false
        }
        guard RequestGuard.isEqualInConstantTime(link.token, Array(candidate)) else { return false }
        issued = nil
        return true
    }
}
