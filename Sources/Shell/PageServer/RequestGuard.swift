import Glibc

/// Decides which requests may read and which may change. It is a pure rule, so that it can be tested as a table.
struct RequestGuard: Sendable {
    enum Verdict: Hashable, Sendable {
        case allowed
        case refused(status: UInt32, reason: String)
    }

    let hostNames: Set<String>
    let token: [UInt8]?
    let isReadingOpen: Bool
    let cookieName: String
    /// Whether clients connect to a Unix socket, where the kernel says who they are.
    let isSocket: Bool
    /// The user of this process, who may do everything through a Unix socket, as may root.
    let owner: uid_t

    init(settings: StatusServerSettings, owner: uid_t = geteuid()) {
        self.owner = owner
        hostNames = Set((settings.hostNames + ["localhost"]).map { $0.lowercased() })
        token = settings.token.map { Array($0.utf8) }
        switch settings.entrance {
        case .port(let address): (isSocket, isReadingOpen) = (false, address.isLoopback)
        case .socket(_, let isOpen): (isSocket, isReadingOpen) = (true, isOpen)
        }
        cookieName = settings.cookieName
    }

    /// Whether the `Host` header names this machine. An attacker's page whose name was pointed to this address (DNS
    /// rebinding) still sends the attacker's name. Numeric addresses cannot be rebound.
    func accepts(host: String?) -> Bool {
        guard let host, let name = Self.hostName(in: host) else { return false }
        return isIPv4Address(name) || isIPv6Address(name) || hostNames.contains(name)
    }

    /// Whether the page itself, which contains no secret, may be loaded.
    func mayLoadPage(_ headers: RequestHeaders) -> Verdict {
        // No browser connects to a Unix socket.
        isSocket || accepts(host: headers.host)
            ? .allowed : .refused(status: 421, reason: "this machine does not have that name")
    }

    /// Whether the state may be read.
    func mayRead(_ headers: RequestHeaders) -> Verdict {
        guard case .allowed = mayLoadPage(headers) else { return mayLoadPage(headers) }
        // The request is from a page of another site, which could not read the answer but could measure it.
        if let site = headers.fetchSite, site == "cross-site" || site == "same-site" {
            return .refused(status: 403, reason: "requests from other sites are refused")
        }
        if isReadingOpen || isOwner(headers) || hasToken(headers) { return .allowed }
        guard !isSocket else { return .refused(status: 403, reason: Self.reasonForOthers) }
        return .refused(status: 401, reason: "a token is required")
    }

    /// Whether the request may change state. `needsToken` is false only for the request that submits the token.
    func mayChange(_ headers: RequestHeaders, needsToken: Bool = true) -> Verdict {
        guard case .allowed = mayLoadPage(headers) else { return mayLoadPage(headers) }
        if let site = headers.fetchSite, site != "same-origin" {
            return .refused(status: 403, reason: "changes from other sites are refused")
        }
        // Browsers always send the origin of a posted form. Other programs send none. Before a proxy with TLS, the browser
        // sees another scheme.
        let origins = ["http://", "https://"].map { $0 + (headers.host ?? "").lowercased() }
        if let origin = headers.origin, !origins.contains(origin.lowercased()) {
            return .refused(status: 403, reason: "changes from other sites are refused")
        }
        // A form cannot send JSON. For JSON from another site a browser sends a preflight request, which is refused.
        guard let type = headers.contentType?.lowercased(), type.hasPrefix("application/json") else {
            return .refused(status: 415, reason: "send application/json")
        }
        guard !isSocket else {
            return isOwner(headers) ? .allowed : .refused(status: 403, reason: Self.reasonForOthers)
        }
        guard needsToken else { return .allowed }
        guard token != nil else { return .refused(status: 403, reason: "no token is set, so nothing can be changed") }
        return hasToken(headers) ? .allowed : .refused(status: 401, reason: "a token is required")
    }

    private static let reasonForOthers = "only root and the service's own user may ask"

    private func isOwner(_ headers: RequestHeaders) -> Bool {
        guard isSocket, let user = headers.user else { return false }
        return user == 0 || user == owner
    }

    func isToken(_ candidate: some Collection<UInt8>) -> Bool {
        guard let token else { return false }
        return Self.isEqualInConstantTime(token, Array(candidate))
    }

    private func hasToken(_ headers: RequestHeaders) -> Bool {
        if let value = headers.authorization, value.lowercased().hasPrefix("bearer ") {
            return isToken(value.utf8.dropFirst(7))
        }
        return (headers.cookie ?? "").split(separator: ";").contains { part in
            let pair = part.drop { $0 == " " }
            guard pair.hasPrefix(cookieName + "=") else { return false }
            return isToken(pair.utf8.dropFirst(cookieName.utf8.count + 1))
        }
    }

    /// Whether the token is long enough and contains only characters that a cookie and a header allow.
    static func isUsable(token: String) -> Bool {
        guard (StatusServerSettings.shortestToken...256).contains(token.utf8.count) else { return false }
        return token.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                true
            default: false
            }
        }
    }

    /// Compares in a time that depends only on the candidate's length.
    static func isEqualInConstantTime(_ secret: [UInt8], _ candidate: [UInt8]) -> Bool {
        guard secret.count == candidate.count else { return false }
        var difference: UInt8 = 0
        for index in secret.indices { difference |= secret[index] ^ candidate[index] }
        return difference == 0
    }

    /// The name or address in a `Host` header, without port and brackets, in lower case.
    static func hostName(in header: String) -> String? {
        let text = header.lowercased()
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            return String(text[text.index(after: text.startIndex)..<end])
        }
        let name = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)[0]
        return name.isEmpty ? nil : String(name.hasSuffix(".") ? name.dropLast() : name)
    }
}
