extension AdapterName {
    /// `hciN`, or an address such as `00:11:22:33:44:55`.
    package init?(_ text: String) {
        if text.hasPrefix("hci"), let index = UInt16(text.dropFirst(3)), !text.dropFirst(3).hasPrefix("+") {
            self = .index(index)
            return
        }
        let octets = text.split(separator: ":", omittingEmptySubsequences: false)
        guard octets.count == 6, octets.allSatisfy({ $0.utf8.count == 2 && $0.allSatisfy(\.isHexDigit) }) else {
            return nil
        }
        guard let value = UInt64(octets.joined(), radix: 16) else { return nil }
        self = .address(value)
    }
}

extension AdapterName: CustomStringConvertible {
    package var description: String {
        switch self {
        case .index(let index): return "hci\(index)"
        case .address(let value):
            let octets = (0..<6).map { String(value >> UInt64(40 - 8 * $0) & 0xff, radix: 16, uppercase: true) }
            return octets.map { $0.count == 1 ? "0\($0)" : $0 }.joined(separator: ":")
        }
    }
}

extension ListenAddress {
    /// `host:port` or `[IPv6]:port`.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let portText = text[text.index(after: colon)...]
        guard portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(portText) else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty, !host.contains(where: { $0 == "/" || $0 == "[" || $0 == "]" || $0.isWhitespace }) else {
            return nil
        }
        self.init(host: String(host), port: port)
    }
}

extension ListenAddress {
    /// Whether the host is an address, `localhost` or `*`. A server does not look names up, because the answer could be
    /// any address.
    var isInFigures: Bool {
        if host.contains(":") { return host.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." } }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        return ["localhost", "*"].contains(host) || (octets.count == 4 && octets.allSatisfy { UInt8($0) != nil })
    }
}

extension ListenAddress: CustomStringConvertible {
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
