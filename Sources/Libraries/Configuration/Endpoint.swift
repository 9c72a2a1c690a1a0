package import Base

/// Where messages are posted over HTTP: an address in the form of OwnTracks' apps,
/// `http[s]://[user[:password]@]host[:port]/path`.
///
/// A class, because settings are copied everywhere and few have an address.
package final class Endpoint: Sendable {
    /// The address without its login.
    package let url: String
    /// Scheme, host and port, which are not secret. A path may be as secret as a password.
    package let origin: String
    /// The login in the address.
    package let login: Login?

    /// A user name, and a password, which may be empty.
    package struct Login: Sendable {
        package let user: String
        package let password: Secret
    }

    private static let schemes = ["http://", "https://"]

    /// Whether the address begins with `https:`.
    package var isTLS: Bool { origin.hasPrefix("https:") }

    /// nil if the text is not such an address.
    package init?(_ text: String) {
        guard let scheme = Self.schemes.first(where: { text.lowercased().hasPrefix($0) }),
            !text.unicodeScalars.contains(where: Self.isForbidden)
        else { return nil }
        let bytes = text.utf8.dropFirst(scheme.utf8.count)
        let end = bytes.firstIndex { [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
        let authority = bytes[..<(end ?? bytes.endIndex)]
        let at = authority.lastIndex(of: UInt8(ascii: "@"))
        let place = [UInt8](authority[(at.map { authority.index(after: $0) } ?? authority.startIndex)...])
        guard Self.isPlace(place) else { return nil }
        origin = scheme + String(decoding: place, as: UTF8.self)
        if let at {
            let words = authority[..<at]
            let colon = words.firstIndex(of: UInt8(ascii: ":"))
            let password = colon.map { words[words.index(after: $0)...] }.map([UInt8].init) ?? []
            guard let user = Self.decoded([UInt8](words[..<(colon ?? words.endIndex)])),
                let secret = Self.decoded(password)
            else { return nil }
            login = Login(user: user, password: Secret(secret))
        } else {
            login = nil
        }
        // A fragment is not sent.
        let rest = (end.map { bytes[$0...] } ?? bytes[bytes.endIndex...]).prefix { $0 != UInt8(ascii: "#") }
        url = origin + String(decoding: [UInt8](rest), as: UTF8.self)
    }

    /// The address with its password masked.
    package var shown: String {
        guard let login else { return url }
        let scheme = Self.schemes[isTLS ? 1 : 0]
        return "\(scheme)\(login.user):\(login.password)@\(url.dropFirst(scheme.count))"
    }

    /// Whether the text is a host, with or without a port.
    private static func isPlace(_ text: [UInt8]) -> Bool {
        // The colons of an IPv6 address are in brackets.
        let bracket = text.firstIndex(of: UInt8(ascii: "]"))
        guard bracket == nil || text[0] == UInt8(ascii: "["), bracket != 1 else { return false }
        let rest = text[(bracket ?? 0)...]
        guard let colon = rest.firstIndex(of: UInt8(ascii: ":")) else {
            return !text.isEmpty && (bracket == nil || bracket == text.count - 1)
        }
        guard colon > 0, bracket == nil || bracket == colon - 1 else { return false }
        var port = 0
        for byte in text[(colon + 1)...] {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), port < 65_536 else { return false }
            port = port * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return (1...65_535).contains(port)
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar.properties.generalCategory == .control
            || ["\\", "\"", "<", ">"].contains(scalar)
    }

    /// nil if there is a `%` without two digits, a NUL, or invalid UTF-8.
    private static func decoded(_ text: [UInt8]) -> String? {
        guard let bytes = percentDecoded(text), !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension Endpoint: Hashable {
    package static func == (lhs: Endpoint, rhs: Endpoint) -> Bool {
        lhs.url.hasSameBytes(as: rhs.url) && lhs.login?.password == rhs.login?.password
            && (lhs.login?.user ?? "").hasSameBytes(as: rhs.login?.user ?? "")
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(ExactString(url)) }
}
