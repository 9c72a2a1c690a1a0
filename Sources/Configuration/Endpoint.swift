package import Base

/// Where messages are posted over HTTP: an address as the apps of OwnTracks have it, `http[s]://[user[:password]@]host[:port]/path`.
package struct Endpoint: Hashable, Sendable {
    /// The address without its login.
    @ExactString package private(set) var url: String
    /// Scheme, host and port: what may be told to anyone. A path may be as good as a password.
    package let origin: String
    /// The login that stood in the address.
    package let login: Login?

    /// A user name, and maybe a password.
    package struct Login: Hashable, Sendable {
        @ExactString package private(set) var user: String
        package let password: Secret
    }

    private static let schemes = ["http://", "https://"]

    /// It begins with `https:`.
    package var isTLS: Bool { origin.hasPrefix("https:") }

    /// nil: it is no such address.
    package init?(_ text: String) {
        guard let scheme = Self.schemes.first(where: { text.lowercased().hasPrefix($0) }),
            !text.unicodeScalars.contains(where: Self.isForbidden)
        else { return nil }
        let rest = text.dropFirst(scheme.count)
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let authority = rest[..<end]
        let at = authority.lastIndex(of: "@")
        let place = at.map { authority[authority.index(after: $0)...] } ?? authority
        guard Self.isPlace(place) else { return nil }
        origin = scheme + place
        if let at {
            let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let user = Self.decoded(parts[0]), let password = Self.decoded(parts.count > 1 ? parts[1] : "") else {
                return nil
            }
            login = Login(user: user, password: Secret(password))
        } else {
            login = nil
        }
        url = origin + rest[end...].prefix { $0 != "#" }
    }

    /// How it is shown: without the secret in it.
    package var shown: String {
        guard let login, let scheme = Self.schemes.first(where: { url.hasPrefix($0) }) else { return url }
        return "\(scheme)\(login.user):\(login.password)@\(url.dropFirst(scheme.count))"
    }

    /// A host, maybe with a port.
    private static func isPlace(_ text: Substring) -> Bool {
        var host = text
        if let bracket = text.firstIndex(of: "]") {
            guard text.hasPrefix("[") else { return false }
            host = text[...bracket]
        } else if let colon = text.firstIndex(of: ":") {
            host = text[..<colon]
        }
        let rest = text[host.endIndex...]
        guard !host.isEmpty, host != "[]" else { return false }
        guard !rest.isEmpty else { return true }
        let port = rest.dropFirst()
        return rest.hasPrefix(":") && port.allSatisfy { ("0"..."9").contains($0) } && UInt16(port) ?? 0 > 0
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar.properties.generalCategory == .control
            || ["\\", "\"", "<", ">"].contains(scalar)
    }

    /// nil: a `%` without two digits, a NUL, or what is no text.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, digits.allSatisfy({ $0.isHexDigit }), let value = UInt8(digits, radix: 16),
                value != 0
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension Broker {
    /// What may be told of where it is.
    package var name: String { endpoint?.origin ?? "\(host):\(port)" }

    /// The login over HTTP: the password beside the address goes before that in it. Without any password none is sent.
    package var login: Endpoint.Login? {
        if let password { return Endpoint.Login(user: username ?? "", password: password) }
        return endpoint?.login
    }
}
