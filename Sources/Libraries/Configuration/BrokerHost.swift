import Base

/// A broker's name or address as people write it: with a scheme, a port, brackets, or blanks around it.
package struct BrokerHost: Equatable {
    package let name: String
    /// 1 ... 65535; nil: none is in it.
    package let port: Int?
    /// What the scheme says; nil without one.
    package let tls: Bool?

    /// Why a text is no host.
    package struct Problem: Error, Equatable {
        package let reason: String
    }

    private static let schemes: [String: Bool] = [
        "mqtt": false, "tcp": false, "mqtts": true, "ssl": true, "tls": true, "secure-mqtt": true,
    ]

    package init(_ text: String) throws(Problem) {
        var rest = Substring(text).trimmed
        var tls: Bool?
        if let end = rest.firstIndex(ofPart: "://") {
            let scheme = rest[..<end].lowercased()
            switch scheme {
            case "ws", "wss":
                throw Problem(reason: "WebSockets are not spoken; write the broker's name, and the port for MQTT")
            case "http", "https":
                throw Problem(reason: "this is an address for HTTP; write the broker's name, or set mode 3 and url")
            default:
                tls = Self.schemes[scheme]
                guard tls != nil else {
                    throw Problem(reason: "'\(scheme.prefix(20))://' is not known; write the broker's name alone")
                }
            }
            rest = rest[end...].dropFirst(3)
        }
        if rest.contains("@") {
            throw Problem(reason: "a login does not belong here; write it as username and password")
        }
        if rest.hasSuffix("/") { rest.removeLast() }
        guard !rest.contains("/") else {
            throw Problem(reason: "there is a path behind the name; write the broker's name alone")
        }
        self.tls = tls
        (name, port) = try Self.place(rest)
        guard !name.isEmpty else { throw Problem(reason: "there is no name in it; write the broker's name or address") }
        guard !name.contains(where: { $0.isWhitespace || $0 == "\0" }) else {
            throw Problem(reason: "there is a blank in the name")
        }
    }

    /// `name`, `name:port`, an IPv6 address with or without brackets, or with brackets and a port.
    private static func place(_ text: Substring) throws(Problem) -> (name: String, port: Int?) {
        var (name, digits): (Substring, Substring?) = (text, nil)
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { throw Problem(reason: "the bracket is not closed") }
            name = text[text.index(after: text.startIndex)..<end]
            let behind = text[text.index(after: end)...]
            guard behind.isEmpty || behind.hasPrefix(":") else {
                throw Problem(reason: "there is '\(behind.prefix(20))' behind the bracket")
            }
            if !behind.isEmpty { digits = behind.dropFirst() }
        } else if let colon = text.firstIndex(of: ":"), text.lastIndex(of: ":") == colon {
            (name, digits) = (text[..<colon], text[text.index(after: colon)...])
        }
        guard let digits else { return (String(name), nil) }
        guard let port = UInt16(digits), port > 0 else {
            throw Problem(reason: "'\(digits.prefix(20))' is not a port; write 1 to 65535")
        }
        return (String(name), Int(port))
    }
}
