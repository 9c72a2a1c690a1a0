import Base

/// The broker of an address such as `mqtts://user:password@broker.lan:8883`.
struct RoomAssistantBroker: Equatable {
    var host: String
    var port: UInt16
    var usesTLS: Bool
    var username: String?
    var password: Secret?

    /// nil for anything else, such as MQTT over web sockets, which this program does not speak.
    init?(_ url: String) {
        guard let separator = url.firstIndex(ofPart: "://") else { return nil }
        switch url[..<separator].lowercased() {
        case "mqtt", "tcp": usesTLS = false
        case "mqtts", "tls", "ssl": usesTLS = true
        default: return nil
        }
        var place = url[separator...].dropFirst(3).prefix { !"/?#".contains($0) }
        if let at = place.lastIndex(of: "@") {
            let login = place[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(login[0]) else { return nil }
            username = name.isEmpty ? nil : name
            if login.count == 2 {
                guard let text = Self.decoded(login[1]) else { return nil }
                password = text.isEmpty ? nil : Secret(text)
            }
            place = place[place.index(after: at)...]
        }
        var (name, number) = (place, Substring())
        if place.first == "[" {
            guard let end = place.firstIndex(of: "]") else { return nil }
            name = place[place.index(after: place.startIndex)..<end]
            number = place[place.index(after: end)...]
        } else if let colon = place.lastIndex(of: ":") {
            name = place[..<colon]
            number = place[colon...]
        }
        guard !name.isEmpty, number.isEmpty || number.first == ":", !name.contains(where: \.isWhitespace) else {
            return nil
        }
        let standard: UInt16 = usesTLS ? 8883 : 1883
        guard let port = number.count < 2 ? standard : UInt16(number.dropFirst()), port > 0 else { return nil }
        host = String(name)
        self.port = port
    }

    /// The address without its login.
    var address: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    /// Replaces `%41` by its byte.
    private static func decoded(_ text: Substring) -> String? {
        percentDecoded(text.utf8).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
