import Base
import System

/// The wireless network of a card.
struct CardWiFi {
    let name: String
    let password: Secret
    /// Two capital letters (ISO 3166-1). Without it the radio stays off.
    let country: String

    init(name: String, password: Secret, country: String) throws(Failure) {
        guard (1...32).contains(name.utf8.count) else {
            throw Failure(.usage, "the name of a wireless network has 1 to 32 bytes; --wifi has \(name.utf8.count)")
        }
        let count = password.byteCount
        let isKey = count == 64 && password.revealed.utf8.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
        guard (8...63).contains(count) || isKey else {
            throw Failure(.badData, "the password of a wireless network has 8 to 63 characters, and this one \(count)")
        }
        guard country.utf8.count == 2, country.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
        else {
            throw Failure(.usage, "--country takes the two capital letters of your country, such as DE")
        }
        (self.name, self.password, self.country) = (name, password, country)
    }

    /// The file `network-config` (netplan, version 2). A cable is used, too.
    var configuration: CloudText {
        .map([
            (
                "network",
                .map([
                    ("version", .number(2)),
                    (
                        "ethernets",
                        .map([("eth0", .map([("dhcp4", .flag(true)), ("optional", .flag(true))]))])
                    ),
                    ("wifis", .map([("wlan0", wireless)])),
                ])
            )
        ])
    }

    private var wireless: CloudText {
        let point: CloudText = .map([("password", .text(password.revealed))])
        return .map([
            ("dhcp4", .flag(true)), ("optional", .flag(true)), ("regulatory-domain", .text(country)),
            ("access-points", .map([(name, point)])),
        ])
    }
}
